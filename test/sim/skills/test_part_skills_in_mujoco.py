"""Open, close and rotate in physics, with the CPU engine; a cube in the drawer moves with it. No ROS."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from handiwork_core.contracts.skill import Skill
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import part_positions
from handiwork_core.robot.robot import Robot
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.skills.articulated.artpreplan import ArtPreplan, ArtPreplanParams
from skill_server.skills.articulated.close import Close, CloseParams
from skill_server.skills.articulated.open import Open, OpenParams
from skill_server.skills.articulated.rotate import Rotate, RotateParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from support.cells.simulated_cell import SimulatedCell
from support.paths import ROOT


class Bench:
    """A cell that runs skills one after another."""

    def __init__(self, robot: Robot, engine: Any, scene: str, seed: int) -> None:
        self.cell = SimulatedCell(robot, engine, scene, seed)
        self.context = self.cell.context(seed)

    def run(self, skill: Skill[Any], params: Any) -> ExecutionResult:
        context = replace(self.context, planning_time_s=0.0, refused=[])
        return run_skill(skill, replace(params, allowed_planning_time=60.0), context)

    def position(self, part: str) -> float:
        world = self.cell.snapshot()
        return part_positions(world.objects, world.states)[part]


@pytest.mark.parametrize(("scene", "range_"), [("drawer", 0.24), ("door", 1.4)])
def test_open_and_close_again(robot: Robot, engine: Any, scene: str, range_: float) -> None:
    bench = Bench(robot, engine, scene, 3)
    opened = bench.run(Open(), OpenParams(object=scene))
    assert opened.outcome.ok, opened
    assert bench.position(scene) == pytest.approx(0.8 * range_, abs=0.03 * range_)
    closed = bench.run(Close(), CloseParams(object=scene))
    assert closed.outcome.ok, closed
    assert bench.position(scene) == pytest.approx(0.0, abs=0.03 * range_)


def test_turn_a_knob_there_and_back(robot: Robot, engine: Any) -> None:
    bench = Bench(robot, engine, "knob", 3)
    start = bench.position("knob")
    for angle in (0.785, -0.5):
        run = bench.run(Rotate(), RotateParams(object="stove", angle=angle))
        assert run.outcome.ok, run
    assert bench.position("knob") == pytest.approx(start + 0.285, abs=0.08)


def test_planning_ahead_moves_nothing(robot: Robot, engine: Any) -> None:
    bench = Bench(robot, engine, "door", 3)
    q = bench.cell.sim.measured(bench.cell.spec.name)
    run = bench.run(ArtPreplan(), ArtPreplanParams(object="door"))
    assert run.outcome.ok, run
    assert np.abs(bench.cell.sim.measured(bench.cell.spec.name) - q).max() < 1e-3


def test_a_drawer_that_jams_ends_with_a_named_cause_and_the_arm_at_rest(robot: Robot, engine: Any) -> None:
    bench = Bench(robot, engine, "drawer", 3)
    joint = bench.cell.sim.world.model.joint("drawer")
    start = bench.position("drawer")
    bench.cell.sim.world.model.jnt_range[joint.id] = (0.0, start + 0.04)
    run = bench.run(Open(), OpenParams(object="drawer"))
    assert run.outcome.code in (Code.PATH_TOLERANCE, Code.NOT_IN_PLACE, Code.OBJECT_DROPPED, Code.NOT_REACHED)
    assert run.outcome.stage == "move", run
    speeds = bench.cell.snapshot().joints.velocity
    assert max(abs(speeds[name]) for name in bench.cell.spec.joint_names) < 0.02


def test_what_lies_in_a_drawer_goes_along_and_can_be_taken_out(
    robot: Robot, engine: Any, tmp_path: Path
) -> None:
    scene = yaml.safe_load((ROOT / "config/scenes/drawer.yaml").read_text())
    cabinet = scene["articulations"]["cabinet"]
    cabinet.pop("randomize")
    cabinet["parts"]["drawer"]["joint"].pop("randomize")
    scene["objects"]["cube"] = {
        "mass": 0.05,
        "friction": 0.9,
        "pose": {"position": [0.70, 0.0, 0.30]},
        "shapes": [{"type": "box", "size": [0.04, 0.04, 0.04]}],
    }
    (tmp_path / "full.yaml").write_text(yaml.safe_dump(scene))
    bench = Bench(robot, engine, os.path.relpath(tmp_path / "full", ROOT / "config/scenes"), 0)
    before = bench.cell.snapshot().states["cube"].world_T_object.translation_m
    opened = bench.run(Open(), OpenParams(object="drawer"))
    assert opened.outcome.ok, opened
    after = bench.cell.snapshot().states["cube"].world_T_object.translation_m
    assert after == pytest.approx(before - (bench.position("drawer"), 0.0, 0.0), abs=0.02)
    picked = bench.run(Pick(), PickParams(object="cube"))
    assert picked.outcome.ok, picked
