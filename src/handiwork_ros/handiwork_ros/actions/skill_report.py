"""Reports of the goals of skills, read from their messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from handiwork_msgs.msg import SkillFeedback, SkillResult

from handiwork_core.contracts.skill import Progress
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_ros.conversions import (
    code_from_msg,
    goal_outcome_from_msg,
    outcome_from_msg,
    pose_from_msg,
)


@dataclass(frozen=True)
class Stage:
    """One finished stage.

    Attributes:
        name: Name of the stage.
        duration_s: Its duration, s in the time of the robot's world.
        planning_time_s: Planning time in it, s of steady time.
        code: Its outcome.
    """

    name: str
    duration_s: float
    planning_time_s: float
    code: Code


@dataclass(frozen=True)
class SkillReport:
    """The result of a skill's goal.

    Attributes:
        outcome: Outcome of the goal.
        stages: The finished stages in order.
        duration_s: Duration of all stages, s in the time of the robot's world.
        planning_time_s: Planning time of all stages, s of steady time.
        stopped_at: Joint positions at the end by name, rad or m.
        stopped_ee: Pose of the EE in ``world`` at the end; None if it is not known.
        held_object: Name of the object in the gripper; empty for none.
        seed: Seed of the run.
        world_version: Version of the world's geometry.
    """

    outcome: Outcome
    stages: tuple[Stage, ...] = ()
    duration_s: float = 0.0
    planning_time_s: float = 0.0
    stopped_at: Mapping[str, float] = field(default_factory=dict)
    stopped_ee: Pose | None = None
    held_object: str = ""
    seed: int = 0
    world_version: int = 0

    @property
    def ok(self) -> bool:
        """True when the skill succeeded."""
        return self.outcome.ok

    @property
    def message(self) -> str:
        """The message of the outcome: one sentence for a person."""
        return self.outcome.message


def progress_from_msg(message: SkillFeedback) -> Progress:
    """Convert a feedback message to progress.

    Args:
        message: The message.
    """
    return Progress(message.stage, message.index, message.count, message.planning_time, message.progress)


def goal_report_from_msg(status: int, message: SkillResult) -> SkillReport:
    """Read the result of a goal; see ``goal_outcome_from_msg``.

    Args:
        status: Status of ``action_msgs/msg/GoalStatus`` with which the goal ended.
        message: The result.

    Raises:
        ValueError: See ``report_from_msg``.
    """
    return replace(report_from_msg(message), outcome=goal_outcome_from_msg(status, message.outcome))


def report_from_msg(message: SkillResult) -> SkillReport:
    """Read a result.

    Args:
        message: The result.

    Raises:
        ValueError: Joints and positions differ in number, or the pose is malformed.
    """
    stages = (Stage(s.stage, s.duration, s.planning_time, code_from_msg(s.code)) for s in message.stages)
    joints = message.stopped_at
    known = bool(message.stopped_ee.header.frame_id)
    return SkillReport(
        outcome_from_msg(message.outcome),
        tuple(stages),
        message.duration,
        message.planning_time,
        dict(zip(joints.name, joints.position, strict=True)),
        pose_from_msg(message.stopped_ee.pose, "stopped_ee") if known else None,
        message.held_object,
        message.seed,
        message.world_version,
    )
