"""A run among other arms: a late trajectory is planned again, and the arm that must yield goes home first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.planning import ShouldStop, Verdict
from handiwork_core.contracts.skill import Skill
from handiwork_core.model.outcome import Code
from handiwork_core.testing.fakes import Fakes, blocked
from skill_server.execution.run import run_skill
from skill_server.params.retry_policy import MOST_YIELDS
from skill_server.skills.motion.goto_pose import GotoPose, GotoPoseParams
from skill_server.skills.motion.heuristic_skill import HeuristicSkill, HeuristicSkillParams
from skill_server.skills.motion.joint_ctrl import JointCtrl, JointCtrlParams
from skill_server.skills.motion.move import Move, MoveParams
from skill_server.skills.pick_place.pick import PickParams

from .test_executor import made, pick

IN_THE_WAY = blocked(Code.ARM_IN_THE_WAY, "gantry/hand", "other")


@dataclass
class ReservedPath:
    """A scripted right of way."""

    yields: bool = True
    tries: int = 5
    asked: list[str] = field(default_factory=list)
    committed: list[bool] = field(default_factory=list)
    why: str = "it stays there"

    def may_try_again(self, refusals: int, should_stop: ShouldStop) -> bool:
        self.asked.append(f"again {refusals}")
        return refusals <= self.tries

    def should_yield(self) -> bool:
        return self.yields

    def mark_irreversible(self, is_committed: bool) -> None:
        self.committed.append(is_committed)

    def yield_until_clear(self, should_stop: ShouldStop) -> None:
        self.asked.append("let pass")


def among_others(way: ReservedPath) -> Fakes:
    f = made()
    f.context.right_of_way = way
    return f


def late(f: Fakes, count: int) -> None:
    """Have the first trajectories refused because another arm is too near them by now."""
    validate, refusals = f.planner.validate, [1] * count

    def refuse(*args: object, **options: object) -> Verdict:
        if refusals:
            refusals.pop()
            return Verdict(Code.ARM_IN_THE_WAY, "too near")
        return validate(*args, **options)  # type: ignore[arg-type]

    f.planner.validate = refuse  # type: ignore[method-assign]


def test_who_is_to_make_room_goes_home_lets_pass_and_chooses_anew() -> None:
    way = ReservedPath()
    f = among_others(way)
    f.planner.refusals = [IN_THE_WAY]
    run = pick(f, PickParams(object="cube", pre_grasp_offset=0.1))
    assert run.outcome.ok, run.outcome
    stages = [s.stage for s in run.stages]
    assert stages.count("make room") == 1 and stages.count("select") == 2
    assert way.asked == ["let pass"]
    assert way.committed[0] is False and way.committed[-1] is True


def test_an_arm_that_has_gripped_does_not_go_home() -> None:
    way = ReservedPath()
    f = among_others(way)
    validate, count = f.planner.validate, []

    def late(*args: object, **options: object) -> Verdict:
        count.append(1)
        return Verdict(Code.ARM_IN_THE_WAY, "too near") if f.cell.in_hand else validate(*args, **options)  # type: ignore[arg-type]

    f.planner.validate = late  # type: ignore[method-assign]
    way.tries = 0
    run = pick(f, PickParams(object="cube"))
    assert run.outcome.code is Code.ARM_IN_THE_WAY and run.outcome.stage == "lift"
    assert "make room" not in [s.stage for s in run.stages]


def test_room_is_made_a_few_times_only() -> None:
    way = ReservedPath()
    f = among_others(way)
    home = f.context.arm_spec.home_q
    plan = f.planner.plan

    def only_home(request, *, should_stop):  # type: ignore[no-untyped-def]
        at_home = hasattr(request.goal, "q") and np.abs(request.goal.q[0] - home).max() < 1e-9
        return plan(request, should_stop=should_stop) if at_home else IN_THE_WAY

    f.planner.plan = only_home  # type: ignore[method-assign]
    run = pick(f, PickParams(object="cube"))
    assert run.outcome.code is Code.ARM_IN_THE_WAY
    assert way.asked.count("let pass") == MOST_YIELDS


@pytest.mark.parametrize(("tries", "code"), [(5, Code.OK), (1, Code.ARM_IN_THE_WAY)])
def test_a_refused_trajectory_is_planned_anew_as_often_as_there_is_use_in_it(tries: int, code: Code) -> None:
    way = ReservedPath(yields=False, tries=tries)
    f = among_others(way)
    late(f, 2)
    run = pick(f, PickParams(object="cube"))
    assert run.outcome.code is code
    assert way.asked == ["again 1", "again 2"]
    assert run.outcome.ok or run.outcome.message.endswith("too near; it stays there")


def test_without_other_arms_it_ends_the_goal() -> None:
    f = made()
    f.planner.refusals = [IN_THE_WAY]
    assert pick(f, PickParams(object="cube")).outcome.code is Code.ARM_IN_THE_WAY


BEGUN = np.array([0.45, 0.1, 0.5, 0.1, 0.0, 3.0])
RELATIVE = [
    (Move(), MoveParams(delta_trans=((0.05, 0.02, 0.0),), straight=False)),
    (Move(), MoveParams(delta_trans=((0.05, 0.02, 0.0),))),
    (Move(), MoveParams(delta_trans=((0.05, 0.0, 0.0), (0.05, 0.05, 0.0)), blend_radii=(0.01,))),
    (HeuristicSkill(), HeuristicSkillParams(mode="rel_ee", value=(0.05, 0.02, 0.0))),
    (HeuristicSkill(), HeuristicSkillParams(mode="rel_qpos", value=(0.05, 0.02, 0.0, 0.1, 0.0, 0.0))),
    (JointCtrl(), JointCtrlParams(ctrl_list=((3, 5.0, "delta"),))),
    (GotoPose(), GotoPoseParams(position=(0.5, 0.1, 0.4))),
]


@pytest.mark.parametrize(("skill", "params"), RELATIVE, ids=lambda v: v.name if isinstance(v, Skill) else "")
def test_a_relative_goal_refers_to_the_place_where_the_run_began(skill: Skill[Any], params: Any) -> None:
    ends = []
    for refused in (0, 1):
        f = among_others(ReservedPath(tries=0))
        f.cell.q = BEGUN.copy()
        late(f, refused)
        run = run_skill(skill, params, f.context)
        assert run.outcome.ok, run.outcome
        assert [s.stage for s in run.stages].count("make room") == refused
        ends.append(f.cell.q.copy())
    assert ends[1] == pytest.approx(ends[0], abs=1e-6)
    assert np.abs(ends[0] - BEGUN).max() > 0.01
