"""A bundle in ten lines. Needs no ROS, no skill and no engine."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np

from handiwork_core.bundles.bundle import MOTIONS, Bundle, Call
from handiwork_core.bundles.encoding import Unknown
from handiwork_core.contracts.planning import PlanRequest

MOVED_M = 0.01
"""The distance from which an object counts as moved, m."""
SHOWN = 6
"""The greatest number of things in one line."""


def explain(bundle: Bundle, path: str) -> list[str]:
    """Return what happened.

    Args:
        bundle: The bundle.
        path: Its file, for the last line.
    """
    head, outcome = bundle.head, bundle.head.outcome
    stage = f" in stage {outcome.stage!r}" if outcome.stage else ""
    arm = f" of arm {head.arm}" if head.arm else ""
    what = f"{head.action} ({head.skill})" if head.skill != head.action and head.skill else head.action
    lines = [
        f"{what}{arm} on {head.robot} ended with {outcome.code.name}{stage}, {head.made}",
        f"reason:   {outcome.message}",
        f"goal:     {_goal(bundle)}",
        f"before:   {_before(bundle)}",
        f"stages:   {_stages(bundle)}",
        f"planner:  {_planner(bundle)}",
        f"motions:  {_motions(bundle)}",
        f"changed:  {_changed(bundle)}",
        f"log:      {_log(bundle)}",
        f"again:    handiwork replay {path}",
    ]
    return lines


def _goal(bundle: Bundle) -> str:
    params = bundle.params
    if params is None:
        given = {k: v for k, v in bundle.goal.items() if v not in ("", 0, 0.0, False) and not _is_empty(v)}
        return _listed(given) or "empty"
    values = _values(params)
    return _listed({k: v for k, v in values.items() if not _is_default(params, k, v)}) or "all defaults"


def _values(params: Any) -> Mapping[str, Any]:
    if isinstance(params, Unknown):
        return params.values
    return {one.name: getattr(params, one.name) for one in dataclasses.fields(params)}


def _is_default(params: Any, name: str, value: Any) -> bool:
    if isinstance(params, Unknown):
        return _is_empty(value)
    field = next(one for one in dataclasses.fields(params) if one.name == name)
    if field.default is dataclasses.MISSING:
        return _is_empty(value) and field.default_factory is not dataclasses.MISSING
    try:
        return bool(value == field.default)
    except ValueError:  # arrays
        return False


def _is_empty(value: Any) -> bool:
    return isinstance(value, (tuple, list, dict)) and not value


def _listed(values: Mapping[str, Any]) -> str:
    def shown(value: Any) -> str:
        if isinstance(value, str):
            return value
        text = repr(value)
        return text if len(text) <= 40 else f"<{type(value).__name__}>"

    items = [f"{name}: {shown(value)}" for name, value in values.items()]
    more = f", and {len(items) - 2 * SHOWN} more" if len(items) > 2 * SHOWN else ""
    return ", ".join(items[: 2 * SHOWN]) + more


def _before(bundle: Bundle) -> str:
    if not bundle.seen:
        return "the world is not known"
    world = next((one.world for one in bundle.seen if one.at_s >= bundle.began_s), bundle.seen[-1].world)
    names = sorted(world.objects)
    held = [f"{arm} held {', '.join(map(str, one.held))}" for arm, one in bundle.before.items() if one.held]
    targets = [name for name in _names(bundle) if name in world.states]
    places = [
        f"{name} at ({', '.join(f'{v:.3f}' for v in world.states[name].world_T_object.translation_m)}) m"
        for name in targets[:SHOWN]
    ]
    return "; ".join(
        [f"{len(names)} objects ({', '.join(names[:SHOWN])})", *places, *(held or ["no object held"])]
    )


def _names(bundle: Bundle) -> Iterator[str]:
    """Yield the texts of a goal, among which are the names of its objects."""
    values = bundle.goal if bundle.params is None else _values(bundle.params)
    yield from (value for value in values.values() if isinstance(value, str) and value)


def _stages(bundle: Bundle) -> str:
    if bundle.was_refused:
        return "none: the goal never ran"
    names = [name for name, _ in groupby(one.stage for one in bundle.progress)]
    took_s = bundle.ended_s - bundle.began_s
    end = ""
    if bundle.stop is not None:
        detail = f": {bundle.stop.detail}" if bundle.stop.detail else ""
        at_s = bundle.stop.at_s - bundle.began_s
        end = f"; ended from outside after {at_s:.2f} s by {bundle.stop.reason.name}{detail}"
    return f"{' > '.join(names) or 'none'}, {took_s:.2f} s in all{end}"


def _planner(bundle: Bundle) -> str:
    asked = [c for c in bundle.calls if c.port in ("plan", "check_candidates", "validate", "validate_rest")]
    if not asked:
        return "not asked"
    counts = Counter(call.port for call in asked)
    words = ", ".join(f"{number} {port}" for port, number in counts.items())
    bad = [call for call in asked if call.answer is not None and call.answer.code.name != "OK"]
    seeds = sorted({c.request.seed for c in asked if isinstance(c.request, PlanRequest)})
    seed = f"; seed {seeds[0]}" if len(seeds) == 1 else f"; {len(seeds)} seeds" if seeds else ""
    last = (
        f"; last refusal: {bad[-1].port} {bad[-1].answer.code.name} {bad[-1].answer.message}" if bad else ""
    )
    return f"{words}; {len(asked) - len(bad)} of {len(asked)} answered OK{seed}{last}".rstrip()


def _motions(bundle: Bundle) -> str:
    moves = [call for call in bundle.calls if call.port in MOTIONS]
    if not moves:
        return "none: nothing moved"
    good = sum(call.answer is not None and call.answer.ok for call in moves)
    last = moves[-1]
    return f"{good} of {len(moves)} to their end; the last one: {_motion(last)}"


def _motion(call: Call) -> str:
    word = "the gripper" if call.port == "move" else call.arm
    took_s = call.ended_s - call.begun_s
    if call.answer is None:
        return f"{word} did not return"
    text = f" {call.answer.message}" if call.answer.message else ""
    return f"{word} for {took_s:.2f} s, {call.answer.code.name}{text}"


def _changed(bundle: Bundle) -> str:
    during = [one for one in bundle.seen if one.at_s >= bundle.began_s]
    if len(during) < 2:
        return "nothing was seen"
    first, last = during[0].world, during[-1].world
    moved = []
    for name in sorted(set(first.states) & set(last.states)):
        poses = [world.states[name].world_T_object.translation_m for world in (first, last)]
        by_m = float(np.linalg.norm(poses[1] - poses[0]))
        if by_m > MOVED_M:
            moved.append(f"{name} by {1e3 * by_m:.0f} mm")
    gone = sorted(set(first.states) - set(last.states))
    words = [", ".join(moved[:SHOWN]) + " moved" if moved else "no object moved"]
    if gone:
        words.append(f"{', '.join(gone[:SHOWN])} gone")
    if bundle.head.outcome.blocking is not None:
        words.append("{} touched {}".format(*bundle.head.outcome.blocking))
    return "; ".join(words)


def _log(bundle: Bundle) -> str:
    bad = [line for line in bundle.log if line.level in ("WARN", "ERROR", "FATAL")]
    if not bad:
        return f"{len(bundle.log)} lines, none of them a warning"
    last = bad[-1]
    return f"{len(bad)} warnings; the last one, {last.node}: {last.text.splitlines()[0][:160]}"
