"""Joint states of the bridge, put into the order of the robot's description. No ROS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.control.joint_groups import Indices, JointArrays
from handiwork_core.isaac_wire import JOINT_STATES, BadWire
from handiwork_core.model.geometry import Array, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import Robot

Counts: TypeAlias = tuple[int, int, int]

WHAT = ("position", "velocity", "effort")

NONE: Array = frozen(())


def moving_joints(robot: Robot) -> tuple[str, ...]:
    """Return all joints that move, those that mimic too, in the robot's order.

    Args:
        robot: The robot.
    """
    return tuple(joint.name for joint in robot.joints.values() if joint.type is not JointKind.FIXED)


class JointOrder:
    """Reads messages one after the other. The index of each joint is looked up once.

    Args:
        wanted: Names of the joints in our order.
    """

    def __init__(self, wanted: Sequence[str]) -> None:
        self._wanted = tuple(wanted)
        self._known: tuple[Sequence[str], Counts] = ((), (0, 0, 0))
        self._places: Indices = np.zeros((2, 0), dtype=np.intp)
        """Indices of our joints' numbers: a row each for position, velocity and, if there is any, effort."""

    def read(self, names: Sequence[str], counts: Counts, numbers: Array, stamp_s: float) -> JointArrays:
        """Read a message.

        Args:
            names: Names of the joints. Their indices are looked up again only when this is another list object.
            counts: Numbers of positions, velocities and efforts.
            numbers: All of them, in this order; rad or m, rad/s or m/s, Nm or N.
            stamp_s: Time of the measurement, s.

        Returns:
            The measurement in our order; ``effort`` is empty when the message has none.

        Raises:
            BadWire: A joint is missing, an array has another length, or a number is not finite.
        """
        if names is not self._known[0] or counts != self._known[1]:
            self._places = self._learn(names, counts)
            self._known = names, counts
        if not np.isfinite(numbers).all():
            what, index = _place(counts, int(np.argmin(np.isfinite(numbers))))
            raise BadWire(
                f"{JOINT_STATES}: {what} of joint {names[index]!r} is not finite; the physics has blown up"
            )
        position, velocity, *effort = numbers[self._places]
        return JointArrays(stamp_s, position, velocity, effort[0] if effort else NONE)

    def unknown(self, names: Sequence[str]) -> list[str]:
        """Return the joints of the articulation that the robot's description lacks.

        Args:
            names: Joints of the articulation.
        """
        return [name for name in names if name not in self._wanted]

    def _learn(self, names: Sequence[str], counts: Counts) -> Indices:
        missing = [name for name in self._wanted if name not in names]
        if missing:
            raise BadWire(
                f"{JOINT_STATES}: joint {missing[0]!r} is not there; {nearest(missing[0], names)}; "
                "load the stage of the robot that this node was given"
            )
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise BadWire(f"{JOINT_STATES}: joint {twice!r} is there twice; give each prim its own name")
        for what, count in zip(WHAT, counts, strict=True):
            if count != len(names) and not (count == 0 and what == "effort"):
                raise BadWire(f"{JOINT_STATES}: {count} numbers of {what} for {len(names)} joints")
        rows = np.arange(sum(counts)).reshape(-1, len(names))
        found: Indices = rows[:, [names.index(name) for name in self._wanted]]
        return found


def _place(counts: Counts, at: int) -> tuple[str, int]:
    """Return the quantity and the joint of a number."""
    row, index = divmod(at, counts[0])
    return WHAT[row], index
