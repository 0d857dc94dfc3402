"""Watched conditions over time: staleness, hold time and since when. Pure; the caller brings snapshots and the time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from handiwork_core.predicate import Finding, Truth
from handiwork_core.world import World

from .build import Condition


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What is known of one condition: its finding, since when its value holds, and of which world it is [s]."""

    condition: Condition
    finding: Finding
    since_s: float
    stamp_s: float


@dataclass(slots=True)
class _Entry:
    shown: Shown
    fresh: bool = True
    pending: Truth | None = None
    pending_since_s: float = 0.0


class Monitor:
    """Holds the watched conditions.

    ``max_age_s``: pose or contacts older than this make a condition UNKNOWN, at once. Any other change counts once it
    has lasted the condition's ``hold_s``.
    """

    def __init__(self, max_age_s: float) -> None:
        self._max_age_s = max_age_s
        self._entries: dict[str, _Entry] = {}
        self._now_s = float("-inf")

    def watch(self, condition: Condition, now_s: float) -> None:
        """Begin; a second time changes nothing."""
        if condition.key not in self._entries:
            first = Shown(condition, Finding.unknown("not decided yet"), now_s, 0.0)
            self._entries[condition.key] = _Entry(first)

    def unwatch(self, key: str) -> bool:
        """End; False when it was not watched."""
        return self._entries.pop(key, None) is not None

    def keys(self) -> list[str]:
        """Keys of what is watched."""
        return list(self._entries)

    def shown(self) -> list[Shown]:
        """Everything, in the order of watching."""
        return [entry.shown for entry in self._entries.values()]

    def update(self, world: World, now_s: float) -> list[Shown]:
        """Decide all on one snapshot and return those whose value changed; ``now_s`` is ROS time.

        When the time has jumped back, all start anew.
        """
        if now_s < self._now_s:
            self._start_anew(now_s)
        self._now_s = now_s
        changed = (self._update_one(entry, world, now_s) for entry in self._entries.values())
        return [entry for entry in changed if entry is not None]

    def decide(self, condition: Condition, world: World, now_s: float) -> Finding:
        """One finding, without memory: UNKNOWN where the world is too old."""
        stale = too_old(condition, world, now_s, self._max_age_s)
        return Finding.unknown(stale) if stale else condition.predicate.evaluate(world)

    def _start_anew(self, now_s: float) -> None:
        for key, entry in self._entries.items():
            again = Shown(entry.shown.condition, Finding.unknown("time jumped back"), now_s, 0.0)
            self._entries[key] = _Entry(again)

    def _update_one(self, entry: _Entry, world: World, now_s: float) -> Shown | None:
        was = entry.shown
        found = self.decide(was.condition, world, now_s)
        if found.truth is was.finding.truth:
            entry.fresh, entry.pending = False, None
            entry.shown = replace(was, finding=found, stamp_s=world.stamp_s)
            return None
        if entry.pending is not found.truth:
            entry.pending, entry.pending_since_s = found.truth, now_s
        at_once = entry.fresh or found.truth is Truth.UNKNOWN or was.finding.truth is Truth.UNKNOWN
        if not at_once and now_s - entry.pending_since_s < was.condition.hold_s:
            return None
        entry.shown = Shown(was.condition, found, entry.pending_since_s, world.stamp_s)
        entry.fresh, entry.pending = False, None
        return entry.shown


def too_old(condition: Condition, world: World, now_s: float, max_age_s: float) -> str:
    """Why the world is too old for a condition; empty when it is not."""
    ages = list(_ages(condition, world, now_s))
    old = [f"{what} is {age:.1f} s old" for what, age in ages if age > max_age_s]
    return f"{', '.join(old)}; at most {max_age_s:g} s is used" if old else ""


def _ages(condition: Condition, world: World, now_s: float) -> Iterable[tuple[str, float]]:
    subjects = condition.predicate.subjects()
    for name in subjects:
        if name in world.states:
            yield f"pose of {name}", now_s - world.states[name].stamp_s
    if condition.predicate.needs_contacts and world.contacts is not None:
        yield "world/contacts", now_s - world.contacts_stamp_s
    if not subjects and world.joints.position:
        yield "joint_states", now_s - world.joints.stamp_s
