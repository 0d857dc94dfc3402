"""The steps of a composite skill: each named in feedback and failures, chosen by how the one before ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from contracts.test_arm_skills import held_by_both
from handiwork_core.contracts.composite import CompositeSkill, SkillStep, Steps
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.testing.fakes import Fakes
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.skills.motion.home import Home, HomeParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from support.cells.gantry_pair import FIRST, OTHER

from .test_executor import made

PICK = SkillStep("first", Pick(), PickParams(object="cube"), 1)
PLACE = SkillStep("then", Place(), PlaceParams(container="tray"))
MISSING = SkillStep("first", Pick(), PickParams(object="cub"), 1)


@dataclass(frozen=True)
class Sequence(CompositeSkill[SkillParams]):
    """The steps that a test gives."""

    of: Callable[[Context], Steps]
    judged: Outcome = OK
    name = "sequence"
    params_type = SkillParams

    def is_feasible(self, params: SkillParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        return OK

    def steps(self, params: SkillParams, context: Context) -> Steps:
        yield from self.of(context)

    def is_success(self, params: SkillParams, before: World, after: World, context: Context) -> Outcome:
        return self.judged


def both(_context: Context) -> Steps:
    for step in (PICK, PLACE):
        outcome = yield step
        if not outcome.ok:
            raise StepFailed(outcome)


def run(f: Fakes, of: Callable[[Context], Steps] = both, judged: Outcome = OK) -> ExecutionResult:
    return run_skill(Sequence(of, judged), SkillParams(), f.context)


def test_the_stages_are_named_by_their_steps_and_the_progress_rises_to_one() -> None:
    f, seen = made(), list[tuple[str, float]]()
    f.context.report = lambda progress: seen.append((progress.stage, progress.fraction))
    done = run(f)
    assert done.outcome.ok, done.outcome
    stages = [report.stage for report in done.stages]
    assert stages[:3] == ["select", "first: select", "first: open"]
    assert stages[-1] == "select"
    assert "then: release" in stages
    fractions = [fraction for _, fraction in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1.0)
    begins = next(fraction for stage, fraction in seen if stage == "then: transit")
    assert 0.5 <= begins < 1.0
    assert done.duration_s == pytest.approx(sum(report.duration_s for report in done.stages))


def test_a_failed_step_is_named_once_and_stops_the_arm() -> None:
    f = made()

    def of(_context: Context) -> Steps:
        outcome = yield MISSING
        raise StepFailed(outcome)

    done = run(f, of)
    assert done.outcome.code is Code.UNKNOWN_OBJECT
    assert done.outcome.stage == "first: check"
    assert done.outcome.message.startswith("first: no object 'cub'")
    assert f.arm.stops >= 1


def test_the_skill_may_go_on_after_a_failed_step_with_the_arm_at_rest() -> None:
    f = made()

    def of(context: Context) -> Steps:
        outcome = yield MISSING
        assert outcome.code is Code.UNKNOWN_OBJECT
        assert f.arm.stops == 1
        assert not context.held
        yield PICK
        assert set(context.held) == {"cube"}

    done = run(f, of)
    assert done.outcome.ok, done.outcome
    assert f.arm.stops == 1
    assert f.cell.calls.index("arm.stop") < f.cell.calls.index("arm.follow")


def test_the_next_step_is_chosen_without_a_record_of_what_fell() -> None:
    f = made()

    def of(context: Context) -> Steps:
        yield PICK
        f.cell.drop()
        yield PICK
        assert set(context.held) == {"cube"}
        f.cell.drop()
        outcome = yield MISSING
        assert not outcome.ok
        assert not context.held

    assert run(f, of).outcome.ok


def test_each_step_begins_with_random_choices_of_its_seed() -> None:
    drawn = list[float]()

    class Drawing(Pick):
        def is_feasible(self, params: PickParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
            drawn.append(float(f.context.rng.random()))
            return Outcome(Code.BAD_GOAL, "drawn")

    def of(_context: Context) -> Steps:
        for seed in (3, 4, 3):
            yield SkillStep("draw", Drawing(), PickParams(object="cube", seed=seed))

    f = made()
    assert run(f, of).outcome.ok
    assert drawn[0] == drawn[2] != drawn[1]


def test_the_judgement_names_the_last_step() -> None:
    done = run(made(), judged=Outcome(Code.NOT_IN_PLACE, "it fell over"))
    assert (done.outcome.code, done.outcome.stage) == (Code.NOT_IN_PLACE, "then: judge")


def test_a_stop_between_two_steps_keeps_the_object_in_the_hand() -> None:
    f = made()

    def of(context: Context) -> Steps:
        yield PICK
        context.token.set(Code.CANCELED)
        yield PLACE

    done = run(f, of)
    assert done.outcome.code is Code.CANCELED
    assert set(f.context.held) == {"cube"}
    assert f.arm.stops == 1


def test_the_goal_s_own_arm_judges_also_where_another_arm_does_the_last_step() -> None:
    given, _ = held_by_both()
    judged_by = list[str]()

    class Judged(Sequence):
        def is_success(self, params: SkillParams, before: World, after: World, context: Context) -> Outcome:
            judged_by.append(context.arm_spec.name)
            return OK

    def home_of_the_other(_context: Context) -> Steps:
        yield SkillStep("away", Home(), HomeParams(), 0, OTHER)

    assert run_skill(Judged(home_of_the_other), SkillParams(), given.context).outcome.ok
    assert judged_by == [FIRST]
