"""Handover: goals that cannot be done are refused by field; a failure leaves the object in a hand, which it names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contracts.test_arm_skills import held_by_both
from handiwork_core.contracts.planning import PlanResult, StraightGoal
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.gantry import gantry
from skill_server.execution.run import run_skill
from skill_server.handing.hand_step import HandStep, take
from skill_server.skills.two_arms.handover import Handover, HandoverParams
from support.cells.gantry_pair import FIRST, OTHER, gantry_pair

GOAL = HandoverParams(object="cube")


@pytest.mark.parametrize(
    ("params", "field_name", "code", "words"),
    [
        (HandoverParams(to_arm="third"), "to_arm", Code.BAD_GOAL, "use one of ['other']"),
        (HandoverParams(to_arm=FIRST), "to_arm", Code.BAD_GOAL, "is the arm that gives"),
        (HandoverParams(object="cub"), "object", Code.UNKNOWN_OBJECT, "cube"),
        (HandoverParams(approach_offset=0.0), "approach_offset", Code.BAD_NUMBER, "0.02 to 0.3 m"),
        (HandoverParams(gripper_wait=-1.0), "gripper_wait", Code.BAD_NUMBER, "0 to 10 s"),
        (HandoverParams(search_time=0.0), "search_time", Code.BAD_NUMBER, "0.1 to 600 s"),
        (HandoverParams(max_attempts=0), "max_attempts", Code.BAD_NUMBER, "1 to 20"),
    ],
)
def test_a_goal_that_cannot_be_done_is_refused_by_field_and_nothing_moves(
    params: HandoverParams, field_name: str, code: Code, words: str
) -> None:
    given, _ = held_by_both()
    outcome = run_skill(Handover(), params, given.context).outcome
    assert (outcome.code, outcome.field_name) == (code, field_name), outcome
    assert words in outcome.message
    assert "arm.follow" not in given.cell.calls


def test_a_robot_with_one_arm_has_no_handover_and_three_arms_need_a_name() -> None:
    given, _ = held_by_both()
    world, one, two = given.context.world.snapshot(), gantry(), gantry_pair()
    refused = Handover().is_feasible(GOAL, one, one.arms[FIRST], world)
    assert refused.message == "robot 'gantry' has one arm; a handover needs two"
    three = replace(two, arms={**two.arms, "third": replace(two.arms[OTHER], name="third")})
    refused = Handover().is_feasible(GOAL, three, three.arms[FIRST], world)
    assert refused.message.startswith("to_arm is empty")
    assert Handover().further_arms(GOAL, two, two.arms[FIRST]) == (OTHER,)
    assert Handover().further_arms(HandoverParams(to_arm="third"), three, three.arms[OTHER]) == ("third",)


def test_where_both_hands_hold_the_object_the_other_closes_and_only_then_this_one_opens() -> None:
    given, taken = held_by_both()
    done = run_skill(Handover(), GOAL, given.context)
    assert done.outcome.ok, done.outcome
    assert [report.stage for report in done.stages if ": " in report.stage] == [
        *("take: select", "take: grasp"),
        *("give: select", "give: release", "give: select", "give: retreat"),
    ]
    assert (list(given.context.held), list(taken.context.held)) == ([], ["cube"])
    assert (given.cell.in_hand, taken.cell.in_hand) == ("", "cube")


def test_a_retreat_that_is_refused_says_who_holds_the_object_and_both_arms_are_stopped() -> None:
    given, taken = held_by_both()
    given.planner.refusals = [PlanResult(Code.PATH_BLOCKED, "blocked")] * 9
    failed = run_skill(Handover(), GOAL, given.context).outcome
    assert (failed.code, failed.stage) == (Code.PATH_BLOCKED, "give: retreat")
    assert failed.message.endswith("'cube' is held by other")
    assert given.arm.stops >= 1
    assert taken.arm.stops == 1


def test_a_retreat_that_is_refused_for_its_length_is_shorter() -> None:
    given, _ = held_by_both()
    given.planner.refusals = [PlanResult(Code.JOINT_LIMIT, "the line stops after 70 of 80 mm")]
    done = run_skill(Handover(), GOAL, given.context)
    assert done.outcome.ok, done.outcome
    first, second = (plan.goal for plan in given.planner.plans if isinstance(plan.goal, StraightGoal))
    cube = given.cell.poses["cube"]
    assert second.world_T_ee.distance_to(cube)[0] < first.world_T_ee.distance_to(cube)[0]


def test_a_gripper_that_does_not_open_leaves_the_object_in_both_hands() -> None:
    given, taken = held_by_both()
    given.gripper.outcome = Outcome(Code.GRIPPER_FAILED, "stuck")
    given.gripper._cell = replace(given.cell)  # what it does has no effect
    given.gripper._cell.before = given.cell.call
    failed = run_skill(Handover(), GOAL, given.context).outcome
    assert (failed.code, failed.stage) == (Code.GRIPPER_FAILED, "give: release")
    assert failed.message.endswith("'cube' is held by arm and other")
    assert taken.cell.in_hand == "cube"


def test_another_object_in_the_other_hand_is_named() -> None:
    given, taken = held_by_both()
    taken.context.held["ball"] = replace(given.context.held["cube"], object="ball")
    taken.cell.objects["ball"] = taken.cell.objects["cube"]
    taken.cell.poses["ball"] = taken.cell.poses["cube"]
    taken.cell.in_hand = "ball"
    refused = run_skill(Handover(), GOAL, given.context).outcome
    assert (refused.code, refused.field_name) == (Code.CONTRADICTION, "to_arm")
    assert refused.message.startswith("other already holds 'ball'; place it first")


def test_without_contacts_the_record_says_that_the_first_hand_has_let_go() -> None:
    given, taken = held_by_both()
    given.cell.has_contacts = taken.cell.has_contacts = False
    taken.context.held.update(given.context.held)
    done = run_skill(Handover(), GOAL, given.context)
    assert done.outcome.ok, done.outcome
    assert (list(given.context.held), list(taken.context.held)) == ([], ["cube"])


def test_a_taking_hand_that_is_full_is_refused_before_the_pick_moves_anything() -> None:
    given, taken = held_by_both()
    taken.context.held["ball"] = replace(given.context.held.pop("cube"), object="ball")
    given.cell.in_hand, given.cell.width_m = "", 0.08
    taken.cell.objects["ball"], taken.cell.poses["ball"] = (
        taken.cell.objects["cube"],
        taken.cell.poses["cube"],
    )
    taken.cell.in_hand = "ball"
    refused = run_skill(Handover(), GOAL, given.context).outcome
    assert (refused.code, refused.field_name) == (Code.CONTRADICTION, "to_arm")
    assert not {"arm.follow", "gripper.move"} & set(given.cell.calls)


def test_the_other_hand_does_not_go_on_to_an_object_that_has_fallen_out_of_the_first_one() -> None:
    given, taken = held_by_both()
    grasp = taken.cell.hand_T_object.inverse()
    taken.cell.in_hand, taken.cell.q = "", np.array(taken.context.arm_spec.home_q)

    def drop(call: str) -> None:
        if call == "arm.follow":
            given.cell.in_hand = ""

    given.cell.before = drop
    goal = take(GOAL, (grasp,), "cube", taken.context, FIRST)
    failed = run_skill(HandStep(), goal, taken.context)
    assert (failed.outcome.code, failed.outcome.message) == (
        Code.OBJECT_DROPPED,
        "'cube' fell out of the hand of arm; pick it again",
    )
    assert given.cell.calls.count("arm.follow") == 1
    assert "grasp" not in [report.stage for report in failed.stages]


def test_an_object_that_the_other_hand_cannot_grasp_is_named_and_no_arm_moves_to_make_room() -> None:
    given, taken = held_by_both()
    taken.cell.in_hand = ""
    box = Shape(ShapeKind.BOX, np.full(3, 0.2), Pose.identity())
    given.cell.objects["cube"] = WorldObject("cube", (box,))
    failed = run_skill(Handover(), GOAL, given.context)
    assert (failed.outcome.code, failed.outcome.stage) == (Code.NO_CANDIDATE, "select")
    assert failed.outcome.message == (
        "no grasp of 'cube' fits the hand of other, which opens to 80 mm; 'cube' is held by arm"
    )
    assert "arm.follow" not in given.cell.calls
