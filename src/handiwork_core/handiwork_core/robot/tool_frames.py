"""Frames that move rigidly with the hand of an arm, for which goals may therefore be given."""

from __future__ import annotations

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.model.geometry import Pose
from handiwork_core.model.joint_kind import JointKind

from .kinematics import link_poses
from .robot import ArmSpec, Robot


def ee_T_tool(robot: Robot, arm: ArmSpec, name: str) -> Pose:
    """Return the pose of a tool frame, or of a link behind the arm's last joint, in the EE frame.

    Args:
        robot: Robot with the links and tool frames.
        arm: Arm that is to bring it somewhere.
        name: Name of a tool frame or of a link; ``<robot>/`` may precede a link's.

    Returns:
        ee_T_tool.

    Raises:
        ValueError: There is no such frame, or it does not move rigidly with the EE; says why, and what to name.
    """
    link, link_T_tool = name.removeprefix(f"{robot.name}/"), Pose.identity()
    if name in robot.tool_frames:
        link, link_T_tool = robot.tool_frames[name].link, robot.tool_frames[name].link_T_tool
    if link not in robot.links:
        raise ValueError(f"is {name!r}, which is not known; {nearest(name, tool_names(robot, arm))}")
    if reason := _why_not(robot, arm, link):
        raise ValueError(f"is {name!r}: {reason}; use one of {tool_names(robot, arm)}")
    # Any posture will do: nothing moves between the two.
    poses = link_poses(robot, {}, (arm.ee_link, link))
    return poses[arm.ee_link].inverse() @ poses[link] @ link_T_tool


def tool_names(robot: Robot, arm: ArmSpec) -> list[str]:
    """Return the links and tool frames that move rigidly with the EE of an arm, tool frames first.

    Args:
        robot: Robot with the links and tool frames.
        arm: The arm.
    """
    frames = [name for name, frame in robot.tool_frames.items() if not _why_not(robot, arm, frame.link)]
    return [*frames, *(link for link in robot.links if not _why_not(robot, arm, link))]


def _why_not(robot: Robot, arm: ArmSpec, link: str) -> str:
    """Return why a link does not move rigidly with the EE; empty if it does."""
    mine, hand = _moved_by(robot, link), _moved_by(robot, arm.ee_link)
    if mine == hand:
        return ""
    beyond = [joint for joint in mine if joint not in hand]
    missing = [joint for joint in hand if joint not in mine]
    if not beyond:
        return f"{link} is before joint {missing[0]}, so that a goal for it leaves the joints behind it open"
    if not missing:
        return f"{link} moves against the hand by joint {beyond[0]}"
    return f"{link} is not carried by arm {arm.name!r}"


def _moved_by(robot: Robot, link: str) -> list[str]:
    """Return the joints that move a link, from the root on."""
    above = {joint.child: joint for joint in robot.joints.values()}
    found: list[str] = []
    while link in above:
        joint = above[link]
        if joint.type is not JointKind.FIXED:
            found.insert(0, joint.name)
        link = joint.parent
    return found
