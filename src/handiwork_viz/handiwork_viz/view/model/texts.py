"""What the page says, as HTML: conditions, goals, the task, the nodes. Every text of another process is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from handiwork_core.model.suction import SuctionState
from handiwork_viz.condition_table import WORDS, margin_text, progress_lines, seconds

from .goals import GoalState, GoalView

GREEN, RED, GREY, BLUE = "#2b8a3e", "#c92a2a", "#868e96", "#1971c2"
VALUE_COLOURS = (GREY, RED, GREEN)
STATE_COLOURS = {GoalState.SUCCEEDED: GREEN, GoalState.CANCELED: GREY, GoalState.ABORTED: RED}
FRAME = '<div style="font-size:12px;line-height:1.45;padding:2px 8px">{}</div>'
NODE_STATES = ("unconfigured", "configuring", "inactive", "active", "faulty", "shutting down", "finalized")


def conditions_html(conditions: Sequence[Any], now_s: float) -> str:
    """Return the watched conditions: value, margin with unit, time since the last change, and reason.

    Args:
        conditions: Condition messages.
        now_s: Time of the robot's world, s.
    """
    if not conditions:
        return FRAME.format("No condition is watched; <code>handiwork watch</code> adds one.")
    rows = []
    for item in conditions:
        age_s = max(0.0, now_s - seconds(item.since))
        head = f"{_chip(WORDS[item.value], VALUE_COLOURS[item.value])} <b>{escape(item.key)}</b>"
        numbers = f"margin {escape(margin_text(item, 4))} · for {_whole(age_s)} s"
        small = f'<span style="color:{GREY}">{numbers}</span>'
        rows.append(f'<div style="margin:6px 0">{head}<br>{small}<br>{escape(item.reason)}</div>')
    return FRAME.format("".join(rows))


def goal_html(goal: GoalView, now_s: float) -> str:
    """Return a goal with its stages, their times, and its end.

    Args:
        goal: The goal.
        now_s: Steady time, s.
    """
    ran_s = (goal.ended_s or now_s) - goal.begun_s
    colour = STATE_COLOURS.get(goal.state, BLUE)
    lines = [f"{_chip(goal.state.name, colour)} <b>{escape(goal.title)}</b> · {_tenths(ran_s)} s"]
    rows = [
        _stage_row(one.name, f"{one.duration_s:.1f}", f"{1e3 * one.planning_time_s:.0f}", one.code)
        for one in goal.stages
    ]
    if goal.state.is_running and goal.stage:
        rows.append(_stage_row(f"▸ {goal.stage}", _tenths(now_s - goal.stage_begun_s), "", ""))
    if rows:
        head = f'<tr style="color:{GREY}"><td>stage</td><td>s</td><td>planning ms</td><td></td></tr>'
        lines.append(f'<table style="width:100%;font-size:12px">{head}{"".join(rows)}</table>')
    if goal.end is not None and goal.end.message:
        lines.append(f'<div style="color:{colour}">{escape(goal.end.message)}</div>')
    return FRAME.format("".join(lines))


def goals_html(goals: Sequence[GoalView], now_s: float) -> str:
    """Return the goals that run, or the one that ended last, and the earlier ones in one line each.

    Args:
        goals: The goals, those that run first.
        now_s: Steady time, s.
    """
    if not goals:
        return FRAME.format("No goal yet. Choose a skill below and press Run.")
    shown = [goal for goal in goals if goal.state.is_running] or [goals[0]]
    older = [goal for goal in goals if goal not in shown][:4]
    texts = [goal_html(goal, now_s) for goal in shown]
    texts += [
        FRAME.format(f"{_chip(_end_of(one), STATE_COLOURS.get(one.state, BLUE))} {escape(one.title)}")
        for one in older
    ]
    return "".join(texts)


def progress_html(progress: Any) -> str:
    """Return the progress of the watched task.

    Args:
        progress: A TaskProgress message; None before the first.
    """
    lines = [] if progress is None else list(progress_lines(progress))
    if not lines:
        return FRAME.format("No task is watched.")
    return FRAME.format(f'<pre style="white-space:pre-wrap;margin:0">{escape(chr(10).join(lines))}</pre>')


def network_html(text: str) -> str:
    """Return the decider network with its active path in colour.

    Args:
        text: Its text: a line for each decider, which begins with ``>`` on the active path.
    """
    if not text:
        return FRAME.format("No decider network runs.")
    lines = [
        f'<span style="color:{GREEN};font-weight:700">{escape(line)}</span>'
        if line.startswith(">")
        else escape(line)
        for line in text.splitlines()
    ]
    return FRAME.format(f'<pre style="margin:0;font-size:11px">{chr(10).join(lines)}</pre>')


def nodes_html(states: Mapping[str, tuple[int, str]], pace: str, cups: Mapping[str, SuctionState]) -> str:
    """Return the nodes with their states, the pace of time, and the suction cups.

    Args:
        states: State of ``NodeStatus`` and text by node.
        pace: Pace of the world's time, in words.
        cups: Suction cups by gripper.
    """
    lines = [f"time: {escape(pace)}"]
    for name, (state, text) in sorted(states.items()):
        colour = GREEN if state == 3 else RED if state == 4 else GREY
        lines.append(f"{_chip(NODE_STATES[state], colour)} {escape(name)} {escape(text)}")
    for name, cup in cups.items():
        lines.append(
            f"{_chip('suction', GREEN if cup.sealed else GREY)} {escape(name)}: {escape(cup_text(cup))}"
        )
    return FRAME.format("<br>".join(lines))


def cup_text(cup: SuctionState) -> str:
    """Return what a suction cup does.

    Args:
        cup: Its state.
    """
    if cup.sealed:
        return f"holds {cup.object or 'an object'}"
    return ("on, " + (cup.why or "no seal")) if cup.on else "off"


def end_html(code: str, message: str, faults: Iterable[str] = ()) -> str:
    """Return an outcome with its faults, as the answer to a check or a command.

    Args:
        code: Name of the outcome's code.
        message: Its sentence.
        faults: Further sentences.
    """
    items = "".join(f"<li>{escape(fault)}</li>" for fault in faults)
    return FRAME.format(f"{_chip(code, GREEN if code == 'OK' else RED)} {escape(message)}<ul>{items}</ul>")


def lines_html(lines: Iterable[str]) -> str:
    """Return sentences below each other.

    Args:
        lines: The sentences.
    """
    return FRAME.format("<br>".join(escape(line) for line in lines))


def _end_of(goal: GoalView) -> str:
    return goal.end.code if goal.end is not None else goal.state.name


def _stage_row(name: str, duration: str, planning: str, code: str) -> str:
    colour = "inherit" if code in ("", "OK") else RED
    cells = "".join(
        f"<td>{escape(text)}</td>" for text in (name, duration, planning, "" if code == "OK" else code)
    )
    return f'<tr style="color:{colour}">{cells}</tr>'


def _chip(text: str, colour: str) -> str:
    style = f"background:{colour};color:white;border-radius:3px;padding:0 5px;font-size:11px"
    return f'<span style="{style}">{escape(text)}</span>'


def _whole(value_s: float) -> str:
    return f"{value_s:.0f}"


def _tenths(value_s: float) -> str:
    return f"{value_s:.1f}"
