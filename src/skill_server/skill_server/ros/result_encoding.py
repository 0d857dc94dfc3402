"""Encodes results and progress as messages."""

from __future__ import annotations

from geometry_msgs.msg import PoseStamped
from handiwork_msgs.msg import SkillFeedback, SkillResult, StagePlan
from handiwork_msgs.msg import SkillPlan as SkillPlanMsg
from handiwork_msgs.msg import StageReport as StageReportMsg

from handiwork_core.contracts.arrival import ee_pose
from handiwork_core.contracts.skill import Progress
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.conversions import (
    joint_state_to_msg,
    outcome_to_msg,
    pose_to_msg,
    time_to_msg,
    trajectory_to_msg,
)
from skill_server.execution.run import ExecutionResult
from skill_server.preview.rehearsed_run import PreviewResult
from skill_server.preview.skill_plan import SkillPlan


def result_to_msg(outcome: Outcome, run: ExecutionResult | None, held: str) -> SkillResult:
    """Encode a result, without the robot's final state.

    Args:
        outcome: Outcome of the goal.
        run: Result of the run; None when no skill ran to its own end.
        held: Name of the held object; empty for none.

    Returns:
        The message.
    """
    result = SkillResult(outcome=outcome_to_msg(outcome), held_object=held)
    if run is not None:
        result.stages = [
            StageReportMsg(
                stage=s.stage, duration=s.duration_s, planning_time=s.planning_time_s, code=int(s.code)
            )
            for s in run.stages
        ]
        result.duration, result.planning_time = run.duration_s, run.planning_time_s
        result.seed, result.world_version, result.bundle = run.seed, run.world_version, run.bundle
    if isinstance(run, PreviewResult) and run.plan is not None:
        result.plan = plan_to_msg(run.plan)
    return result


def plan_to_msg(plan: SkillPlan) -> SkillPlanMsg:
    """Encode a plan.

    Args:
        plan: The plan.

    Returns:
        The message.
    """
    return SkillPlanMsg(
        plan_id=plan.plan_id,
        arm=plan.arm,
        skill=plan.skill.name,
        motions=[
            StagePlan(stage=m.stage, trajectory=trajectory_to_msg(m.trajectory), path_length=m.length_m)
            for m in plan.motions
        ],
        motion_time=float(plan.motion_time_s),
        path_length=float(plan.length_m),
        kept_for=plan.kept_for_s,
    )


def stopped_to_msg(
    result: SkillResult, robot: Robot, arm: ArmSpec, world: World, world_T_base: Pose | None
) -> None:
    """Write the measured joints into a result message, and the EE pose in ``world`` when the base is known.

    Args:
        result: Message to complete.
        robot: Robot.
        arm: Arm of the goal.
        world: Newest world.
        world_T_base: Pose of the arm's base; None when it is not known.
    """
    result.stopped_at = joint_state_to_msg(world.joints)
    if world_T_base is None:
        return
    result.stopped_ee = PoseStamped(pose=pose_to_msg(ee_pose(world, robot, arm, world_T_base)))
    result.stopped_ee.header.frame_id = "world"
    result.stopped_ee.header.stamp = time_to_msg(world.joints.stamp_s)


def feedback_to_msg(progress: Progress) -> SkillFeedback:
    """Encode the progress.

    Args:
        progress: Progress of a run.

    Returns:
        The message.
    """
    return SkillFeedback(
        stage=progress.stage,
        index=progress.index,
        count=progress.count,
        progress=progress.fraction,
        planning_time=progress.planning_time_s,
    )
