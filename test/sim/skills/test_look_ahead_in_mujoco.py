"""Pick with ``next_place`` in physics: it takes a grasp that can place the object, the same one if all can."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot.robot import Robot
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.execution.run import run_skill
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from support.cells.simulated_cell import SimulatedCell

PATIENCE_S = 60.0
UPSIDE_DOWN = PlaceParams(
    container="tray",
    align_pick_obj_axis=(0.0, 0.0, 1.0),
    align_place_obj_axis=(0.0, 0.0, -1.0),
    align_obj_tol_deg=5.0,
    allowed_planning_time=PATIENCE_S,
)


def placed(cell: SimulatedCell, pick: PickParams, place: PlaceParams) -> Outcome:
    """Return the outcome of Place after Pick."""
    context = cell.context(0)
    picked = run_skill(Pick(), pick, context)
    assert picked.outcome.ok, picked.outcome
    return run_skill(Place(), place, replace(cell.context(0), held=context.held)).outcome


def test_a_bottle_is_grasped_so_that_it_can_be_set_down_upside_down(robot: Robot, engine: CpuEngine) -> None:
    greedy = PickParams(object="bottle", allowed_planning_time=PATIENCE_S)
    refused = placed(SimulatedCell(robot, engine, "upside_down", 0), greedy, UPSIDE_DOWN)
    assert refused.code is Code.NO_CANDIDATE
    cell = SimulatedCell(robot, engine, "upside_down", 0)
    done = placed(cell, replace(greedy, next_place=UPSIDE_DOWN), UPSIDE_DOWN)
    assert done.ok, done
    up = cell.snapshot().states["bottle"].world_T_object.rotation.matrix()[2, 2]
    assert up == pytest.approx(-1.0, abs=0.02)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_grasp_is_the_same_where_it_can_reach_the_place(
    robot: Robot, engine: CpuEngine, seed: int
) -> None:
    cell = SimulatedCell(robot, engine, "tabletop", seed)

    def grasp(next_place: PlaceParams | None) -> Pose:
        params = PickParams(object="cube", next_place=next_place, allowed_planning_time=PATIENCE_S)
        [descent] = [c for c in Pick().commands(params, cell.context(seed)) if c.stage == "descend"]
        assert descent.world_T_ee is not None
        return descent.world_T_ee

    assert grasp(PlaceParams(container="bin")).distance_to(grasp(None)) == pytest.approx((0.0, 0.0), abs=1e-9)
