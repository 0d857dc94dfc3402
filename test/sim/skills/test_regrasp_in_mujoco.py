"""A low box is turned over in physics: no single grasp can, so it is put down on its side and grasped again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import Robot
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.execution.run import run_skill
from skill_server.params.retry_policy import ONE_ATTEMPT
from skill_server.preview.rehearsal import preview_skill
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


def test_a_preview_is_refused_in_words_and_nothing_moves(robot: Robot, engine: CpuEngine) -> None:
    cell = SimulatedCell(robot, engine, "turn_over", 0)
    before_s = cell.now_s()
    result = preview_skill(MoveObject(), OVER, cell.context(0))
    assert result.outcome.code is Code.UNSUPPORTED
    assert "move_object cannot be previewed: it chooses each step in the world" in result.outcome.message
    assert cell.now_s() == before_s


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
