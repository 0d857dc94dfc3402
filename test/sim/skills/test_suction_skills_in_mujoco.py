"""Pick and place with a suction cup, the CPU engine and physics. No ROS."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest

from handiwork_core.model.conveyor import BeltSpec
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine
from sim_bridge.mujoco.simulation import CONTROL_S
from skill_server.execution.run import run_skill
from skill_server.skills.pick_place.dynamicpick import DynamicPick, DynamicPickParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from support.cells.suction_cell import SuctionCell
from support.paths import ROOT


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(ROOT / "src/robot_description/robots/ur10_suction")


@pytest.fixture(scope="module")
def engine(robot: Robot) -> Any:
    made = CpuEngine(robot, Pose.identity(), lambda _part, _what: None)
    yield made
    made.close()


NAMES = ("carton", "parcel", "can")


def on_tray(seed: int) -> PlaceParams:
    """Return a place that lets go a little over the tray."""
    return PlaceParams(container="tray", place_z_offset=0.004, seed=seed)


EPISODES = int(os.environ.get("SUCTION_EPISODES", "3"))
"""A larger number serves a soak by hand."""


@pytest.mark.parametrize(("name", "seed"), [(NAMES[seed % 3], seed) for seed in range(EPISODES)])
def test_pick_and_place(robot: Robot, engine: Any, name: str, seed: int) -> None:
    cell = SuctionCell(robot, engine, "suction", seed)
    context = cell.context(seed)
    run = run_skill(Pick(), PickParams(object=name, seed=seed), context)
    assert run.outcome.ok, run
    assert cell.cup.object == name
    run = run_skill(Place(), on_tray(seed), replace(context, planning_time_s=0.0))
    assert run.outcome.ok, run
    assert not cell.cup.on


def test_a_load_that_tears_the_seal_is_noticed_on_the_way(robot: Robot, engine: Any) -> None:
    cell = SuctionCell(robot, engine, "suction", 1)
    context = cell.context(1)
    assert run_skill(Pick(), PickParams(object="parcel"), context).outcome.ok
    validate = cell.validate

    def load(*arguments: Any, **named: Any) -> Any:
        cell.sim.world.data.xfrc_applied[cell.sim.world.model.body("parcel").id, 2] = -150.0
        return validate(*arguments, **named)

    cell.validate = load  # type: ignore[method-assign]
    slowly = replace(on_tray(1), max_velocity_scaling_factor=0.2)
    outcome = run_skill(Place(), slowly, context).outcome
    assert outcome.code is Code.OBJECT_DROPPED, outcome
    assert outcome.stage == "transit"
    assert not context.held


def test_a_pick_without_a_seal_says_how_far_the_surface_was(robot: Robot, engine: Any) -> None:
    cell = SuctionCell(robot, engine, "suction", 1)
    move = cell.move

    def slip_down(width_m: float, *, should_stop: Any, **options: Any) -> Any:
        if width_m == 0.0:
            body = cell.sim.world.model.body("table")
            body.pos[2] -= 0.008
            cell.sim.advance(100)
        return move(width_m, should_stop=should_stop, **options)

    cell.move = slip_down  # type: ignore[method-assign]
    params = PickParams(object="parcel", recovery="give_up")
    outcome = run_skill(Pick(), params, cell.context(1)).outcome
    assert outcome.code is Code.NOTHING_GRASPED, outcome
    assert "no seal: 'parcel' is" in outcome.message
    assert outcome.position_error_m == pytest.approx(0.008 - 0.0015, abs=0.001)
    assert outcome.angle_error_rad == pytest.approx(0.0, abs=0.01)
    assert not cell.cup.on


def test_what_is_too_heavy_is_refused_before_anything_moves(robot: Robot, engine: Any) -> None:
    cell = SuctionCell(robot, engine, "suction", 1)
    cell.objects["parcel"] = replace(cell.objects["parcel"], mass_kg=9.0)
    before = cell.sim.measured("ur10_arm")
    outcome = run_skill(Pick(), PickParams(object="parcel"), cell.context(1)).outcome
    assert outcome.code is Code.NO_CANDIDATE
    assert "weighs 9 kg" in outcome.message
    assert abs(cell.sim.measured("ur10_arm") - before).max() < 1e-3


def test_a_parcel_is_taken_off_a_running_belt(robot: Robot, engine: Any) -> None:
    cell = SuctionCell(robot, engine, "belt", 0)
    cell.sim.world.belts.run("belt", BeltSpec((0.0, 0.15, 0.0)))
    cell.sim.advance(round(0.5 / CONTROL_S))
    params = DynamicPickParams(object="parcel", pick_range=(-0.6, 0.4))
    assert run_skill(DynamicPick(), params, cell.context(0)).outcome.ok
    assert cell.cup.object == "parcel"
