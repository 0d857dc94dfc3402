"""Motions of episodes keep the tool's speed below the limit of the safety layer, as those of the planner's node do."""

from __future__ import annotations

import numpy as np

from handiwork_core.contracts.planning import JointGoals, PlanRequest, never_stop
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.safety.config import SafetyConfig
from handiwork_core.scene.loader import load_scene
from handiwork_data.lock_step.cell import LockStepCell
from handiwork_data.lock_step.cell_arms import CellArms
from handiwork_planning.cpu_engine import CpuEngine
from handiwork_planning.timing.tool_speed import BELOW, ToolSpeedLimit
from support.paths import ROBOTS, ROOT

ARM = "left_arm"
FAR = np.array([0.81, 1.22, -0.37, 1.35, 0.0, -0.26, 0.75])
"""Joint positions to which the arm's tool is faster than the limit at the limits of the joints, rad."""


def test_a_wide_motion_takes_as_long_as_the_limit_asks_for() -> None:
    robot, scene = load_robot(ROBOTS / "genie1"), load_scene(ROOT / "config/scenes/genie1_table.yaml")
    engine, limit = CpuEngine(robot, scene.world_T_base, lambda _done, _text: None), SafetyConfig().tool_speed
    ports = CellArms(LockStepCell(robot, scene, 10.0), engine).ports[ARM]
    home = robot.arms[ARM].home_q
    request = PlanRequest(ARM, home, JointGoals(FAR[None]), budget_s=60.0)
    kept = ports.plan(request, should_stop=never_stop).trajectory
    fast = engine.plan(request, never_stop).trajectory
    assert kept is not None and fast is not None
    speed = ToolSpeedLimit(robot, limit)
    assert speed.fastest(ARM, fast) > limit
    assert speed.fastest(ARM, kept) <= BELOW * limit + 1e-9
