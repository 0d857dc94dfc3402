"""The frames of a robot that are shown to a person: EE, TCP and the tool's keypoints."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot


@dataclass(frozen=True, slots=True, eq=False)
class MarkedFrame:
    """A frame with a short name for a label.

    Attributes:
        arm: Name of the arm.
        what: ``ee``, ``tcp``, ``head``, ``tail`` or ``side``.
        link: The link in which it is fixed.
        link_T_frame: Its pose.
    """

    arm: str
    what: str
    link: str
    link_T_frame: Pose


def marked_frames(robot: Robot) -> tuple[MarkedFrame, ...]:
    """Return for every arm ``ee``, ``tcp``, and the keypoints ``head``, ``tail`` and ``side`` if they are known.

    Args:
        robot: The robot.
    """
    found = []
    for arm in robot.arms.values():
        found.append(MarkedFrame(arm.name, "ee", arm.ee_link, Pose.identity()))
        found.append(MarkedFrame(arm.name, "tcp", arm.tcp_link, Pose.identity()))
        points = arm.gripper.keypoints if arm.gripper is not None else None
        if points is not None:
            for what, point in (("head", points.head), ("tail", points.tail), ("side", points.side)):
                found.append(MarkedFrame(arm.name, what, arm.ee_link, Pose.of(point)))
    return tuple(found)
