"""Carry: goals that cannot be done are refused by field; what fails on one arm stops both."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contracts.test_arm_skills import held_from_above
from handiwork_core.contracts.planning import PathRest, SceneQuery, Verdict
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.outcome import BodyPair, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.testing.gantry import gantry
from skill_server.carrying.grasp_pairs import HandGrasp, pairs
from skill_server.execution.run import run_skill
from skill_server.skills.two_arms.carry import Carry, CarryParams
from support.cells.gantry_pair import FIRST, OTHER

AT = (0.45, 0.1)
GOAL = CarryParams(object="cube", position=AT)


@pytest.mark.parametrize(
    ("changes", "field_name", "code", "words"),
    [
        ({"with_arm": "third"}, "with_arm", Code.BAD_GOAL, "use one of ['other']"),
        ({"with_arm": FIRST}, "with_arm", Code.BAD_GOAL, "is the arm of the goal"),
        ({"object": "cub"}, "object", Code.UNKNOWN_OBJECT, "cube"),
        ({"object": "tray"}, "object", Code.BAD_GOAL, "cannot move"),
        ({"position": (11.0, 0.0)}, "position[0]", Code.BAD_NUMBER, "-10 to 10 m"),
        ({"yaw": 500.0}, "yaw", Code.BAD_NUMBER, "-360 to 360 deg"),
        ({"on": "tary"}, "on", Code.UNKNOWN_OBJECT, "tray"),
        ({"lift": 0.0}, "lift", Code.BAD_NUMBER, "0.01 to 0.5 m"),
        ({"tool_speed": 2.0}, "tool_speed", Code.BAD_NUMBER, "0.01 to 0.5 m/s"),
    ],
)
def test_a_goal_that_cannot_be_done_is_refused_by_field_and_nothing_moves(
    changes: dict[str, object], field_name: str, code: Code, words: str
) -> None:
    first, _ = held_from_above()
    outcome = run_skill(Carry(), replace(GOAL, **changes), first.context).outcome  # type: ignore[arg-type]
    assert (outcome.code, outcome.field_name) == (code, field_name), outcome
    assert words in outcome.message
    assert "arm.follow" not in first.cell.calls


def test_a_robot_with_one_arm_cannot_carry() -> None:
    first, _ = held_from_above()
    one = gantry()
    refused = Carry().is_feasible(GOAL, one, one.arms[FIRST], first.context.world.snapshot())
    assert refused.message == "robot 'gantry' has one arm; carry needs two"


def test_a_place_without_support_is_refused_with_the_object_in_both_hands() -> None:
    first, other = held_from_above()
    failed = run_skill(Carry(), replace(GOAL, position=(5.0, 5.0)), first.context).outcome
    assert (failed.code, failed.field_name) == (Code.NO_CANDIDATE, "position")
    assert "nothing fixed and level carries 'cube'" in failed.message
    assert failed.message.endswith("'cube' is held by arm and other")
    assert "arm.follow" not in first.cell.calls
    assert list(other.context.held) == ["cube"] or other.cell.in_hand == "cube"


def test_both_arms_lift_move_and_lower_together_and_open_before_either_leaves() -> None:
    first, other = held_from_above()
    done = run_skill(Carry(), GOAL, first.context)
    assert done.outcome.ok, done.outcome
    assert [report.stage for report in done.stages if ": " in report.stage] == [
        *("carry: select", "carry: lift", "carry: move", "carry: lower"),
        *("release arm: select", "release arm: release", "release other: select", "release other: release"),
        *("leave arm: select", "leave arm: retreat", "leave other: select", "leave other: retreat"),
    ]
    assert (first.cell.in_hand, other.cell.in_hand) == ("", "")


def test_one_hand_that_holds_it_alone_is_named() -> None:
    first, other = held_from_above()
    other.cell.in_hand = ""
    refused = run_skill(Carry(), GOAL, first.context).outcome
    assert refused.code is Code.CONTRADICTION
    assert "arm holds 'cube' alone" in refused.message


def test_a_motion_that_the_planner_refuses_for_the_other_arm_moves_neither() -> None:
    first, other = held_from_above()
    pair, judged = BodyPair("gantry/other_hand", "wall"), first.planner.validate

    def validate(arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: object) -> Verdict:
        if arm == OTHER and scene.others:
            assert scene.others[0].t_s is not None
            return Verdict(Code.TRAJECTORY_REFUSED, "in the way", pair)
        return judged(arm, trajectory, scene, should_stop=should_stop)  # type: ignore[arg-type]

    first.planner.validate = validate  # type: ignore[method-assign, assignment]
    before = first.cell.q.copy(), other.cell.q.copy()
    failed = run_skill(Carry(), replace(GOAL, max_attempts=1), first.context).outcome
    assert (failed.code, failed.stage, failed.blocking) == (Code.TRAJECTORY_REFUSED, "carry: lift", pair)
    assert "the motion of other was refused" in failed.message
    assert (first.cell.q == before[0]).all()
    assert (other.cell.q == before[1]).all()


def test_no_way_counts_what_was_in_it() -> None:
    first, _ = held_from_above()
    pair = BodyPair("cube", "wall")

    def rest(arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, **_: object) -> Verdict:
        return Verdict(Code.TRAJECTORY_REFUSED, "in the way", pair)

    first.planner.validate_rest = rest  # type: ignore[method-assign, assignment]
    failed = run_skill(Carry(), replace(GOAL, max_attempts=1), first.context).outcome
    assert (failed.code, failed.stage, failed.blocking) == (Code.NO_CANDIDATE, "carry: select", pair)
    assert "3 cube against wall" in failed.message or "cube against wall" in failed.message


@pytest.mark.parametrize("fails", [FIRST, OTHER])
def test_an_arm_that_fails_on_the_way_stops_the_other_one(fails: str) -> None:
    first, other = held_from_above()
    broken = first if fails == FIRST else other
    follow = broken.arm.follow

    def fault(trajectory: Trajectory, *, should_stop: object) -> Outcome:
        if trajectory.begin_s > 0.0:
            half = trajectory.duration_s / 2.0
            ended = follow(trajectory, should_stop=lambda: broken.cell.now_s > begun_s + half)
            assert ended.code is Code.CANCELED
            return Outcome(Code.PATH_TOLERANCE, "a joint is behind")
        return follow(trajectory, should_stop=should_stop)  # type: ignore[arg-type]

    begun_s = broken.cell.now_s
    broken.arm.follow = fault  # type: ignore[method-assign, assignment]
    failed = run_skill(Carry(), GOAL, first.context).outcome
    assert (failed.code, failed.stage) == (Code.PATH_TOLERANCE, "carry: lift")
    assert f"{fails}: a joint is behind" in failed.message
    assert failed.message.endswith("'cube' is held by arm and other")
    assert first.arm.stops >= 1
    assert other.arm.stops >= 1


def test_pairs_are_apart_and_on_both_sides_of_the_middle() -> None:
    first, _ = held_from_above()
    body = first.context.world.snapshot().objects["cube"]

    def at(x: float) -> HandGrasp:
        return HandGrasp(Pose.identity(), frozen((x, 0.0, 0.0)), 0.0)

    found = pairs(body, [at(0.2), at(0.1)], [at(-0.2), at(0.15), at(-0.1)])
    assert found[0][:2] == (0, 0)
    assert (1, 1) not in [one[:2] for one in found]
