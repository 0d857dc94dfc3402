"""The skills that press with a force keep the contract: also with a stop in the middle of the contact."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.skill import Skill
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.testing.fakes import Fakes, fakes
from handiwork_core.testing.gantry import TCP_M, gantry_pose, gantry_q
from handiwork_core.testing.skill_contract import SkillContract
from skill_server.execution.run import run_skill
from skill_server.skills.contact.insert import Insert, InsertParams
from skill_server.skills.contact.press import Press, PressParams
from skill_server.skills.contact.wipe import Wipe, WipeParams
from support.cells.yielding_gantry import FakeCompliance, yielding

from . import test_skills

TRAY_TOP_M = 0.02
HOLE = np.array((0.4, -0.3))
OFF_M = 0.001
"""The hole is at least this far from where it was said to be."""
PRESS = PressParams(object="tray", duration=0.1, distance=0.006)
WIPE = WipeParams(object="tray", points=((0.0, 0.0, 0.01), (0.002, 0.0, 0.01)), speed=0.05)
INSERT = InsertParams(container="tray", position=(0.0, 0.0, 0.01), depth=0.004, search_radius=0.002)


def over_the_tray(seed: int = 0) -> tuple[Fakes, FakeCompliance]:
    """Return a gantry whose empty hand points down, 3 mm over the tray."""
    made = fakes(test_skills.cell(), seed)
    down = gantry_pose(np.array([0, 0, 0, 0, 0, np.pi])).rotation
    made.cell.q = gantry_q(Pose.of((0.4, -0.3, TRAY_TOP_M + TCP_M + 0.003), down))
    return yielding(made, lambda _point: TRAY_TOP_M + TCP_M)


def over_the_hole(seed: int = 0) -> tuple[Fakes, FakeCompliance]:
    """Return a gantry that holds a cube as a peg, whose hole is beside the place that the goal names."""
    rests_m = TRAY_TOP_M + TCP_M + test_skills.CUBE_M / 2.0

    def floor(point: Array) -> float:
        return rests_m if np.linalg.norm(point - HOLE) < OFF_M else rests_m - 0.01

    return yielding(test_skills.carrying(seed), floor)


def suite(good: Any, unknown: Any, skill: type[Skill[Any]], world: Any) -> type[SkillContract[Any]]:
    """Return the contract's tests of one skill."""

    class Suite(SkillContract[Any]):
        run = staticmethod(run_skill)

        def skill(self) -> Skill[Any]:
            return skill()

        def params(self) -> Any:
            return good

        def unknown(self) -> Any:
            return unknown

        def fakes(self, seed: int = 0) -> Fakes:
            made: Fakes = world(seed)[0]
            return made

    return Suite


TestPress = suite(PRESS, replace(PRESS, object="tary"), Press, over_the_tray)
TestWipe = suite(WIPE, replace(WIPE, object="tary"), Wipe, over_the_tray)
TestInsert = suite(INSERT, replace(INSERT, container="tary"), Insert, over_the_hole)
SUITES = (TestPress, TestWipe, TestInsert)


@pytest.mark.parametrize(
    ("skill", "params", "world"),
    [(Press(), PRESS, over_the_tray), (Wipe(), WIPE, over_the_tray), (Insert(), INSERT, over_the_hole)],
)
def test_after_the_work_and_after_a_stop_anywhere_the_arm_yields_no_more(
    skill: Skill[Any], params: Any, world: Any
) -> None:
    made, compliance = world()
    assert run_skill(skill, params, made.context).outcome.ok
    assert not compliance.settings.yields and not compliance.pushed.any()
    pushes = [i for i, call in enumerate(made.cell.calls) if call.startswith("compliance.")]
    for i in pushes:
        again, compliance = world()

        def stop(_call: str, at: int = i, of: Fakes = again) -> None:
            if len(of.cell.calls) == at + 1:
                of.context.token.set(Code.CANCELED)

        again.cell.before = stop
        done = run_skill(skill, params, again.context).outcome
        assert done.code is Code.CANCELED, (i, done)
        assert not compliance.settings.yields and not compliance.pushed.any(), i


def test_a_peg_beside_its_hole_is_searched_for_and_inserted_by_the_depth() -> None:
    made, _ = over_the_hole()
    done = run_skill(Insert(), INSERT, made.context).outcome
    assert done.ok, done
    end = made.cell.poses["cube"].translation_m[2] - test_skills.CUBE_M / 2.0
    assert end == pytest.approx(TRAY_TOP_M - INSERT.depth, abs=0.002)
    assert "arm.follow" in made.cell.calls and made.cell.in_hand == "cube"


def test_without_a_hole_the_search_ends_in_words_with_the_peg_in_the_hand() -> None:
    made, _ = over_the_hole()
    rests_m = TRAY_TOP_M + TCP_M + test_skills.CUBE_M / 2.0
    _, compliance = yielding(made, lambda _point: rests_m)
    done = run_skill(Insert(), INSERT, made.context).outcome
    assert done.code is Code.NOT_REACHED
    assert "no hole was found within 2 mm of where it was expected" in done.message
    assert made.cell.in_hand == "cube" and not compliance.settings.yields
