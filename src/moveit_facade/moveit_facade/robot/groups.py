"""The planning groups of a robot: one for each arm and one for each gripper."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot
from moveit_facade.model.error_codes import ErrorCode, RequestError


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A planning group.

    Attributes:
        name: Its name: that of the arm or of the gripper.
        joint_names: Its joints that are commanded, from base to tip.
        arm: The arm; for a gripper the arm that carries it.
        gripper: The gripper; None for the group of an arm.
    """

    name: str
    joint_names: tuple[str, ...]
    arm: ArmSpec
    gripper: GripperSpec | None = None

    @property
    def is_arm(self) -> bool:
        """True for the group of an arm."""
        return self.gripper is None


def groups_of(robot: Robot) -> dict[str, Group]:
    """Return the planning groups by name; a suction cup has no joint and is no group.

    Args:
        robot: The robot.
    """
    found = {}
    for arm in robot.arms.values():
        found[arm.name] = Group(arm.name, arm.joint_names, arm)
        if arm.gripper is not None and arm.gripper.joint:
            found[arm.gripper.name] = Group(arm.gripper.name, (arm.gripper.joint,), arm, arm.gripper)
    return found


def checked_group(groups: dict[str, Group], name: str) -> Group:
    """Return the group with a name; an empty name means the only arm.

    Args:
        groups: The groups of the robot.
        name: The name.

    Raises:
        RequestError: INVALID_GROUP_NAME.
    """
    arms = [group for group in groups.values() if group.is_arm]
    if not name and len(arms) == 1:
        return arms[0]
    if name not in groups:
        hint = nearest(name[:80], sorted(groups))
        text = f"group_name {name[:80]!r} is not a planning group; {hint}"
        raise RequestError(ErrorCode.INVALID_GROUP_NAME, text)
    return groups[name]


def mimics_of(robot: Robot, joint: str) -> dict[str, tuple[float, float]]:
    """Return the joints that follow a joint.

    Args:
        robot: The robot.
        joint: Name of the joint that is followed.

    Returns:
        Multiplier and offset by name of the joint that follows.
    """
    return {
        other.name: (other.mimic.multiplier, other.mimic.offset)
        for other in robot.joints.values()
        if other.mimic is not None and other.mimic.joint == joint
    }


def gripper_links(robot: Robot, arm: ArmSpec) -> tuple[str, ...]:
    """Return the links that the gripper of an arm moves or consists of, without the link that carries the arm's poses.

    Args:
        robot: The robot.
        arm: The arm.
    """
    inside = {arm.ee_link}
    for joint in robot.joints.values():  # in tree order
        if joint.parent in inside:
            inside.add(joint.child)
    return tuple(link for link in robot.links if link in inside and link != arm.ee_link)


def rigid_links(robot: Robot, link: str) -> frozenset[str]:
    """Return the links that are fixed to a link, the link itself included.

    Args:
        robot: The robot.
        link: Name of the link.
    """
    edges = [{j.parent, j.child} for j in robot.joints.values() if j.type is JointKind.FIXED]
    found, before = {link}, 0
    while len(found) > before:
        before = len(found)
        found.update(*(edge for edge in edges if edge & found))
    return frozenset(found)
