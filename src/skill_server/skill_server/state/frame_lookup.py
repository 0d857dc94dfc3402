"""The pose of any frame that a goal may name: the world, the arm's base, an object, a link of the robot, or tf's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.contracts.ports import FrameSource
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot

WORLD, BASE = "world", "base"
NEWER_S, POLL_S = 0.5, 0.02
"""The longest wait for a newer transform of a moving frame, and the period of looking for it, s of steady time."""


class FrameRefused(HandiworkError, LookupError):
    """A goal names a frame that is not known. ``outcome`` has the nearest known names."""


@dataclass(frozen=True)
class KnownFrames:
    """Frames among objects, the robot's links as measured now, and those of tf.

    Attributes:
        robot: Robot with the links.
        world: Snapshot with the poses and joints.
        world_T_root: Returns the pose of the robot's root link; the argument is the goal's field with the frame.
        tf: Transforms; None without any.
    """

    robot: Robot
    world: World
    world_T_root: Callable[[str], Pose]
    tf: FrameSource | None = None

    def pose(self, name: str, field: str) -> Pose:
        """Return the newest pose of a frame.

        Args:
            name: Name of the frame.
            field: Field of the goal that names it.

        Returns:
            world_T_frame.

        Raises:
            HandiworkError: UNKNOWN_FRAME with the nearest names, or STALE_WORLD with the age of a moving frame.
        """
        if name in self.world.states:
            return self.world.states[name].world_T_object
        links = self._links()
        if name in links and set(_driven(self.robot)) <= set(self.world.joints.position):
            poses = link_poses(self.robot, self.world.joints.position, (links[name],))
            return self.world_T_root(field) @ poses[links[name]]
        if name == WORLD:
            return Pose.identity()
        known = sorted({WORLD, *self.world.states, *links, *(self.tf.known() if self.tf else ())})
        if name not in known or self.tf is None:
            text = f"frame {name!r} is not known; {nearest(name, known)}"
            raise FrameRefused(Outcome(Code.UNKNOWN_FRAME, text, "check", field))
        return self.tf.lookup(WORLD, name, field)

    def _links(self) -> dict[str, str]:
        return {f"{self.robot.name}/{link}": link for link in self.robot.links}


def forget_frames(context: Context) -> None:
    """Have the frames of a goal evaluated again, because its motion is planned again.

    Args:
        context: Context of the run.
    """
    context.frames_used.clear()


def frame_used(name: str, field: str, context: Context, world: World) -> Pose:
    """Return the pose that a frame had when it was first asked for since ``forget_frames``.

    So all points of a goal refer to one pose of a moving frame, and success is judged by this pose.

    Args:
        name: Name of the frame; ``base`` is the arm's base.
        field: Field of the goal that names it.
        context: Context of the run.
        world: Snapshot of the world.

    Returns:
        world_T_frame.

    Raises:
        StepFailed: The frame is not known, or its newest transform is too old.
    """
    if name not in context.frames_used:
        context.frames_used[name] = _fresh(name, field, context, world)
    return context.frames_used[name]


def _fresh(name: str, field: str, context: Context, world: World) -> Pose:
    """Return the pose of a frame; wait for a newer transform where the newest one is too old."""
    until = time.monotonic() + NEWER_S
    while True:
        try:
            return _evaluated(name, field, context, world)
        except StepFailed as failed:
            if failed.outcome.code is not Code.STALE_WORLD or time.monotonic() >= until:
                raise
        context.token.check()
        context.token.wait(POLL_S)


def _evaluated(name: str, field: str, context: Context, world: World) -> Pose:
    if name == BASE:
        return context.world.world_T_base()
    return pose_frame_now(name, field, context, world)


def pose_frame_now(name: str, field: str, context: Context, world: World) -> Pose:
    """Return the newest pose of a frame that the header of a pose names; there, ``base`` is a frame of tf.

    Args:
        name: Name of the frame.
        field: Field of the goal that names it.
        context: Context of the run.
        world: Snapshot of the world.

    Returns:
        world_T_frame.

    Raises:
        StepFailed: The frame is not known, or its newest transform is too old.
    """

    def world_T_root(_field: str) -> Pose:
        base_link = context.arm_spec.base_link
        poses = link_poses(context.robot, world.joints.position, (base_link,))
        return context.world.world_T_base() @ poses[base_link].inverse()

    try:
        return KnownFrames(context.robot, world, world_T_root, context.frames).pose(name, field)
    except HandiworkError as error:
        raise StepFailed(error.outcome) from error


def _driven(robot: Robot) -> tuple[str, ...]:
    return tuple(name for arm in robot.arms.values() for name in arm.joint_names)
