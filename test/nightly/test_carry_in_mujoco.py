"""Two arms carry a bar in physics: the hands keep their places on it, and a cancel leaves it in both of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from handiwork_core.contracts.arrival import ee_pose
from handiwork_core.contracts.skill import Progress, Token
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.skills.two_arms.carry import Carry, CarryParams
from support.cells.two_arm_cell import TwoArmCell
from support.paths import ROBOTS, ROOT

SCENE, BAR = "lift2_carry", "bar"
PLAN_S, SEARCH_S = 120.0, 300.0
APART_M, APART_RAD = 0.005, 0.02
"""Largest measured change of the pose of one hand in the other."""
REST_RADPS = 0.02
UNDER_WAY = 15
"""Looks at a motion, one each 20 ms, after which it is canceled: the shortest ones take 0.8 s."""


@pytest.fixture
def cell() -> Iterator[TwoArmCell]:
    robot = load_robot(ROBOTS / "lift2")
    base = load_scene(ROOT / f"config/scenes/{SCENE}.yaml").world_T_base
    planner = CpuEngine(robot, base, lambda _part, _what: None)
    yield TwoArmCell(robot, planner, SCENE, 0)
    planner.close()


def hand_in_hand(cell: TwoArmCell) -> Pose:
    world = cell.snapshot()
    first, other = (
        ee_pose(world, cell.robot, port.spec, port.world_T_base()) for port in cell.ports.values()
    )
    return first.inverse() @ other


def test_a_bar_is_carried_level_and_a_cancel_leaves_it_in_both_hands(cell: TwoArmCell) -> None:
    x, y, _ = cell.snapshot().states[BAR].world_T_object.translation_m.tolist()
    goal = CarryParams(
        object=BAR,
        position=(x + 0.05, y + 0.06),
        yaw=10.0,
        search_time=SEARCH_S,
        allowed_planning_time=PLAN_S,
    )
    token, seen, stage, moved = Token(), list[Pose](), [""], [0]

    def look() -> None:
        seen.append(hand_in_hand(cell))
        moved[0] += stage[0] == "carry: move"
        if moved[0] == UNDER_WAY:
            token.set(Code.CANCELED)

    def follow(progress: Progress) -> None:
        stage[0] = progress.stage

    cell.together.watch = look
    ended = cell.run(Carry(), goal, "left_arm", follow, token)
    assert (ended.outcome.code, ended.outcome.stage) == (Code.CANCELED, "carry: move"), ended.outcome
    assert ended.outcome.message.endswith("'bar' is held by left_arm and right_arm")
    assert cell.moving() < REST_RADPS
    assert cell.snapshot().states[BAR].world_T_object.translation_m[2] > 0.05
    stage[0] = ""
    done = cell.run(Carry(), goal, "left_arm")
    assert done.outcome.ok, done.outcome
    assert not any(one.stage.startswith("grasp") for one in done.stages)
    off = [seen[0].distance_to(one) for one in seen]
    assert np.max([off_m for off_m, _ in off]) < APART_M
    assert np.max([off_rad for _, off_rad in off]) < APART_RAD
