"""Skills of two arms are executed as previewed, in physics: a handover, and a bar that both hands carry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.skill import Progress, Skill, Token
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.execution.run import ExecutionResult
from skill_server.preview.skill_plan import SkillPlan
from skill_server.skills.two_arms.carry import Carry, CarryParams
from skill_server.skills.two_arms.handover import Handover, HandoverParams
from support.cells.two_arm_cell import TwoArmCell
from support.paths import ROBOTS, ROOT

LEFT, RIGHT = "left_arm", "right_arm"
PATIENCE_S = 120.0
HANDOVER = HandoverParams(object="left_cube", allowed_planning_time=PATIENCE_S, search_time=PATIENCE_S)
CARRY = CarryParams(
    object="bar", position=(0.5, 0.05), yaw=5.0, allowed_planning_time=PATIENCE_S, search_time=PATIENCE_S
)


@pytest.fixture(scope="module")
def lift2() -> Robot:
    return load_robot(ROBOTS / "lift2")


@pytest.fixture(scope="module")
def planner(lift2: Robot) -> Iterator[CpuEngine]:
    base = load_scene(ROOT / "config/scenes/lift2_two_arms.yaml").world_T_base
    made = CpuEngine(lift2, base, lambda _part, _what: None)
    yield made
    made.close()


def ignored(_progress: Progress) -> None:
    return


def preview(cell: TwoArmCell, skill: Skill[Any], params: Any) -> SkillPlan:
    before_s = cell.sim.world.time_s
    result = cell.runners[LEFT].preview(skill, params, Token(), ignored, further=[cell.runners[RIGHT]])
    assert result.plan is not None, result.outcome
    assert cell.sim.world.time_s == before_s
    assert not any(runner.held for runner in cell.runners.values())
    assert list(result.plan.further) == [RIGHT]
    return result.plan


def executed(cell: TwoArmCell, plan: SkillPlan) -> ExecutionResult:
    return cell.runners[LEFT].execute(plan, Token(), ignored, [cell.runners[RIGHT]])


def test_a_cube_is_handed_over_as_previewed(lift2: Robot, planner: CpuEngine) -> None:
    cell = TwoArmCell(lift2, planner, "lift2_two_arms", 0)
    plan = preview(cell, Handover(), HANDOVER)
    assert [step.label for step in plan.steps] == ["pick", "present", "take", "give", "give"]
    assert [step.plan.arm for step in plan.steps] == [LEFT, LEFT, RIGHT, LEFT, LEFT]
    done = executed(cell, plan)
    assert (done.outcome.ok, done.planning_time_s) == (True, 0.0), done.outcome
    assert done.outcome.message == "right_arm holds 'left_cube'"


def test_a_bar_is_carried_as_previewed(lift2: Robot, planner: CpuEngine) -> None:
    cell = TwoArmCell(lift2, planner, "lift2_carry", 0)
    plan = preview(cell, Carry(), CARRY)
    both = [motion for motion in plan.motions if len(motion.world_T_ee) == 2]
    assert [motion.stage for motion in both] == ["carry: lift", "carry: move", "carry: lower"]
    assert all(len(motion.trajectory.joint_names) == 12 for motion in both)
    sent = list[Trajectory]()
    for port in cell.ports.values():
        follow = port.follow

        def record(trajectory: Trajectory, *, should_stop: Any, follow: Any = follow) -> Any:
            sent.append(trajectory)
            return follow(trajectory, should_stop=should_stop)

        port.follow = record  # type: ignore[method-assign]
    done = executed(cell, plan)
    assert (done.outcome.ok, done.planning_time_s) == (True, 0.0), done.outcome
    planned = {motion.trajectory.q[:, :6].tobytes() for motion in plan.motions}
    planned |= {motion.trajectory.q[:, 6:].tobytes() for motion in both}
    assert {one.q.tobytes() for one in sent} == planned


def test_a_bar_that_has_moved_is_not_carried(lift2: Robot, planner: CpuEngine) -> None:
    cell = TwoArmCell(lift2, planner, "lift2_carry", 0)
    plan = preview(cell, Carry(), CARRY)
    pose = cell.snapshot().states["bar"].world_T_object
    cell.sim.world.set_object_pose("bar", type(pose).of((0.012, 0.0, 0.0)) @ pose)
    cell.sim.advance(100)
    before = np.array(list(cell.snapshot().joints.position.values()))
    done = executed(cell, plan)
    assert done.outcome.code is Code.OBJECT_MOVED
    assert "'bar' moved by 12 mm since the preview; preview again" in done.outcome.message
    assert np.allclose(list(cell.snapshot().joints.position.values()), before, atol=1e-3)
