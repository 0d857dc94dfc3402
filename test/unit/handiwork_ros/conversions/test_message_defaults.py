"""A message of any type that was never filled does not read as a success."""

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
"""The allowed names of a constant with the value zero."""


def types_of(module: Any) -> list[Any]:
    return [kind for name, kind in inspect.getmembers(module, inspect.isclass) if not name.startswith("_")]


def answers() -> list[Any]:
    """Yield the unfilled responses and results of all services and actions."""
    services = [kind.Response() for kind in types_of(handiwork_msgs.srv) if hasattr(kind, "Response")]
    return services + [kind.Result() for kind in types_of(handiwork_msgs.action) if hasattr(kind, "Result")]


def outcomes_in(message: Any) -> list[OutcomeMsg]:
    """Yield every outcome of a message and of its parts."""
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
