"""Configurations from which an arm of Universal Robots finds the poses of this cell, its elbow up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from decider_node.motion.controller import ReactiveController
from handiwork_core.model.geometry import Array, Pose

LIFTS_RAD = (-1.57, -1.2, -2.0)
DOWN_Q = (0.0, -1.57, -1.57, -1.57, 1.57, 0.0)
"""Joint positions of an arm of Universal Robots with the tool down, its pan joint at 0, rad."""
JOINTS = 6


def pan_offset(tip: Callable[[Array], Pose]) -> float:
    """Return the angle from the pan joint to the direction of the tip while that points down, rad.

    Args:
        tip: Returns the pose of the tip in the frame of the base at joint positions, (6,), rad.
    """
    x, y, _ = tip(np.array(DOWN_Q)).translation_m
    return float(np.arctan2(y, x))


def seeds(world_T_tip: Pose, near: Array | None, offset_rad: float) -> list[Array]:
    """Return postures towards a pose, the last joint as in ``near``.

    Args:
        world_T_tip: Pose of the tip.
        near: Joint positions, (6,), rad, which come last; None: none.
        offset_rad: See ``pan_offset``.

    Returns:
        Joint positions, (6,) each, rad.
    """
    x, y, _ = world_T_tip.translation_m
    pan = float(np.arctan2(y, x) - offset_rad)
    outward = float(world_T_tip.rotation.matrix()[:2, 2] @ np.array([x, y]) / np.hypot(x, y))
    last = 0.0 if near is None else float(near[5])
    wrist = -0.5 * np.pi * (1.0 - outward)
    made = [np.array([pan, lift, -1.8, wrist, 0.5 * np.pi, last]) for lift in LIFTS_RAD]
    return made if near is None else [*made, near]


class CupSolver:
    """Finds configurations of an arm for poses of its cup's rim.

    Args:
        controller: Knows the arm.
        tcp_offset_m: Distance of the rim from the EE link along its z, m.
    """

    def __init__(self, controller: ReactiveController, tcp_offset_m: float) -> None:
        self._controller = controller
        self._ee_T_tip = Pose.of((0.0, 0.0, tcp_offset_m))
        self._tip_T_ee = self._ee_T_tip.inverse()
        self._offset_rad = pan_offset(self.tip)

    def tip(self, q: Array) -> Pose:
        """Return the pose of the rim in world.

        Args:
            q: Joint positions, (6,), rad.
        """
        return self._controller.tool_pose(q) @ self._ee_T_tip

    def configuration(self, world_T_tip: Pose, near: Array | None) -> Array | None:
        """Return a configuration for a pose of the rim.

        Args:
            world_T_tip: The pose.
            near: Joint positions to stay near, (6,), rad; None: any.

        Returns:
            Joint positions, (6,), rad; None when none was found.
        """
        found = seeds(world_T_tip, near, self._offset_rad)
        return self._controller.configuration(world_T_tip @ self._tip_T_ee, found)
