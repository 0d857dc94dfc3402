"""A message that nobody filled never reads as a success, whatever its type."""

from __future__ import annotations

import inspect
from typing import Any

import handiwork_msgs.action
import handiwork_msgs.msg
import handiwork_msgs.srv
import pytest
from handiwork_msgs.msg import Outcome as OutcomeMsg

from handiwork_core.model.outcome import Code
from handiwork_ros.conversions import finding_from_msg

NEUTRAL = {"UNSET", "UNKNOWN", "NONE", "UNCONFIGURED", "NOT_STARTED"}
"""What a constant of value zero may be called."""


def types_of(module: Any) -> list[Any]:
    return [kind for name, kind in inspect.getmembers(module, inspect.isclass) if not name.startswith("_")]


def answers() -> list[Any]:
    """The types with which services and actions answer, as messages that nobody filled."""
    services = [kind.Response() for kind in types_of(handiwork_msgs.srv) if hasattr(kind, "Response")]
    return services + [kind.Result() for kind in types_of(handiwork_msgs.action) if hasattr(kind, "Result")]


def outcomes_in(message: Any) -> list[OutcomeMsg]:
    """Every outcome of a message and of its parts."""
    if isinstance(message, OutcomeMsg):
        return [message]
    slots = getattr(message, "get_fields_and_field_types", dict)()
    return [found for name in slots for found in outcomes_in(getattr(message, name))]


def constants_of(kind: Any) -> dict[str, int]:
    names = [name for name in dir(kind) if name.isupper() and "__DEFAULT" not in name]
    return {name: value for name in names if isinstance(value := getattr(kind, name), int)}


def test_the_codes_equal_those_of_the_message() -> None:
    assert constants_of(OutcomeMsg) == {code.name: int(code) for code in Code}
    assert OutcomeMsg().code == OutcomeMsg.UNSET == Code.UNSET == 0


@pytest.mark.parametrize("kind", types_of(handiwork_msgs.msg), ids=lambda kind: kind.__name__)
def test_zero_is_the_name_of_nothing_good(kind: Any) -> None:
    zeros = {name for name, value in constants_of(kind).items() if value == 0}
    assert zeros <= NEUTRAL


@pytest.mark.parametrize("answer", answers(), ids=lambda answer: type(answer).__name__)
def test_an_empty_answer_holds_an_outcome_that_is_no_success(answer: Any) -> None:
    found = outcomes_in(answer)
    assert found, "every answer carries an outcome"
    assert all(outcome.code == OutcomeMsg.UNSET for outcome in found)


def test_an_empty_condition_is_unknown() -> None:
    assert finding_from_msg(handiwork_msgs.msg.Condition()).truth.name == "UNKNOWN"
