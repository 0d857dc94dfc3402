"""Makes the result message of a goal in three steps, each of which needs less than the one before; ends the goal."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from action_msgs.msg import GoalStatus
from handiwork_msgs.msg import Outcome as OutcomeMsg
from rclpy.serialization import serialize_message

from handiwork_core.model.outcome import Code, Outcome

log = logging.getLogger(__name__)

Encode = Callable[[Outcome], Any]


def filled_result(
    name: str, action_type: Any, outcome: Outcome, encoders: tuple[Encode, ...]
) -> tuple[Outcome, Any]:
    """Make the result message of a goal, whatever is broken.

    Args:
        name: Name of the action in the log.
        action_type: Type of the action, whose ``Result`` has an ``outcome`` or a ``result`` that has one.
        outcome: Outcome of the goal.
        encoders: Tried one after the other; if all fail, the message holds the outcome alone.

    Returns:
        The outcome in the message, by which the goal must be ended, and the message. After a failure of an encoder
        a success has become INTERNAL, and the message says so.
    """
    if outcome.code is Code.UNSET:
        outcome = replace(outcome, code=Code.INTERNAL, message=f"{name} set no outcome: {outcome.message}")
    sent = outcome
    for encode in encoders:
        result, error = _tried(name, encode, sent)
        if error is None:
            return sent, result
        sent = _with_failure(outcome, error)
    return sent, bare_result(action_type, sent)


def _tried(name: str, encode: Encode, outcome: Outcome) -> tuple[Any, Exception | None]:
    """Return the message that an encoder makes, or the exception that it raised."""
    try:
        return _checked(encode(outcome), outcome), None
    except Exception as error:  # broad on purpose: the client must get the outcome, whatever else is broken
        log.exception("%s: the result message could not be filled", name)
        return None, error


def bare_result(action_type: Any, outcome: Outcome) -> Any:
    """Make a result message that holds the outcome and nothing else. This reads no world and calls no plug-in code.

    Args:
        action_type: Type of the action.
        outcome: Outcome of the goal.

    Returns:
        The result message of the action.
    """
    message = OutcomeMsg(
        code=int(outcome.code),
        name=outcome.code.name,
        message=_text(outcome.message),
        stage=_text(outcome.stage),
    )
    result = action_type.Result()
    holder = _holder(result)
    if holder is not None:
        holder.outcome = message
    return result


def _checked(result: Any, outcome: Outcome) -> Any:
    """Return the message if it can be sent and carries the outcome.

    Raises:
        ValueError: The result has another code than the outcome. Exceptions of the serialization are raised, too.
    """
    holder = _holder(result)
    if holder is not None and holder.outcome.code != outcome.code:
        raise ValueError(f"the result has code {holder.outcome.code}, not {outcome.code.name}")
    serialize_message(result)
    return result


def _holder(result: Any) -> Any:
    """Return the part of a result that has an outcome; None if no part has one."""
    return next(
        (part for part in (result, getattr(result, "result", None)) if hasattr(part, "outcome")), None
    )


def _with_failure(outcome: Outcome, error: Exception) -> Outcome:
    """Return the outcome with the encoder's error; a failure keeps its code, a success becomes INTERNAL."""
    code = Code.INTERNAL if outcome.ok else outcome.code
    said = f"{outcome.code.name}: {outcome.message}" if outcome.ok else outcome.message
    return replace(outcome, code=code, message=f"{said}; filling the result raised {error!r}")


def _text(text: object) -> str:
    """Return a text that every middleware can send."""
    return str(text).encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def end_goal(handle: Any, outcome: Outcome) -> None:
    """Make the transition of a goal that belongs to its outcome.

    Args:
        handle: Handle of the goal.
        outcome: Its outcome.
    """
    ends = {
        GoalStatus.STATUS_SUCCEEDED: handle.succeed,
        GoalStatus.STATUS_CANCELED: handle.canceled,
        GoalStatus.STATUS_ABORTED: handle.abort,
    }
    ends[status_of(handle, outcome)]()


def status_of(handle: Any, outcome: Outcome) -> int:
    """Return the status of ``action_msgs/msg/GoalStatus`` that belongs to an outcome.

    Args:
        handle: Handle of the goal.
        outcome: Its outcome.
    """
    if outcome.code is Code.OK:
        return int(GoalStatus.STATUS_SUCCEEDED)
    if outcome.code is Code.CANCELED and handle.is_cancel_requested:
        return int(GoalStatus.STATUS_CANCELED)
    return int(GoalStatus.STATUS_ABORTED)
