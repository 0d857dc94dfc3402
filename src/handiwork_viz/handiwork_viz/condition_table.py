"""Conditions and progress as text for a terminal. Takes any objects with the messages' fields; knows no ROS."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

WORDS = ("UNKNOWN", "FALSE", "TRUE")
COLOURS = ("\x1b[33m", "\x1b[31m", "\x1b[32m")
RESET, CLEAR = "\x1b[0m", "\x1b[H\x1b[J"
KEY_SHARE = 0.45
"""The part of the free width for a condition's name; its reason gets the rest."""


def table_lines(conditions: Sequence[Any], now_s: float, width: int, *, colour: bool) -> Iterator[str]:
    """Format a table of conditions: value, if it is confirmed at rest, time since its last change, margin, key, reason.

    Where poses are noisy, also the probability that their noise turns the value.

    Args:
        conditions: Condition messages.
        now_s: Time of the table, s.
        width: Width of the terminal in characters.
        colour: Whether values are coloured.

    Yields:
        The head, then one line for each condition.
    """
    noisy = any(item.flip_probability > 0.0 for item in conditions)
    head = f"{'value':<9}{'rest':<5}{'since':>8}{'margin':>14}{'flip' if noisy else '':>{6 * noisy}}  "
    free = max(20, width - len(head))
    key_width = min(max((len(c.key) for c in conditions), default=9), int(KEY_SHARE * free))
    yield f"{head}{'condition':<{key_width}}  reason"
    for item in conditions:
        age = max(0.0, now_s - seconds(item.since))
        margin = margin_text(item, 4)
        reason = _cut(item.reason, free - key_width - 2)
        value = f"{WORDS[item.value]:<9}"
        value = f"{COLOURS[item.value]}{value}{RESET}" if colour else value
        mark = "x" if item.verdict.at_end else "was" if item.verdict.at_peak else ""
        flip = f"{item.flip_probability:>6.2f}" if noisy else ""
        yield f"{value}{mark:<5}{age:>7.1f}s{margin:>14}{flip}  {_cut(item.key, key_width):<{key_width}}  {reason}"


def progress_lines(progress: Any) -> Iterator[str]:
    """Format the progress of the watched task.

    Args:
        progress: A TaskProgress message.

    Yields:
        Lines; none without a task.
    """
    if not progress.name:
        return
    state = "done" if progress.done else progress.message
    yield f"task {progress.name}: {progress.score:.0%}, {state}"
    yield from (f"  {line}" for line in _verdict_lines(progress))
    for i, subtask in enumerate(progress.subtasks):
        mark = "x" if subtask.done else ">" if i == progress.current else " "
        needed = f", {subtask.at_least} of {len(subtask.groups)}" if subtask.logical != "all" else ""
        yield f"  [{mark}] {subtask.name}: {subtask.score:.0%} ({subtask.logical}{needed})"
        if i == progress.current:
            yield from (f"      {line}" for group in subtask.groups for line in _group_lines(group))


def why_lines(condition: Any, now_s: float) -> Iterator[str]:
    """Format value, time since its last change, margin, probability of a turn by noise, reason and evidence.

    Args:
        condition: A Condition message.
        now_s: Time of the answer, s.

    Yields:
        Lines.
    """
    yield f"{condition.key}: {WORDS[condition.value]}"
    if condition.expression != condition.key:
        yield f"  is       {condition.expression}"
    yield f"  since    {max(0.0, now_s - seconds(condition.since)):.2f} s"
    yield from (f"  life     {line}" for line in life_lines(condition.verdict, now_s))
    yield f"  margin   {margin_text(condition, 6)}"
    if condition.flip_probability > 0.0:
        yield f"  flip     {condition.flip_probability:.3f}, the probability that noise of the poses turns it"
    yield f"  because  {condition.reason}"
    for item in condition.evidence:
        yield f"  {item.name:<20} {item.value:>12.6g} {item.unit:<6} {item.subject}".rstrip()


def life_lines(verdict: Any, now_s: float) -> Iterator[str]:
    """Format when a verdict was first TRUE, for how long, and whether it was confirmed at rest.

    Args:
        verdict: A Verdict message.
        now_s: Time of the answer, s.

    Yields:
        One line; none for a verdict that was never TRUE.
    """
    first_s = seconds(verdict.first_true)
    if first_s > 0.0:
        ago = f"first true {max(0.0, now_s - first_s):.2f} s ago, at most {verdict.longest:.2f} s long"
        yield f"{ago}, {confirmed_text(verdict)}"


def confirmed_text(verdict: Any) -> str:
    """Return whether a verdict is or was confirmed.

    Args:
        verdict: A Verdict message.
    """
    if verdict.at_end:
        return "confirmed at rest"
    return "confirmed before, not now" if verdict.at_peak else "not confirmed"


def _verdict_lines(progress: Any) -> Iterator[str]:
    verdict = progress.verdict
    held = f", {verdict.longest:.1f} s at most" if verdict.longest > 0.0 else ""
    scores = f"{progress.end_score:.0%} now, {progress.peak_score:.0%} at its peak"
    yield f"success: {confirmed_text(verdict)}{held}; {scores}"
    yield from (f"not yet: {reason}" for reason in progress.refusals)
    if progress.unwinnable:
        yield "cannot be won: an object lies too low"
    if progress.collateral:
        yield f"other objects were disturbed {progress.collateral} times"


def margin_text(condition: Any, digits: int) -> str:
    """Return the margin of a condition with its unit.

    The unit is that of the number that decided, which is the first of the evidence. Parts of an expression in different
    units are compared as plain numbers, so their margin has none.

    Args:
        condition: A Condition message.
        digits: Number of digits that count.

    Returns:
        The text; "-" for a margin that is not a number.
    """
    if math.isnan(condition.margin):
        return "-"
    units = [item.unit for item in condition.evidence]
    single = condition.expression.count("(") == 1
    unit = units[0] if units and (single or len(set(units)) == 1) else ""
    return f"{condition.margin:.{digits}g} {unit}".rstrip()


def seconds(stamp: Any) -> float:
    """Return the seconds of a time message.

    Args:
        stamp: The message.
    """
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)


def _group_lines(group: Any) -> Iterator[str]:
    yield f"{group.name}: {group.score:.0%}"
    for i, (key, held) in enumerate(zip(group.conditions, group.completed, strict=True)):
        yield f"  {'x' if held else '>' if i == group.next else ' '} {key}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(0, width - 1)]}…"
