"""Every built-in skill is previewed without code of its own: nothing moves, and its plan is executed as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.testing.fakes import Fakes
from handiwork_core.testing.skill_contract import MOTION_CALLS, SkillContract
from skill_server.preview.previewed_skill import execute_plan
from skill_server.preview.rehearsed_run import PreviewResult, preview_skill

from . import test_arm_skills

SUITES: dict[str, type[SkillContract[Any]]] = {
    **{name: item for name, item in vars(test_arm_skills).items() if name.startswith("Test")},
    **{item.__qualname__ + str(i): item for i, item in enumerate(test_arm_skills.ELSEWHERE)},
}
UNFORESEEN = {
    "mobile_translate",
    "mobile_rotate",
    "navigate",
    "insert",
    "press",
    "wipe",
    "run_policy",
}
"""The skills that drive the base, yield to a force, or ask a policy."""
ONE_SET_OF_JOINTS = {"carry"}
"""The skills that move both arms apart: the joints of the two gantries have the same names. Physics tests them."""


def previewed(suite: SkillContract[Any], fakes: Fakes) -> PreviewResult:
    result = preview_skill(suite.skill(), suite.params(), fakes.context)
    assert not set(fakes.cell.calls) & {*MOTION_CALLS, "arm.stop", "clock.sleep"}
    return result


def followed(fakes: Fakes) -> list[Trajectory]:
    """Return a list that gets every motion which is sent from now on."""
    made, follow = list[Trajectory](), fakes.arm.follow

    def record(trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        made.append(trajectory)
        return follow(trajectory, should_stop=should_stop)

    fakes.arm.follow = record  # type: ignore[method-assign]
    return made


@pytest.mark.parametrize("name", SUITES)
def test_a_preview_moves_nothing_and_is_executed_as_it_is(name: str) -> None:
    suite = SUITES[name]()
    if suite.skill().name in ONE_SET_OF_JOINTS:
        pytest.skip("the fakes have one set of joints for both arms")
    fakes = suite.fakes()
    before, held = fakes.cell.q.copy(), dict(fakes.context.held)
    result = previewed(suite, fakes)
    assert np.array_equal(fakes.cell.q, before)
    assert dict(fakes.context.held) == held
    skill = suite.skill().name
    if skill in UNFORESEEN:
        assert (result.outcome.code, result.plan) == (Code.UNSUPPORTED, None)
        assert skill in result.outcome.message
        return
    assert result.outcome.ok, result.outcome
    assert result.plan is not None
    sent, plans = followed(fakes), len(fakes.planner.plans)
    ended = execute_plan(result.plan, fakes.context)
    assert ended.outcome.ok, ended.outcome
    assert (len(fakes.planner.plans), ended.planning_time_s) == (plans, 0.0)
    assert len(sent) == len(result.plan.motions)
    for motion, planned in zip(sent, result.plan.motions, strict=True):
        assert np.array_equal(motion.q, planned.trajectory.q)
        assert np.array_equal(motion.t_s, planned.trajectory.t_s)
