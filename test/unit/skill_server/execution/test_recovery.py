"""After a failure: give up, take the next candidate, or grasp again, as the goal asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.testing.fakes import Fakes, blocked
from skill_server.execution.run import run_skill
from skill_server.params.following import MOST_FOLLOWED
from skill_server.skills.pick_place.pick import PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams

from .test_executor import made, pick


def fails_once(fakes: Fakes) -> None:
    """Let the first closing miss."""
    width, closings = dict(fakes.cell.width_of), []
    fakes.cell.width_of = {}
    move = fakes.gripper.move

    def miss(width_m: float, *, should_stop: Any, **options: Any) -> Any:
        if width_m == 0.0:
            closings.append(width_m)
        if len(closings) > 1:
            fakes.cell.width_of = width
        return move(width_m, should_stop=should_stop, **options)

    fakes.gripper.move = miss  # type: ignore[method-assign]


@pytest.mark.parametrize("recovery", ["give_up", "next_candidate"])
def test_a_missed_grasp_ends_the_goal(recovery: str) -> None:
    f = made()
    fails_once(f)
    assert pick(f, PickParams(object="cube", recovery=recovery)).outcome.code is Code.NOTHING_GRASPED


def test_a_missed_grasp_is_repeated_elsewhere() -> None:
    f = made()
    fails_once(f)
    run = pick(f, PickParams(object="cube", recovery="regrasp"))
    assert run.outcome.ok, run.outcome
    assert [s.stage for s in run.stages].count("recover") == 1
    approaches = [p.goal for p in f.planner.plans if hasattr(p.goal, "q")]
    assert np.abs(approaches[0].q - approaches[-1].q).max() > 0.01


def test_attempts_are_bounded() -> None:
    f = made()
    f.cell.width_of = {}
    run = pick(f, PickParams(object="cube", recovery="regrasp", max_attempts=4))
    assert run.outcome.code is Code.NOTHING_GRASPED
    assert [s.stage for s in run.stages].count("grasp") == 4


def test_give_up_takes_no_other_candidate() -> None:
    f = made()
    f.planner.refusals = [blocked(Code.PATH_BLOCKED, "gantry/hand", "tray")]
    assert pick(f, PickParams(object="cube", recovery="give_up")).outcome.code is Code.PATH_BLOCKED
    assert f.arm.followed == 0


def test_another_candidate_is_taken_as_long_as_nothing_was_touched() -> None:
    f = made()
    plan, plans = f.planner.plan, []

    def refuse_descend(request: Any, *, should_stop: Any) -> Any:
        plans.append(request)
        if len(plans) == 2:
            return blocked(Code.PATH_BLOCKED, "gantry/hand", "tray")
        return plan(request, should_stop=should_stop)

    f.planner.plan = refuse_descend  # type: ignore[method-assign]
    assert pick(f).outcome.ok
    assert len(plans) > 3


def test_what_falls_on_the_way_is_picked_up_again_and_placed() -> None:
    f = made()
    assert pick(f).outcome.ok
    drops: list[float] = []

    def drop_once(t: float) -> None:
        if t > 0.3 and not drops:
            drops.append(t)
            f.cell.drop(0.045 / 2)

    f.arm.on_tick = drop_once
    run = run_skill(Place(), PlaceParams(container="tray", recovery="regrasp"), f.context)
    assert run.outcome.ok, run.outcome
    assert f.context.released == "cube"
    assert [s.stage for s in run.stages].count("transit") == 2


def misses_first(fakes: Fakes, misses: int) -> None:
    """Let the next closings miss."""
    width, left = dict(fakes.cell.width_of), [misses]
    move = fakes.gripper.move

    def miss(width_m: float, *, should_stop: Any, **options: Any) -> Any:
        is_missed = width_m == 0.0 and left[0] > 0
        left[0] -= is_missed
        fakes.cell.width_of = {} if is_missed else width
        return move(width_m, should_stop=should_stop, **options)

    fakes.gripper.move = miss  # type: ignore[method-assign]


@pytest.mark.parametrize(("misses", "attempts", "code"), [(1, 3, Code.OK), (2, 3, Code.NOTHING_GRASPED)])
def test_a_grasp_that_misses_what_fell_counts_as_an_attempt_and_is_repeated_elsewhere(
    misses: int, attempts: int, code: Code
) -> None:
    f = made()
    assert pick(f).outcome.ok
    drops: list[float] = []

    def drop_once(t: float) -> None:
        if t > 0.3 and not drops:
            drops.append(t)
            f.cell.drop(0.045 / 2)

    f.arm.on_tick = drop_once
    misses_first(f, misses)
    run = run_skill(
        Place(), PlaceParams(container="tray", recovery="regrasp", max_attempts=attempts), f.context
    )
    assert run.outcome.code is code, run.outcome
    grasps = [s.stage for s in run.stages].count("grasp")
    assert grasps == 2
    assert run.outcome.ok or run.outcome.message.count("trying again failed") == 2
    descents = [p.goal.world_T_ee for p in f.planner.plans if hasattr(p.goal, "world_T_ee")]
    approaches = [p.goal.q[0] for p in f.planner.plans if hasattr(p.goal, "q")]
    assert descents and len({tuple(np.round(q, 6)) for q in approaches}) == len(approaches)


def test_what_missed_the_container_is_placed_again() -> None:
    f = made()
    assert pick(f).outcome.ok
    done: list[int] = []

    def roll_off(call: str) -> None:
        if call == "clock.sleep" and not f.cell.in_hand and f.context.released and not done:
            done.append(1)
            f.cell.poses["cube"] = Pose.of((0.4, 0.1, 0.045 / 2))

    f.cell.before = roll_off
    run = run_skill(Place(), PlaceParams(container="tray", recovery="regrasp"), f.context)
    assert done
    assert run.outcome.ok, run.outcome
    assert [s.stage for s in run.stages].count("release") == 2


@pytest.mark.parametrize(("stage", "retreats"), [("transit", 0), ("descend", 1)])
def test_a_moved_container_is_followed_with_the_object_in_the_hand(stage: str, retreats: int) -> None:
    f = made()
    assert pick(f).outcome.ok
    closings = f.cell.calls.count("gripper.move")
    now: list[str] = []
    f.context.report = lambda progress: now.append(progress.stage)
    in_hand: dict[str, set[str]] = {}

    def push_once(t: float) -> None:
        in_hand.setdefault(now[-1], set()).add(f.cell.in_hand)
        if now[-1] == stage and t > 0.5:
            f.cell.poses["tray"] = Pose.of((0.45, -0.3, 0.01))

    f.arm.on_tick = push_once
    run = run_skill(Place(), PlaceParams(container="tray", recovery="regrasp"), f.context)
    assert run.outcome.ok, run.outcome
    stages = [s.stage for s in run.stages]
    assert (stages.count("recover"), stages.count("transit")) == (retreats, 2)
    assert f.cell.calls.count("gripper.move") == closings + 1
    assert "grasp" not in stages and len([s for s in in_hand if s == "recover"]) == retreats
    carried = [names for name, names in in_hand.items() if name != "retreat"]
    assert all(names == {"cube"} for names in carried)
    assert abs(f.cell.poses["cube"].translation_m[0] - 0.45) < 0.15


def test_a_container_that_never_rests_ends_the_goal_with_the_object_in_the_hand() -> None:
    f = made()
    assert pick(f).outcome.ok

    def push(_t: float) -> None:
        x, y, z = f.cell.poses["tray"].translation_m
        f.cell.poses["tray"] = Pose.of((x + 0.001, y, z))

    f.arm.on_tick = push
    run = run_skill(Place(), PlaceParams(container="tray", recovery="regrasp", max_attempts=3), f.context)
    assert run.outcome.code is Code.OBJECT_MOVED
    assert f"it was followed {MOST_FOLLOWED} times" in run.outcome.message
    assert [s.stage for s in run.stages].count("select") == 1 + MOST_FOLLOWED
    assert f.cell.in_hand == "cube" and set(f.context.held) == {"cube"}


def test_a_stop_during_recovery_stops() -> None:
    f = made()
    f.cell.width_of = {}
    f.context.report = lambda p: f.context.token.set(Code.CANCELED) if p.stage == "recover" else None
    assert pick(f, PickParams(object="cube", recovery="regrasp")).outcome.code is Code.CANCELED
    assert f.arm.stops >= 1


def test_an_unknown_policy_is_refused_before_anything_is_asked() -> None:
    f = made()
    outcome = pick(f, PickParams(object="cube", recovery="pray")).outcome
    assert (outcome.code, outcome.field_name) == (Code.BAD_GOAL, "recovery")
    assert f.cell.calls == ["arm.stop"]
