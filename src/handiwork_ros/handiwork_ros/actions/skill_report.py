"""How goals of skills ended, as values."""

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
    """One finished stage; ``duration_s`` in time of the robot's world, ``planning_time_s`` steady."""

    name: str
    duration_s: float
    planning_time_s: float
    code: Code


@dataclass(frozen=True)
class SkillReport:
    """How a goal ended. ``stopped_at``: joints by name [rad, m]; ``stopped_ee``: EE in ``world``, where known."""

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
        """One sentence for a person."""
        return self.outcome.message


def progress_from_msg(message: SkillFeedback) -> Progress:
    """One to one."""
    return Progress(message.stage, message.index, message.count, message.planning_time, message.progress)


def goal_report_from_msg(status: int, message: SkillResult) -> SkillReport:
    """Read the result of a goal that ended with ``status``; see ``goal_outcome_from_msg``."""
    return replace(report_from_msg(message), outcome=goal_outcome_from_msg(status, message.outcome))


def report_from_msg(message: SkillResult) -> SkillReport:
    """Read a result.

    Raises:
        ValueError: joints and positions differ in number, or the pose is none.
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
