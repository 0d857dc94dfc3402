"""Joint states as the bridge sends them, put into the order of the robot's description. No ROS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from handiwork_core.config import nearest
from handiwork_core.control.axes import Indices, JointArrays
from handiwork_core.geometry import Array
from handiwork_core.isaac_wire import JOINT_STATES, BadWire
from handiwork_core.robot import JointType, Robot


def moving_joints(robot: Robot) -> tuple[str, ...]:
    """All joints that move, mimicking ones too, in the robot's order."""
    return tuple(joint.name for joint in robot.joints.values() if joint.type is not JointType.FIXED)


class JointOrder:
    """Reads one message after the other; where each joint stands is looked up once.

    Args:
        wanted: the joints in our order.
    """

    def __init__(self, wanted: Sequence[str]) -> None:
        self._wanted = tuple(wanted)
        self._names: list[str] = []
        self._indices: Indices = np.zeros(0, dtype=np.intp)

    def read(
        self,
        names: list[str],
        position: ArrayLike,
        velocity: ArrayLike,
        effort: ArrayLike,
        stamp_s: float,
    ) -> JointArrays:
        """In our order; ``effort`` is empty where the message has none.

        Raises:
            BadWire: a joint is missing, an array has another length, or a number is not finite.
        """
        if names != self._names:
            self._learn(names)
        arrays = [np.asarray(each, dtype=np.float64) for each in (position, velocity, effort)]
        for what, values in zip(("position", "velocity", "effort"), arrays, strict=True):
            self._check(what, values)
        q, qd, force = arrays
        return JointArrays(stamp_s, q[self._indices], qd[self._indices], self._effort(force))

    def unknown(self, names: Sequence[str]) -> list[str]:
        """Joints of the articulation that the robot's description lacks."""
        return [name for name in names if name not in self._wanted]

    def _learn(self, names: list[str]) -> None:
        missing = [name for name in self._wanted if name not in names]
        if missing:
            raise BadWire(
                f"{JOINT_STATES}: joint {missing[0]!r} is not there; {nearest(missing[0], names)}; "
                "load the stage of the robot that this node was given"
            )
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise BadWire(f"{JOINT_STATES}: joint {twice!r} stands twice; give prims names of their own")
        self._names = list(names)
        self._indices = np.array([names.index(name) for name in self._wanted], dtype=np.intp)

    def _check(self, what: str, values: Array) -> None:
        if len(values) == 0 and what == "effort":
            return
        if len(values) != len(self._names):
            raise BadWire(f"{JOINT_STATES}: {len(values)} numbers of {what} for {len(self._names)} joints")
        if not np.isfinite(values).all():
            name = self._names[int(np.argmin(np.isfinite(values)))]
            raise BadWire(f"{JOINT_STATES}: {what} of joint {name!r} is not finite; the physics has blown up")

    def _effort(self, values: Array) -> Array:
        return values[self._indices] if len(values) else values
