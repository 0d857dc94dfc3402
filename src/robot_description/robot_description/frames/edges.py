"""The transforms that a robot publishes: one edge per joint, and one from the world to the root link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from handiwork_core.model.geometry import Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import joint_motion, joint_position
from handiwork_core.robot.robot import Robot

WORLD = "world"


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """Pose of frame ``child`` in frame ``parent``."""

    parent: str
    child: str
    parent_T_child: Pose


def frame(robot: Robot, link: str) -> str:
    """Return the name of a link's frame.

    Args:
        robot: The robot.
        link: Name of the link.
    """
    return f"{robot.name}/{link}"


def static_edges(robot: Robot, world_T_base: Pose) -> list[Edge]:
    """Return the edge from world to root link, and those of all fixed joints.

    Args:
        robot: The robot.
        world_T_base: Pose of the root link.
    """
    fixed = [joint for joint in robot.joints.values() if joint.type is JointKind.FIXED]
    edges = [Edge(frame(robot, j.parent), frame(robot, j.child), j.parent_T_joint) for j in fixed]
    return [Edge(WORLD, frame(robot, robot.root_link), world_T_base), *edges]


def moving_edges(robot: Robot, positions: Mapping[str, float]) -> list[Edge]:
    """Return the edges of all moving joints that were measured.

    Args:
        robot: The robot.
        positions: Measured positions by joint name, rad or m; mimic joints follow.
    """
    edges = []
    for joint in robot.joints.values():
        source = joint.mimic.joint if joint.mimic is not None else joint.name
        if joint.type is JointKind.FIXED or source not in positions:
            continue
        parent_T_child = joint.parent_T_joint @ joint_motion(
            joint, joint_position(robot, joint.name, positions)
        )
        edges.append(Edge(frame(robot, joint.parent), frame(robot, joint.child), parent_T_child))
    return edges


class Pace:
    """Limits the rate of stamps in their own clock; a step back restarts it.

    Args:
        rate_hz: Largest rate, 1/s.
    """

    def __init__(self, rate_hz: float) -> None:
        # Sources whose period divides ours must not lose every other stamp to round-off.
        self._period_s = 1.0 / rate_hz - 1e-6
        self._last_s: float | None = None

    def due(self, stamp_s: float) -> bool:
        """Check whether a stamp is to be used, and count it if so.

        Args:
            stamp_s: The stamp, s.

        Returns:
            True when it is to be used.
        """
        if self._last_s is not None and 0.0 <= stamp_s - self._last_s < self._period_s:
            return False
        self._last_s = stamp_s
        return True


class PublisherPaces:
    """Limits the rate of each publisher of joints, so that one that sends often does not displace the others.

    Args:
        rate_hz: Largest rate of each, 1/s.
    """

    def __init__(self, rate_hz: float) -> None:
        self._rate_hz = rate_hz
        self._paces = dict[str, Pace]()
        self._stamps = dict[str, tuple[int, int]]()

    def due(self, publisher: str, stamp: tuple[int, int], now_s: float) -> bool:
        """Check whether a message is to be used, and count it if so.

        Args:
            publisher: The first joint of the message, which stands for its publisher.
            stamp: Time of the message, s and ns; one that came before is not used again.
            now_s: Steady time, s.

        Returns:
            True when it is to be used.
        """
        pace = self._paces.setdefault(publisher, Pace(self._rate_hz))
        if self._stamps.get(publisher) == stamp or not pace.due(now_s):
            return False
        self._stamps[publisher] = stamp
        return True
