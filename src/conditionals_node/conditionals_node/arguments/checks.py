"""The arguments that predicates take from the robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.contracts.predicate import Predicate
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot

ANY_GRIPPER = "gripper"
"""The name that means every gripper of the robot."""


@runtime_checkable
class NeedsRobot(Protocol):
    """A predicate with arguments that the robot fills in when they are left out."""

    def for_robot(self, robot: Robot) -> Predicate:
        """Return the same predicate with the arguments filled that were left out.

        Args:
            robot: The robot's description.

        Returns:
            A new predicate, or this one when nothing is to be filled.

        Raises:
            ValueError: The robot cannot fill them; the message begins with the argument's name.
        """
        ...


def grippers(robot: Robot, gripper_name: str) -> list[tuple[ArmSpec, GripperSpec]]:
    """Return the grippers that a name means, each with its arm.

    Args:
        robot: The robot's description.
        gripper_name: Name of a gripper or of an arm; "gripper" means all grippers.

    Returns:
        Pairs of arm and gripper; empty for "gripper" and a robot without grippers.

    Raises:
        ValueError: The robot has none of this name.
    """
    known = [(arm, arm.gripper) for arm in robot.arms.values() if arm.gripper is not None]
    found = [(arm, g) for arm, g in known if gripper_name in (ANY_GRIPPER, g.name, arm.name)]
    if not found and (known or gripper_name != ANY_GRIPPER):
        names = [ANY_GRIPPER, *(gripper.name for _, gripper in known)]
        raise ValueError(
            f"gripper_name: {gripper_name!r} is not on this robot; {nearest(gripper_name, names)}"
        )
    return found


@dataclass(frozen=True, slots=True)
class Hand:
    """The fingers of one gripper, and the joint that opens it.

    Attributes:
        fingers: Body names ``<robot>/<link>``.
        joint: Joint of the opening; empty: not known.
        open_position: Position of the joint where the hand is open, m or rad.
        closed_position: Position where it is closed, m or rad.
    """

    fingers: tuple[str, ...]
    joint: str = ""
    open_position: float = 0.0
    closed_position: float = 1.0

    def __post_init__(self) -> None:
        if self.open_position == self.closed_position:
            raise ValueError("closed_position: equals open_position; a hand has a way between them")


def finger_bodies(robot: Robot, gripper_name: str = ANY_GRIPPER) -> tuple[str, ...]:
    """Return the body names of the finger links.

    Args:
        robot: The robot's description.
        gripper_name: See ``grippers``.

    Returns:
        Names ``<robot>/<link>``.

    Raises:
        ValueError: See ``grippers``.
    """
    return tuple(finger for hand in hands(robot, gripper_name) for finger in hand.fingers)


def hands(robot: Robot, gripper_name: str = ANY_GRIPPER) -> tuple[Hand, ...]:
    """Return the fingers and the joint of each gripper.

    Args:
        robot: The robot's description.
        gripper_name: See ``grippers``.

    Raises:
        ValueError: See ``grippers``.
    """
    return tuple(_hand(robot, gripper) for _, gripper in grippers(robot, gripper_name))


def _hand(robot: Robot, gripper: GripperSpec) -> Hand:
    fingers = tuple(f"{robot.name}/{link}" for link in gripper.finger_links)
    if not gripper.joint or gripper.max_width_m <= gripper.min_width_m:
        return Hand(fingers)
    ends = gripper.position(gripper.max_width_m), gripper.position(gripper.min_width_m)
    return Hand(fingers, gripper.joint, *ends)


def hand_bodies(robot: Robot, gripper_name: str = ANY_GRIPPER) -> tuple[str, ...]:
    """Return the body names of the finger links and of the links that carry them.

    Args:
        robot: The robot's description.
        gripper_name: See ``grippers``.

    Returns:
        Names ``<robot>/<link>``, fingers first.

    Raises:
        ValueError: See ``grippers``.
    """
    hands = [f"{robot.name}/{arm.ee_link}" for arm, _ in grippers(robot, gripper_name)]
    return (*finger_bodies(robot, gripper_name), *hands)
