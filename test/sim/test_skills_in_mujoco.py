"""Pick and place with the CPU engine and physics: what is held is held by friction, what is dropped falls. No ROS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from simulated_cell import ROOT, SimulatedCell

from handiwork_core.geometry import Pose
from handiwork_core.outcome import Code
from handiwork_core.robot import Robot
from handiwork_core.robot_loader import load_robot
from planner_node.engines.cpu_engine import CpuEngine
from skill_server.executor import run_skill
from skill_server.skills.pick import Pick, PickParams
from skill_server.skills.place import Place, PlaceParams


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(ROOT / "src/robot_description/robots/fr3")


@pytest.fixture(scope="module")
def engine(robot: Robot) -> Any:
    made = CpuEngine(robot, Pose.identity(), lambda _part, _what: None)
    yield made
    made.close()


CASES = [("tabletop", "cube", seed) for seed in range(4)] + [
    ("assorted", name, 0) for name in ("can", "ball", "peg", "hammer")
]


@pytest.mark.parametrize(("scene", "name", "seed"), [*CASES, ("blocked", "cube", 0)])
def test_pick_and_place(robot: Robot, engine: Any, scene: str, name: str, seed: int) -> None:
    cell = SimulatedCell(robot, engine, scene, seed)
    context = cell.context(seed)
    run = run_skill(Pick(), PickParams(object=name, seed=seed), context)
    assert run.outcome.ok, run
    run = run_skill(Place(), PlaceParams(container="bin", seed=seed), replace(context, planning_time_s=0.0))
    assert run.outcome.ok, run


def test_a_dropped_object_is_noticed_while_it_is_carried(robot: Robot, engine: Any) -> None:
    cell = SimulatedCell(robot, engine, "tabletop", 0)
    context = cell.context(0)
    assert run_skill(Pick(), PickParams(object="cube"), context).outcome.ok
    validate = cell.validate

    def lose_it(*arguments: Any, **named: Any) -> Any:
        verdict = validate(*arguments, **named)
        cell.sim.world.set_object_pose("cube", Pose.of((0.5, 0.3, 0.03)))
        return verdict

    cell.validate = lose_it  # type: ignore[method-assign]
    outcome = run_skill(
        Place(), PlaceParams(container="bin", max_velocity_scaling_factor=0.2), context
    ).outcome
    assert outcome.code is Code.OBJECT_DROPPED
    assert not context.held
