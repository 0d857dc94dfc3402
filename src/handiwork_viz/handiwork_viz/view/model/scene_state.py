"""What the page draws at one instant, and what of it has moved since it was drawn last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot

MOVED_M, MOVED = 1e-4, 1e-3
"""A body that moved by less [m; quaternion element] is not drawn again."""
LIMITS = (MOVED_M,) * 3 + (MOVED,) * 4
FORCE_M_PER_N = 0.004
LONGEST_FORCE_M = 0.15


def root_pose(world: World) -> Pose:
    """Return the pose of the robot's root in ``world``; that of the world itself while it is not known.

    Args:
        world: The snapshot.
    """
    return world.frames.get("robot", Pose.identity())


def static_root(robot: Robot, world: World) -> Pose:
    """Return the pose of the robot's root link in ``world``, also where a mobile base has moved away from it.

    Args:
        robot: The robot.
        world: The snapshot; its frame ``robot`` is that of the moving base.
    """
    if robot.base is None:
        return root_pose(world)
    return root_pose(world) @ link_poses(robot, world.joints.position)[robot.base.link].inverse()


def link_places(robot: Robot, world: World, positions: Mapping[str, float] | None = None) -> dict[str, Pose]:
    """Return the pose of each link in ``world``.

    Args:
        robot: The robot.
        world: The snapshot.
        positions: Joint positions in place of the measured ones.
    """
    joints = dict(world.joints.position) if positions is None else {**world.joints.position, **positions}
    root = static_root(robot, world)
    return {link: root @ pose for link, pose in link_poses(robot, joints).items()}


class Moved:
    """Finds the bodies that have moved visibly since they were drawn last."""

    def __init__(self) -> None:
        self._drawn: dict[str, tuple[float, ...]] = {}

    def changes(self, poses: Mapping[str, Pose]) -> Iterator[tuple[str, Pose]]:
        """Yield the bodies that have moved, and remember them as drawn.

        Args:
            poses: Pose in ``world`` by body.

        Yields:
            Name and pose.
        """
        for name, pose in poses.items():
            row = (
                *pose.translation_m.tolist(),
                *np.asarray(pose.rotation.wxyz).tolist(),
            )  # for seven numbers faster than arrays
            last = self._drawn.get(name)
            if last is not None and all(
                abs(a - b) < limit for a, b, limit in zip(row, last, LIMITS, strict=True)
            ):
                continue
            self._drawn[name] = row
            yield name, pose

    def forget(self, name: str) -> None:
        """Draw a body again next time.

        Args:
            name: Name of the body.
        """
        self._drawn.pop(name, None)


@dataclass(frozen=True, slots=True, eq=False)
class ContactLines:
    """Contacts: points (n, 3) [m], and a line (n, 2, 3) [m] along the force of each, both in ``world``."""

    points: Array
    lines: Array


def contact_lines(world: World) -> ContactLines:
    """Return the contacts of a snapshot; none where the backend has no contact source.

    Args:
        world: The snapshot.
    """
    contacts = world.contacts or ()
    points = np.array([one.point_m for one in contacts], dtype=np.float64).reshape(-1, 3)
    forces = np.array([one.force_on_a_n for one in contacts], dtype=np.float64).reshape(-1, 3)
    lengths = np.linalg.norm(forces, axis=1, keepdims=True)
    shown = np.minimum(FORCE_M_PER_N * lengths, LONGEST_FORCE_M)
    ends = points + forces / np.maximum(lengths, 1e-9) * shown
    return ContactLines(points, np.stack([points, ends], axis=1))


def bodies_of(pair: BodyPair | None) -> tuple[str, ...]:
    """Return the two bodies that touch; none for no pair.

    Args:
        pair: The pair.
    """
    return () if pair is None else (pair.a, pair.b)


class Pace:
    """How fast the world's time passes against steady time, measured over a second."""

    def __init__(self) -> None:
        self._begun: tuple[float, float] | None = None
        self.factor: float | None = None

    def see(self, stamp_s: float, now_s: float) -> None:
        """Take a stamp.

        Args:
            stamp_s: Time of the world, s.
            now_s: Steady time, s.
        """
        if self._begun is None or stamp_s < self._begun[0]:
            self._begun = (stamp_s, now_s)
        elif now_s - self._begun[1] >= 1.0:
            self.factor = (stamp_s - self._begun[0]) / (now_s - self._begun[1])
            self._begun = (stamp_s, now_s)

    @property
    def is_paused(self) -> bool:
        """True when the world's time stood still during the last second."""
        return self.factor is not None and self.factor < 1e-6

    def text(self) -> str:
        """Return the pace in words."""
        if self.factor is None:
            return "not known yet"
        return "paused" if self.is_paused else f"{self.factor:.2f} x real time"


def motion_positions(motion: Trajectory, share: float) -> dict[str, float]:
    """Return the joint positions at a share of a motion's time.

    Args:
        motion: The motion.
        share: 0 at its begin, 1 at its end.

    Returns:
        Positions by joint, rad or m.
    """
    q, _ = motion.sample(share * motion.duration_s)
    return dict(zip(motion.joint_names, q.tolist(), strict=True))


def positions_along(motions: Sequence[Trajectory], share: float) -> dict[str, float]:
    """Return the joint positions at a share of the time of several motions, one after the other.

    Args:
        motions: The motions.
        share: 0 at the begin of the first, 1 at the end of the last.

    Returns:
        Positions by joint, rad or m; none without a motion.
    """
    lasting = [one for one in motions if len(one.t_s) > 1]
    at_s = share * sum(one.duration_s for one in lasting)
    found: dict[str, float] = {}
    for motion in lasting:
        found |= motion_positions(motion, min(1.0, at_s / motion.duration_s))
        at_s -= motion.duration_s
        if at_s <= 0.0:
            break
    return found
