"""The rigid bodies that the joints of an arm move, from the URDF of the robot and what the arm holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from handiwork_core.contracts.planning import Attachment
from handiwork_core.dynamics.link_masses import link_masses
from handiwork_core.dynamics.mass_properties import MassProperties, combined
from handiwork_core.dynamics.payload import object_mass
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import WorldObject
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.kernels.arrays import SLIDES
from handiwork_planning.scene.robot_model import fold, joint_values

from .inverse_dynamics import ArmBodies

GRAVITY = 9.81
"""Acceleration of free fall, m/s^2."""


class ArmMasses:
    """An arm with the masses of its links, at fixed positions of other joints; no link follows joints of the arm.

    Args:
        robot: The robot.
        arm: The arm.
        joint_positions: Positions of other joints, rad or m; those that are not named are at home.
        world_T_root: Pose of the robot's root link.

    Attributes:
        gravity: Acceleration of free fall in the frame of the robot's root link, (3,), m/s^2.
    """

    def __init__(
        self, robot: Robot, arm: ArmSpec, joint_positions: Mapping[str, float], world_T_root: Pose
    ) -> None:
        others = {k: v for k, v in joint_positions.items() if k not in arm.joint_names}
        chain = fold(robot, arm, Pose.identity(), joint_values(robot, tuple(others.items())))
        count = len(arm.joint_names)
        self._chain = (
            chain.transforms[:count, :9].reshape(count, 3, 3),
            chain.transforms[:count, 9:].copy(),
            np.tile((0.0, 0.0, 1.0), (count, 1)),
            chain.joints[:count, SLIDES].copy(),
        )
        self._mounts = {link: mount for link, mount in chain.mounts.items() if 0 < mount.body <= count}
        masses = link_masses(robot.urdf)
        parts: list[list[MassProperties]] = [[] for _ in arm.joint_names]
        for link, mount in self._mounts.items():
            if link in masses:
                parts[mount.body - 1].append(masses[link].placed(Pose.from_matrix(mount.body_T_link)))
        self._whole = [combined(some) for some in parts]
        self.gravity: Array = world_T_root.rotation.matrix().T @ np.array([0.0, 0.0, -GRAVITY])
        self._own = self._bodies(self._whole)

    def bodies(self, held: Sequence[tuple[Attachment, WorldObject]] = ()) -> ArmBodies:
        """Return the bodies of the arm with objects that it holds.

        Args:
            held: The objects, each with the link that holds it.
        """
        carried = [(one, body) for one, body in held if body.mass_kg > 0.0 and one.link in self._mounts]
        if not carried:
            return self._own
        whole = list(self._whole)
        for one, body in carried:
            mount = self._mounts[one.link]
            load = object_mass(body, Pose.from_matrix(mount.body_T_link) @ one.link_T_object)
            whole[mount.body - 1] = combined((whole[mount.body - 1], load))
        return self._bodies(whole)

    def _bodies(self, whole: Sequence[MassProperties]) -> ArmBodies:
        return ArmBodies(
            *self._chain,
            np.array([body.mass_kg for body in whole]),
            np.array([body.centre for body in whole]),
            np.array([body.tensor() for body in whole]),
        )
