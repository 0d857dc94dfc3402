"""Every end of Handiwork has a value of MoveIt, and none is generic."""

from __future__ import annotations

import pytest

from handiwork_core.model.outcome import BodyPair, Code, Outcome
from moveit_facade.model.error_codes import ErrorCode, error_of, value_of


@pytest.mark.parametrize(
    "code", [code for code in Code if code is not Code.UNSET], ids=lambda code: code.name
)
def test_a_code_has_a_value_and_only_ok_is_a_success(code: Code) -> None:
    assert (value_of(code) is ErrorCode.SUCCESS) == (code is Code.OK)


def test_the_bodies_that_touch_are_in_the_sentence() -> None:
    outcome = Outcome(
        Code.GOAL_IN_COLLISION, "the goal is in collision", blocking=BodyPair("fr3/fr3_hand", "table")
    )
    error = error_of(outcome, "planner_node")
    assert error.value is ErrorCode.GOAL_IN_COLLISION and error.source == "planner_node"
    assert "fr3/fr3_hand" in error.outcome.message and "table" in error.outcome.message


def test_an_outcome_without_words_is_named() -> None:
    assert "PLAN_FAILED" in error_of(Outcome(Code.PLAN_FAILED), "planner_node").outcome.message
