"""Conversions of outcomes and conditions. Fields that were not filled become INTERNAL or UNKNOWN, never a success."""

from __future__ import annotations

import math
from dataclasses import replace

from action_msgs.msg import GoalStatus
from handiwork_msgs.msg import Condition as ConditionMsg
from handiwork_msgs.msg import Evidence as EvidenceMsg
from handiwork_msgs.msg import Outcome as OutcomeMsg

from handiwork_core.contracts.predicate import Evidence, Finding, Truth
from handiwork_core.model.outcome import BodyPair, Code, Outcome

STATUS_NAMES = {
    GoalStatus.STATUS_UNKNOWN: "UNKNOWN",
    GoalStatus.STATUS_ACCEPTED: "ACCEPTED",
    GoalStatus.STATUS_EXECUTING: "EXECUTING",
    GoalStatus.STATUS_CANCELING: "CANCELING",
    GoalStatus.STATUS_SUCCEEDED: "SUCCEEDED",
    GoalStatus.STATUS_CANCELED: "CANCELED",
    GoalStatus.STATUS_ABORTED: "ABORTED",
}
"""The names of the goal states of action_msgs."""


def code_from_msg(code: int) -> Code:
    """Return the code of a number.

    Args:
        code: Number of the code.

    Returns:
        The code; INTERNAL for UNSET and for an unknown number, which a newer node may send.
    """
    return _known_code(code) or Code.INTERNAL


def _known_code(number: int) -> Code | None:
    """Return the code of a number; None for UNSET and for an unknown number."""
    try:
        code = Code(number)
    except ValueError:
        return None
    return None if code is Code.UNSET else code


def _code_words(number: int) -> str:
    """Return the description of a code's number in a sentence."""
    if number == Code.UNSET:
        return "an outcome that was never filled (code UNSET)"
    known = _known_code(number)
    return f"outcome code {known.name}" if known else f"outcome code {number}, which is not known here"


def blocking_from_msg(names: list[str]) -> BodyPair | None:
    """Read a pair of bodies.

    Args:
        names: Two names, or none.

    Returns:
        The pair; None unless there are two names.
    """
    return BodyPair(names[0], names[1]) if len(names) == 2 else None


def blocking_to_msg(pair: BodyPair | None) -> list[str]:
    """Write a pair of bodies.

    Args:
        pair: The pair; None for none.

    Returns:
        Two names, or an empty list.
    """
    return [] if pair is None else [pair.a, pair.b]


def outcome_from_msg(msg: OutcomeMsg) -> Outcome:
    """Read an outcome.

    Args:
        msg: The message.

    Returns:
        The outcome; one without a known code becomes INTERNAL with an explanation.
    """
    text = msg.message
    if _known_code(msg.code) is None:
        text = f"the answer holds {_code_words(msg.code)}; see the log of the node that answered"
        text += f": {msg.message}" if msg.message else ""
    return Outcome(
        code_from_msg(msg.code),
        text,
        msg.stage,
        msg.field,
        blocking_from_msg(msg.blocking),
        msg.position_error,
        msg.angle_error,
    )


def goal_outcome_from_msg(status: int, msg: OutcomeMsg) -> Outcome:
    """Read the outcome of a goal. OK needs the status SUCCEEDED, and SUCCEEDED needs the code OK.

    Args:
        status: Status of ``action_msgs/msg/GoalStatus``, as the middleware gave it with the result.
        msg: The outcome in the result; it is empty if the server could not fill it.

    Returns:
        The outcome as it was sent if the two agree, otherwise INTERNAL with both in words.
    """
    outcome, code = outcome_from_msg(msg), _known_code(msg.code)
    expected = {
        GoalStatus.STATUS_SUCCEEDED: code is Code.OK,
        GoalStatus.STATUS_CANCELED: code is Code.CANCELED,
        GoalStatus.STATUS_ABORTED: code not in (None, Code.OK),
    }
    if expected.get(status, False):
        return outcome
    ended = STATUS_NAMES.get(status, str(status))
    text = f"the goal ended with status {ended} and {_code_words(msg.code)}; do not rely on either"
    text += f": {msg.message}" if msg.message else "; see the log of the action server"
    return replace(outcome, code=Code.INTERNAL, message=text)


def outcome_to_msg(outcome: Outcome) -> OutcomeMsg:
    """Write an outcome.

    Args:
        outcome: The outcome.
    """
    return OutcomeMsg(
        code=int(outcome.code),
        name=outcome.code.name,
        message=outcome.message,
        stage=outcome.stage,
        field=outcome.field_name,
        blocking=blocking_to_msg(outcome.blocking),
        position_error=outcome.position_error_m,
        angle_error=outcome.angle_error_rad,
    )


def finding_from_msg(msg: ConditionMsg) -> Finding:
    """Read value, margin, reason and evidence of a condition.

    Args:
        msg: The message.

    Raises:
        ValueError: The value is no truth value.
    """
    evidence = tuple(Evidence(e.name, e.value, e.unit, e.subject) for e in msg.evidence)
    return Finding(Truth(msg.value), msg.margin, msg.reason, evidence, msg.flip_probability)


def finding_to_msg(finding: Finding) -> ConditionMsg:
    """Write value, margin, reason and evidence of a condition.

    Args:
        finding: The finding.

    Returns:
        The message; key, name, args and stamps are empty, the monitor fills them.
    """
    evidence = [
        EvidenceMsg(name=e.name, value=float(e.value), unit=e.unit, subject=e.subject)
        for e in finding.evidence
    ]
    margin = math.nan if finding.truth is Truth.UNKNOWN else float(finding.margin)
    return ConditionMsg(
        value=int(finding.truth),
        margin=margin,
        flip_probability=float(finding.flip_probability),
        reason=finding.reason,
        evidence=evidence,
    )
