"""Runs and progress become messages."""

from __future__ import annotations

from geometry_msgs.msg import PoseStamped
from handiwork_msgs.msg import SkillFeedback, SkillResult
from handiwork_msgs.msg import StageReport as StageReportMsg

from handiwork_core.contracts.skill import Progress
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.conversions import joint_state_to_msg, outcome_to_msg, pose_to_msg, time_to_msg
from skill_server.execution.run import ExecutionResult
from skill_server.state.gripper_state import ee_pose


def result_to_msg(outcome: Outcome, run: ExecutionResult | None, held: str) -> SkillResult:
    """Everything but where the robot stopped; ``run`` is None when no skill ran to its own end."""
    result = SkillResult(outcome=outcome_to_msg(outcome), held_object=held)
    if run is not None:
        result.stages = [
            StageReportMsg(
                stage=s.stage, duration=s.duration_s, planning_time=s.planning_time_s, code=int(s.code)
            )
            for s in run.stages
        ]
        result.duration, result.planning_time = run.duration_s, run.planning_time_s
        result.seed, result.world_version = run.seed, run.world_version
    return result


def stopped_to_msg(
    result: SkillResult, robot: Robot, arm: ArmSpec, world: World, world_T_base: Pose | None
) -> None:
    """Write the measured joints, and where the base is known the EE pose in ``world``, into ``result``."""
    result.stopped_at = joint_state_to_msg(world.joints)
    if world_T_base is None:
        return
    result.stopped_ee = PoseStamped(pose=pose_to_msg(ee_pose(world, robot, arm, world_T_base)))
    result.stopped_ee.header.frame_id = "world"
    result.stopped_ee.header.stamp = time_to_msg(world.joints.stamp_s)


def feedback_to_msg(progress: Progress) -> SkillFeedback:
    """One to one."""
    return SkillFeedback(
        stage=progress.stage,
        index=progress.index,
        count=progress.count,
        progress=progress.fraction,
        planning_time=progress.planning_time_s,
    )
