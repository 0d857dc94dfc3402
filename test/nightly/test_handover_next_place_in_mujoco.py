"""A cube is handed over with a look at its place, and the other arm then puts it there with the same grasp."""

from __future__ import annotations

import pytest

from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.placing.params import PlaceParams
from skill_server.skills.motion.home import Home, HomeParams
from skill_server.skills.pick_place.place import Place
from skill_server.skills.two_arms.handover import Handover, HandoverParams
from support.cells.two_arm_cell import TwoArmCell
from support.paths import ROBOTS, ROOT

SCENE, CUBE, TRAY = "lift2_two_arms", "left_cube", "right_tray"
PLAN_S, SEARCH_S = 120.0, 300.0
INSIDE_M = 0.1
"""Half the width of a tray is less."""


@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_handed_over_for_a_place_is_placed_there(seed: int) -> None:
    robot = load_robot(ROBOTS / "lift2")
    base = load_scene(ROOT / f"config/scenes/{SCENE}.yaml").world_T_base
    planner = CpuEngine(robot, base, lambda _part, _what: None)
    cell = TwoArmCell(robot, planner, SCENE, seed)
    place = PlaceParams(container=TRAY, allowed_planning_time=PLAN_S)
    goal = HandoverParams(
        object=CUBE, next_place=place, allowed_planning_time=PLAN_S, search_time=SEARCH_S, seed=seed
    )
    given = cell.run(Handover(), goal, "left_arm")
    assert given.outcome.ok, given.outcome
    assert list(cell.runners["right_arm"].held) == [CUBE]
    home = cell.run(Home(), HomeParams(allowed_planning_time=PLAN_S), "left_arm")
    assert home.outcome.ok, home.outcome
    placed = cell.run(Place(), place, "right_arm")
    planner.close()
    assert placed.outcome.ok, placed.outcome
    world = cell.snapshot()
    off = world.states[CUBE].world_T_object.translation_m - world.states[TRAY].world_T_object.translation_m
    assert abs(off[:2]).max() < INSIDE_M
    assert not any(cell.runners[arm].held for arm in cell.runners)
