"""The planner takes the robot for silent by the rule that the skill server has."""

from __future__ import annotations

import pytest

from handiwork_core.intake.robot_watchdog import SILENCE_S
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import JointState, World
from handiwork_core.robot.robot import Robot
from planner_node.engines import CpuEngine
from planner_node.pipeline.pipeline import PlanningPipeline, WorldReaders
from planner_node.pipeline.planning_scene import PlanningScene
from planner_node.pipeline.request_checks import RequestRefused


@pytest.mark.parametrize(("age_s", "is_silent"), [(SILENCE_S - 0.05, False), (SILENCE_S + 0.05, True)])
def test_joints_count_until_the_robot_is_silent(
    robot: Robot, bare_engine: CpuEngine, age_s: float, is_silent: bool
) -> None:
    arm = robot.arm("")
    world = World(0.0, joints=JointState(0.0, dict(zip(arm.joint_names, arm.home_q, strict=True))))
    readers = WorldReaders(lambda: world, lambda: True, lambda: age_s)
    pipeline = PlanningPipeline(robot, bare_engine, PlanningScene(), readers, Pose.identity())
    if not is_silent:
        assert pipeline.measured_q(arm).tolist() == list(arm.home_q)
        return
    with pytest.raises(
        RequestRefused, match=r"no good joint_states for 1\.2 s: joint_states is silent"
    ) as refused:
        pipeline.measured_q(arm)
    assert refused.value.outcome.code is Code.ROBOT_LOST
