"""Converts the state of the safety layer to a message, and a message to the outcome of a goal."""

from __future__ import annotations

import math
from typing import Any

from handiwork_msgs.msg import SafetyState

from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.safety.config import SafetyConfig
from handiwork_core.safety.state import Mode, SafetyStatus
from handiwork_ros.conversions import time_to_msg

CODES = {Mode.PROTECTIVE_STOP: Code.PROTECTIVE_STOP, Mode.EMERGENCY_STOP: Code.EMERGENCY_STOP}
"""The codes with which goals end in each state that stops the robot."""


def state_to_msg(status: SafetyStatus, limits: list[str], now_s: float) -> Any:
    """Write the state as it is published.

    Args:
        status: State of the safety layer.
        limits: Sentences of ``limit_texts``.
        now_s: Time of the message, s.
    """
    violation = status.violation
    message = SafetyState(
        state=int(status.mode),
        reason=status.reason,
        value=math.nan if violation is None else violation.value,
        limit=math.nan if violation is None else violation.limit,
        stop_category=status.stop_category,
        at_rest=status.at_rest,
        emergency_stop_pressed=status.pressed,
        speed_scale=status.speed_scale,
        limits=limits,
        protective_stops=status.protective_stops,
        emergency_stops=status.emergency_stops,
    )
    if violation is not None:
        message.cause, message.subject = violation.cause.value, violation.subject
    message.header.stamp, message.since = time_to_msg(now_s), time_to_msg(status.since_s)
    return message


def limit_texts(config: SafetyConfig, *, has_effort: bool, has_force: bool) -> list[str]:
    """Describe the supervised limits, one sentence for each; a limit without a measurement is described as off.

    Args:
        config: Settings of the safety layer.
        has_effort: True if joint efforts are measured.
        has_force: True if contact forces are measured.

    Returns:
        The sentences.
    """
    effort = f"at most {config.effort_scale:g} of each joint's effort for {config.effort_time_s:g} s"
    force = f"at most {config.contact_force:g} N for {config.contact_time_s:g} s, never {config.transient_force:g} N"
    zones = ", ".join(zone.name for zone in config.zones) or "none"
    return [
        f"position: each joint's limits with {config.position_tolerance:g} rad or m",
        f"velocity: at most {config.velocity_scale:g} of each joint's limit",
        f"acceleration: at most {config.acceleration_scale:g} of each joint's limit",
        f"effort: {effort if has_effort and config.effort_scale > 0.0 else 'off'}",
        f"tool_speed: at most {config.tool_speed:g} m/s, reduced {config.reduced.tool_speed:g} m/s",
        f"contact_force: {force if has_force and config.contact_force > 0.0 else 'off'}",
        f"zones: {zones}",
        f"heartbeat: {config.heartbeat_timeout_s:g} s",
    ]


def outcome_of_state(message: Any) -> Outcome | None:
    """Return the outcome of goals in a published state.

    Args:
        message: The state.

    Returns:
        The refusal; None if goals are accepted.
    """
    code = CODES.get(Mode(message.state)) if message.state in iter(Mode) else None
    return None if code is None else Outcome(code, message.reason)
