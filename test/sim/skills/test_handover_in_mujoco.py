"""Two arms hand a cube over in physics: it is let go once the other hand has it, and every end leaves it held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from handiwork_core.contracts.skill import Progress, Token
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.two_arms.handover import Handover, HandoverParams
from skill_server.state.gripper_state import touching_fingers
from support.cells.two_arm_cell import TwoArmCell
from support.paths import ROBOTS, ROOT

SCENE, GIVER, TAKER, CUBE = "lift2_two_arms", "left_arm", "right_arm", "left_cube"
PATIENCE_S = 120.0
GOAL = HandoverParams(object=CUBE, allowed_planning_time=PATIENCE_S, search_time=PATIENCE_S)
HEIGHT_M = 0.05
"""A cube that is let go is lower than this."""
REST_RADPS = 0.02


@pytest.fixture(scope="module")
def lift2() -> Robot:
    return load_robot(ROBOTS / "lift2")


@pytest.fixture(scope="module")
def planner(lift2: Robot) -> Iterator[CpuEngine]:
    base = load_scene(ROOT / f"config/scenes/{SCENE}.yaml").world_T_base
    made = CpuEngine(lift2, base, lambda _part, _what: None)
    yield made
    made.close()


@pytest.fixture
def cell(lift2: Robot, planner: CpuEngine) -> TwoArmCell:
    return TwoArmCell(lift2, planner, SCENE, 0)


def holders(cell: TwoArmCell) -> set[str]:
    """Return the arms that touch the cube with all their fingers."""
    world, found = cell.snapshot(), set[str]()
    for name, arm in cell.robot.arms.items():
        assert arm.gripper is not None
        if len(touching_fingers(world, cell.robot, arm.gripper, CUBE)) == len(arm.gripper.finger_links):
            found.add(name)
    return found


def height(cell: TwoArmCell) -> float:
    return float(cell.snapshot().states[CUBE].world_T_object.translation_m[2])


def test_a_cube_is_picked_and_handed_over_and_never_held_by_nobody(cell: TwoArmCell) -> None:
    held = dict[str, set[str]]()

    def look(progress: Progress) -> None:
        held.setdefault(progress.stage, holders(cell))

    done = cell.run(Handover(), GOAL, GIVER, look)
    assert done.outcome.ok, done.outcome
    assert done.outcome.message == "right_arm holds 'left_cube'"
    assert held["present: move"] == held["take: approach"] == held["take: grasp"] == {GIVER}
    assert held["give: release"] == {GIVER, TAKER}
    assert holders(cell) == {TAKER}
    assert (list(cell.runners[GIVER].held), list(cell.runners[TAKER].held)) == ([], [CUBE])
    again = cell.run(Handover(), GOAL, GIVER)
    assert again.outcome.ok
    assert again.duration_s == 0.0


class Cut:
    """Sets a token some time after a stage has begun."""

    def __init__(self, cell: TwoArmCell, stage: str, steps: int) -> None:
        self.token, self._stage, self._left = Token(), stage, steps
        self._is_armed, self._advance = False, cell.sim.advance
        cell.sim.advance = self._counted  # type: ignore[method-assign]

    def look(self, progress: Progress) -> None:
        self._is_armed |= progress.stage == self._stage

    def _counted(self, steps: int) -> None:
        self._advance(steps)
        self._left -= steps * self._is_armed
        if self._left <= 0:
            self.token.set(Code.CANCELED)


@pytest.mark.parametrize(
    ("stage", "steps", "held_by"),
    [
        pytest.param("present: move", 150, {GIVER}, marks=pytest.mark.nightly),
        pytest.param("take: reach", 100, {GIVER}, marks=pytest.mark.nightly),
        ("take: grasp", 20, {GIVER}),
        ("give: release", 5, {TAKER}),
    ],
)
def test_a_cancel_leaves_both_arms_at_rest_and_the_cube_held_and_the_same_goal_goes_on(
    cell: TwoArmCell, stage: str, steps: int, held_by: set[str]
) -> None:
    cut = Cut(cell, stage, steps)
    ended = cell.run(Handover(), GOAL, GIVER, cut.look, cut.token)
    assert (ended.outcome.code, ended.outcome.stage) == (Code.CANCELED, stage), ended.outcome
    cell.sim.advance(200)
    assert cell.moving() < REST_RADPS
    assert height(cell) > HEIGHT_M
    assert held_by <= holders(cell)
    assert any(
        f"{CUBE!r} is held by" in ended.outcome.message and arm in ended.outcome.message for arm in held_by
    )
    done = cell.run(Handover(), GOAL, GIVER)
    assert done.outcome.ok, done.outcome
    assert holders(cell) == {TAKER}


def test_a_hand_that_does_not_close_leaves_the_cube_with_the_other_and_steps_back(cell: TwoArmCell) -> None:
    port, sent = cell.ports[TAKER], list[float]()
    move = port.move

    def stuck(width_m: float, *, should_stop: Any, **options: Any) -> Outcome:
        sent.append(width_m)
        return move(width_m, should_stop=should_stop, **options) if width_m > 0.0 else OK

    port.move = stuck  # type: ignore[method-assign]
    pick = PickParams(object=CUBE, allowed_planning_time=PATIENCE_S)
    assert cell.run(Pick(), pick, GIVER).outcome.ok
    goal = HandoverParams(allowed_planning_time=PATIENCE_S, search_time=PATIENCE_S, max_attempts=1)
    failed = cell.run(Handover(), goal, GIVER)
    assert (failed.outcome.code, failed.outcome.stage) == (Code.NOTHING_GRASPED, "take: grasp")
    assert failed.outcome.message.endswith(f"{CUBE!r} is held by {GIVER}")
    assert 0.0 in sent
    assert "step back: retreat" in [report.stage for report in failed.stages]
    assert holders(cell) == {GIVER}
    assert height(cell) > HEIGHT_M
    assert not cell.runners[TAKER].held


def test_goals_that_cannot_be_done_are_refused_in_words_before_anything_moves(cell: TwoArmCell) -> None:
    before_s = cell.sim.world.time_s
    nothing = cell.run(Handover(), HandoverParams(), GIVER).outcome
    assert (nothing.code, nothing.message) == (
        Code.CONTRADICTION,
        "the gripper holds nothing; pick an object first",
    )
    assert cell.sim.world.time_s - before_s < 1.0
