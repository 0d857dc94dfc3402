"""A low box is turned over in physics: no single grasp can, so it is put down on its side and grasped again."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import Robot
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.execution.run import run_skill
from skill_server.params.retry_policy import ONE_ATTEMPT
from skill_server.preview.previewed_skill import execute_plan
from skill_server.preview.rehearsed_run import preview_skill
from skill_server.skills.pick_place.move_object import MoveObject, MoveObjectParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from support.cells.simulated_cell import SimulatedCell

PATIENCE_S = 120.0
OVER = MoveObjectParams(
    object="box",
    container="tray",
    up_axis=(0.0, 0.0, -1.0),
    allowed_planning_time=PATIENCE_S,
    search_time=PATIENCE_S,
)


def up(cell: SimulatedCell) -> float:
    """Return the vertical component of the box's z axis."""
    return float(cell.snapshot().states["box"].world_T_object.rotation.matrix()[2, 2])


def test_a_box_is_turned_over_by_two_grasps_and_not_by_one(robot: Robot, engine: CpuEngine) -> None:
    cell = SimulatedCell(robot, engine, "turn_over", 0)
    refused = run_skill(MoveObject(), replace(OVER, regrasp=False), cell.context(0)).outcome
    assert refused.code is Code.NO_CANDIDATE
    assert refused.blocking is not None
    assert up(cell) == pytest.approx(1.0, abs=1e-3)
    done = run_skill(MoveObject(), OVER, cell.context(0))
    assert done.outcome.ok, done.outcome
    assert up(cell) == pytest.approx(-1.0, abs=0.02)
    assert [stage.stage for stage in done.stages].count("put down: release") == 1


def test_a_box_is_turned_over_as_previewed(robot: Robot, engine: CpuEngine) -> None:
    cell = SimulatedCell(robot, engine, "turn_over", 2)
    before_s = cell.now_s()
    result = preview_skill(MoveObject(), OVER, cell.context(2))
    assert result.plan is not None, result.outcome
    assert cell.now_s() == before_s
    assert [step.label for step in result.plan.steps] == ["pick", "put down", "pick again", "place"]
    ends = [motion.trajectory for motion in result.plan.motions]
    assert all(np.allclose(a.q[-1], b.q[0], atol=1e-6) for a, b in itertools.pairwise(ends))
    # Where the box is put down, and has come to rest after a fall of some mm, it is grasped again.
    again = result.plan.steps[2].plan.before.world.states["box"].world_T_object
    done = execute_plan(result.plan, cell.context(2))
    assert done.outcome.ok, done.outcome
    assert done.planning_time_s == 0.0
    assert up(cell) == pytest.approx(-1.0, abs=0.02)
    assert again.rotation.matrix()[2, 2] == pytest.approx(0.0, abs=0.05)


def test_a_held_box_is_put_down_first_and_brought_to_a_pose(robot: Robot, engine: CpuEngine) -> None:
    cell = SimulatedCell(robot, engine, "turn_over", 1)
    context = cell.context(1)
    pick = PickParams(object="box", allowed_planning_time=PATIENCE_S, seed=1)
    assert run_skill(Pick(), pick, context, ONE_ATTEMPT).outcome.ok
    tray = cell.snapshot().states["tray"].world_T_object.translation_m
    turned = Pose.of((tray[0], tray[1], 0.02 + 0.025), Rotation.from_rpy(np.pi, 0.0, 0.0))
    poses = tuple(
        turned @ Pose.of((0.0, 0.0, 0.0), Rotation.from_rpy(0.0, 0.0, k * np.pi / 4)) for k in range(8)
    )
    goal = replace(OVER, up_axis=(0.0, 0.0, 0.0), object_poses=poses, seed=1)
    done = run_skill(MoveObject(), goal, replace(cell.context(1), held=context.held))
    assert done.outcome.ok, done.outcome
    assert done.stages[1].stage.startswith("put down: ")
    assert up(cell) == pytest.approx(-1.0, abs=0.02)
