"""Reports of the goals of skills, read from their messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from handiwork_msgs.msg import SkillFeedback, SkillPlan, SkillResult

from handiwork_core.contracts.skill import Progress
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_ros.conversions import (
    code_from_msg,
    goal_outcome_from_msg,
    outcome_from_msg,
    pose_from_msg,
    trajectory_from_msg,
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
class PlannedStage:
    """One motion of a preview.

    Attributes:
        name: Name of the stage that it belongs to.
        trajectory: The motion.
        path_length_m: Length of the path of the EE, m.
    """

    name: str
    trajectory: Trajectory
    path_length_m: float


@dataclass(frozen=True)
class SkillPreview:
    """What a skill would do: the result of a goal with ``plan_only``.

    Attributes:
        plan_id: For ``SkillClient.execute``.
        arm: Name of the arm.
        skill: Name of the skill.
        motions: The motions in order; a stage may have several, or none.
        motion_time_s: Time on all trajectories, s.
        path_length_m: Length of the path of the EE, m.
        kept_for_s: Time for which the server keeps the plan, s of steady time.
    """

    plan_id: str
    arm: str
    skill: str
    motions: tuple[PlannedStage, ...]
    motion_time_s: float
    path_length_m: float
    kept_for_s: float


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
        plan: What the skill would do, after a goal with ``plan_only``; else None.
        bundle: File that the flight recorder leaves of a goal that did not succeed; empty for none.
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
    plan: SkillPreview | None = None
    bundle: str = ""

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
        ValueError: Joints and positions differ in number, or the pose or a trajectory is malformed.
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
        preview_from_msg(message.plan),
        message.bundle,
    )


def preview_from_msg(plan: SkillPlan) -> SkillPreview | None:
    """Read the plan of a preview; None for the message of a goal that was none, or that failed.

    Args:
        plan: The message.

    Raises:
        ValueError: A trajectory is malformed.
    """
    if not plan.plan_id:
        return None
    motions = (
        PlannedStage(m.stage, trajectory_from_msg(m.trajectory, f"plan.motions[{i}]"), m.path_length)
        for i, m in enumerate(plan.motions)
    )
    return SkillPreview(
        plan.plan_id,
        plan.arm,
        plan.skill,
        tuple(motions),
        plan.motion_time,
        plan.path_length,
        plan.kept_for,
    )
