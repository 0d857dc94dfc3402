"""``approach_rotate`` with ``rotate``: the measured turn of the object counts, not only its place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contracts.test_skills import carrying
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.testing.fakes import Fakes, blocked
from skill_server.execution.run import run_skill
from skill_server.skills.motion.approach_rotate import ApproachRotate, ApproachRotateParams, RotateSpec

RANDOM = {"type": "random", "rotate_obj_euler": ((170.0, 0.0, 10.0), (190.0, 0.0, 40.0))}


def params(**spec: Any) -> ApproachRotateParams:
    return ApproachRotateParams(target="tray", distance=0.05, rotate=RotateSpec(**spec))


def slipping(angle_rad: float) -> Fakes:
    """The object turns in the hand about its own axis x, which keeps its place."""
    f = carrying()

    def slip(_t: float) -> None:
        here = f.cell.hand_T_object
        turned = here.rotation @ Rotation.from_axis_angle((1.0, 0.0, 0.0), angle_rad)
        f.cell.hand_T_object = Pose.of(here.translation_m, turned)
        f.arm.on_tick = lambda _t: None

    f.arm.on_tick = slip
    return f


@pytest.mark.parametrize("spec", [RANDOM, {"type": "towards"}])
def test_an_object_that_turns_as_asked_is_good(spec: dict[str, Any]) -> None:
    outcome = run_skill(ApproachRotate(), params(**spec), carrying().context).outcome
    assert outcome.ok, outcome
    assert outcome.angle_error_rad < 0.01


@pytest.mark.parametrize("spec", [RANDOM, {"type": "towards"}])
def test_an_object_that_turned_otherwise_is_not_in_place(spec: dict[str, Any]) -> None:
    outcome = run_skill(ApproachRotate(), params(**spec), slipping(0.3).context).outcome
    assert outcome.code is Code.NOT_IN_PLACE
    assert outcome.angle_error_rad == pytest.approx(0.3, abs=0.01)
    assert "0.300 rad from its turn" in outcome.message
    wide = params(**spec, success_threshold=0.35)
    assert run_skill(ApproachRotate(), wide, slipping(0.3).context).outcome.ok


def test_the_turn_of_an_object_that_keeps_its_own_is_not_judged() -> None:
    given = ApproachRotateParams(target="tray", distance=0.05)
    assert run_skill(ApproachRotate(), given, slipping(0.3).context).outcome.ok


def test_another_try_draws_another_turn_and_is_judged_by_it() -> None:
    f = carrying()
    f.planner.refusals = [blocked(Code.PATH_BLOCKED, "gantry/hand", "tray")]
    outcome = run_skill(ApproachRotate(), params(**RANDOM, success_threshold=0.01), f.context).outcome
    assert outcome.ok, outcome
    first, second = (request.goal.q for request in f.planner.plans)
    assert np.abs(first - second).max() > 0.01


def test_a_threshold_out_of_range_is_refused() -> None:
    outcome = run_skill(
        ApproachRotate(), params(type="towards", success_threshold=0.0), carrying().context
    ).outcome
    assert (outcome.code, outcome.field_name) == (Code.BAD_NUMBER, "rotate.success_threshold")
