"""Outcomes and conditions."""

from __future__ import annotations

import math

from handiwork_msgs.msg import Condition as ConditionMsg
from handiwork_msgs.msg import Evidence as EvidenceMsg
from handiwork_msgs.msg import Outcome as OutcomeMsg

from handiwork_core.outcome import BodyPair, Code, Outcome
from handiwork_core.predicate import Evidence, Finding, Truth


def code_from_msg(code: int) -> Code:
    """An unknown number, as a newer node may send, is INTERNAL."""
    try:
        return Code(code)
    except ValueError:
        return Code.INTERNAL


def blocking_from_msg(names: list[str]) -> BodyPair | None:
    """Two names, or none."""
    return BodyPair(names[0], names[1]) if len(names) == 2 else None


def blocking_to_msg(pair: BodyPair | None) -> list[str]:
    """Two names, or none."""
    return [] if pair is None else [pair.a, pair.b]


def outcome_from_msg(msg: OutcomeMsg) -> Outcome:
    """Read an outcome."""
    return Outcome(
        code_from_msg(msg.code),
        msg.message,
        msg.stage,
        msg.field,
        blocking_from_msg(msg.blocking),
        msg.position_error,
        msg.angle_error,
    )


def outcome_to_msg(outcome: Outcome) -> OutcomeMsg:
    """Write an outcome."""
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
    """Read value, margin, reason and evidence of a condition."""
    evidence = tuple(Evidence(e.name, e.value, e.unit, e.subject) for e in msg.evidence)
    return Finding(Truth(msg.value), msg.margin, msg.reason, evidence)


def finding_to_msg(finding: Finding) -> ConditionMsg:
    """Write value, margin, reason and evidence; key, name, args and stamps are the monitor's."""
    evidence = [
        EvidenceMsg(name=e.name, value=float(e.value), unit=e.unit, subject=e.subject)
        for e in finding.evidence
    ]
    margin = math.nan if finding.truth is Truth.UNKNOWN else float(finding.margin)
    return ConditionMsg(value=int(finding.truth), margin=margin, reason=finding.reason, evidence=evidence)
