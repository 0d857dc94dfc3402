"""Place with defaults in physics: with a tool that lies along x, onto a plain table, and where nothing carries."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from handiwork_core.contracts.arrival import ee_pose
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.params.registry import load_catalog
from skill_server.skills import BUILTIN
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from skill_server.task.reading.entries import Site
from skill_server.task.reading.read import read_task
from support.cells.simulated_cell import SimulatedCell
from support.paths import ROBOTS, ROOT

PATIENCE_S = 60.0
"""Steady time for one plan, s: long, so that a busy machine does not change the result."""


@pytest.fixture(scope="module")
def lift2() -> Robot:
    return load_robot(ROBOTS / "lift2")


@pytest.fixture(scope="module")
def lift2_engine(lift2: Robot) -> Iterator[CpuEngine]:
    base = load_scene(ROOT / "config/scenes/lift2_two_arms.yaml").world_T_base
    made = CpuEngine(lift2, base, lambda _part, _what: None)
    yield made
    made.close()


def placed(cell: SimulatedCell, seed: int, name: str, params: PlaceParams) -> ExecutionResult:
    """Pick an object, then place it."""
    context = cell.context(seed)
    run = run_skill(Pick(), PickParams(object=name, allowed_planning_time=PATIENCE_S), context)
    assert run.outcome.ok, run
    params = replace(params, allowed_planning_time=PATIENCE_S)
    return run_skill(Place(), params, replace(context, planning_time_s=0.0, refused=[]))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_hand_whose_tool_lies_along_x_retreats_along_x(
    lift2: Robot, lift2_engine: CpuEngine, side: str, seed: int
) -> None:
    cell = SimulatedCell(lift2, lift2_engine, "lift2_two_arms", seed, f"{side}_arm")
    run = placed(cell, seed, f"{side}_cube", PlaceParams(container=f"{side}_tray"))
    assert run.outcome.ok, run
    assert run.stages[-1].stage == "retreat"


@pytest.mark.parametrize("name", ["can", "peg"])
def test_an_object_of_any_height_is_put_on_a_plain_table(robot: Robot, engine: Any, name: str) -> None:
    cell = SimulatedCell(robot, engine, "assorted", 0)
    run = placed(cell, 0, name, PlaceParams(container="table", success_mode="xybbox"))
    assert run.outcome.ok, run


def test_a_place_beside_the_table_is_refused_and_nothing_is_dropped(robot: Robot, engine: Any) -> None:
    cell = SimulatedCell(robot, engine, "tabletop", 0)
    height = float(cell.snapshot().states["cube"].world_T_object.translation_m[2])
    run = placed(cell, 0, "cube", PlaceParams(container="table", y_ratio_range=(1.1, 1.15)))
    assert (run.outcome.code, run.outcome.field_name) == (Code.NO_CANDIDATE, "y_ratio_range")
    assert "the next surface is 0.69 m too low" in run.outcome.message
    assert float(cell.snapshot().states["cube"].world_T_object.translation_m[2]) > height + 0.02


SIMBOX = """
tasks:
  - skills:
      - fr3:
          - left:
              - {name: pick, objects: [cube]}
              - {name: place, objects: [cube, bin], post_place_vector: null}
"""


def test_a_task_of_the_simbox_format_ends_as_that_format_does(robot: Robot, engine: Any) -> None:
    """Its tolerances are reached, and the hand stays where it let go."""
    cell = SimulatedCell(robot, engine, "tabletop", 0)
    task = read_task(SIMBOX, "simbox", Site(load_catalog(BUILTIN, ()), robot))
    context = cell.context(0)
    runs = []
    for entry in task.entries:
        params = replace(entry.params, allowed_planning_time=PATIENCE_S)
        runs.append(run_skill(entry.skill, params, replace(context, planning_time_s=0.0, refused=[])))
        assert runs[-1].outcome.ok, runs[-1]
    assert runs[-1].stages[-1].stage == "release"
    # 0.1 m over the rim of the bin, which is 0.09 m high, by the hand.
    hand = ee_pose(cell.snapshot(), robot, cell.spec, cell.world_T_base())
    assert hand.translation_m[2] == pytest.approx(0.19, abs=0.002)


def test_a_container_that_is_pushed_at_the_release_does_not_keep_the_hand(
    robot: Robot, engine: Any, tmp_path: Path
) -> None:
    scene = yaml.safe_load((ROOT / "config/scenes/tabletop.yaml").read_text())
    scene["objects"]["bin"] |= {"static": False, "mass": 0.5, "randomize": None}
    (tmp_path / "loose.yaml").write_text(yaml.safe_dump(scene))
    cell = SimulatedCell(robot, engine, os.path.relpath(tmp_path / "loose", ROOT / "config/scenes"), 0)
    move = cell.move

    def open_and_push(width_m: float, *, should_stop: Any, **options: Any) -> Outcome:
        ended = move(width_m, should_stop=should_stop, **options)
        if cell.snapshot().states["cube"].world_T_object.translation_m[1] < -0.2:  # over the bin
            pose = cell.snapshot().states["bin"].world_T_object
            cell.sim.world.set_object_pose("bin", Pose.of((0.0, 0.015, 0.0)) @ pose)
        return ended

    cell.move = open_and_push  # type: ignore[method-assign]
    run = placed(cell, 0, "cube", PlaceParams(container="bin"))
    assert run.outcome.ok, run
    assert run.stages[-1].stage == "retreat"
