"""Watched conditions over time: staleness, hold time and since when. Pure; the caller gives snapshots and the time."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from conditionals_node.doubt.doubts import MAX_FLIP
from conditionals_node.expressions.build import Condition
from conditionals_node.expressions.expression import Expression
from conditionals_node.verdicts.holds import counts
from conditionals_node.verdicts.life import NOT_YET, Life, Lives
from conditionals_node.verdicts.rest import Speeds, moved_by
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.predicate import Finding, Truth
from handiwork_core.intake.limits import CONDITIONS, PREDICATES
from handiwork_core.model.world import World

from .evaluation import Evaluation
from .silence import NO_SILENCE, Silence

INPUTS = tuple(itertools.product((False, True), repeat=2))
"""All combinations of needing contacts and needing joints."""


@dataclass(frozen=True, slots=True, eq=False)
class ConditionStatus:
    """The state of one condition.

    Attributes:
        condition: The condition.
        finding: Its finding.
        since_s: Time since which its value holds, s.
        stamp_s: Oldest stamp of what it is about, s: the message of object states, and contacts and joints if it
            needs these.
        life: Its life since it is watched.
    """

    condition: Condition
    finding: Finding
    since_s: float
    stamp_s: float
    life: Life = NOT_YET


@dataclass(slots=True)
class _Entry:
    condition: Condition
    leaves: frozenset[str]
    objects: tuple[str, ...]
    """The objects that it is about, which must rest to confirm it."""
    inputs: tuple[bool, bool]
    """True where it needs contacts, and where it needs joints."""
    finding: Finding
    since_s: float
    stamp_s: float = 0.0
    fresh: bool = True
    drifted: bool = False
    """True when the numbers of ``finding`` are old while its value is not."""
    firm: Truth | None = None
    """The value before the present doubt about noisy poses; None while there is none."""
    pending: Truth | None = None
    pending_since_s: float = 0.0

    def shown(self, life: Life) -> ConditionStatus:
        return ConditionStatus(self.condition, self.finding, self.since_s, self.stamp_s, life)

    def counts(self, truth: Truth, now_s: float) -> bool:
        """Return True when a new value is shown from now on; the value before a doubt needs as long to turn."""
        shown = self.firm if self.finding.truth is Truth.UNKNOWN and self.firm else self.finding.truth
        lasted_s = now_s - self.pending_since_s
        return self.fresh or bool(counts(shown, truth, lasted_s, self.condition.hold_s))

    def is_settled(self, evaluation: Evaluation) -> bool:
        """Return True when the present snapshot leaves the value as it is."""
        if self.fresh or self.pending is not None or not self.leaves.isdisjoint(evaluation.turned):
            return False
        # A doubt may end although no predicate turns, where poses become exact.
        if self.finding.flip_probability > 0.0 and not self.leaves.isdisjoint(evaluation.due):
            return False
        self.drifted = self.drifted or not self.leaves.isdisjoint(evaluation.due)
        return True


class ConditionMonitor:
    """Keeps the watched conditions and their values.

    A change counts once it has lasted the condition's ``hold_s``; a change to or from UNKNOWN counts at once. But
    when a doubt about noisy poses ends with the other value than before it, this must last ``hold_s`` too: otherwise
    noise would get around it.

    Args:
        max_age_s: Age of poses, contacts or joints above which a condition that reads them is UNKNOWN, s; see
            ``Evaluation``.
        max_flip: Largest probability that noise turns a verdict that is not left open; conditions may state another.
    """

    def __init__(self, max_age_s: float, max_flip: float = MAX_FLIP) -> None:
        self.evaluation = Evaluation(max_age_s, max_flip)
        self._entries: dict[str, _Entry] = {}
        self._lives = Lives(0)
        self._now_s = float("-inf")

    def watch(self, condition: Condition, now_s: float) -> None:
        """Watch a condition; a second time with the same hold time, or with none, changes nothing.

        Args:
            condition: The condition.
            now_s: ROS time, s.

        Raises:
            ConfigError: Too many conditions, or predicates of them, are watched already, or this one is with another
                hold time.
        """
        self.check_room(condition)
        if condition.key not in self._entries:
            self._entries[condition.key] = _entry(condition, "not decided yet", now_s)
            self._lives = self._lives.moved_to([*range(len(self._entries) - 1), -1])
            self.evaluation.add(condition.expression)

    def check_room(self, condition: Condition) -> None:
        """Refuse a condition for which there is no room.

        Args:
            condition: The condition; one that is watched already is accepted, unless it asks for another hold time.

        Raises:
            ConfigError: See ``watch``.
        """
        source = f"condition {condition.key[:80]!r}"
        if condition.key in self._entries:
            there = self._entries[condition.key].condition
            if condition.hold_s not in (0.0, there.hold_s):
                text = f"hold_s: is {condition.hold_s:g}, but it is watched with {there.hold_s:g}"
                raise ConfigError(source, [f"{text}; unwatch it first, or write 0 to keep that"])
            if condition.max_flip not in (None, there.max_flip):
                text = f"max_flip: is {condition.max_flip:g}, but it is watched with another limit"
                raise ConfigError(source, [f"{text}; unwatch it first, or leave it out to keep that"])
            return
        if len(self._entries) >= CONDITIONS:
            text = f"name: {CONDITIONS} conditions are watched already; unwatch some"
            raise ConfigError(source, [text])
        self.check_predicates([condition.expression], source, "name")

    def check_predicates(
        self,
        expressions: Collection[Expression],
        source: str,
        field: str,
        without: Collection[Expression] = (),
    ) -> None:
        """Refuse expressions for whose predicates there is no room.

        Args:
            expressions: The expressions to be added.
            source: The request, for the error.
            field: Field of the request, for the error.
            without: Expressions that were added and are dropped in their favour.

        Raises:
            ConfigError: More predicates would be watched than is allowed.
        """
        predicates = self.evaluation.count_with(expressions, without)
        if predicates > PREDICATES:
            text = (
                f"{field}: {predicates} predicates would be watched; at most {PREDICATES} are, unwatch some"
            )
            raise ConfigError(source, [text])

    def unwatch(self, key: str) -> bool:
        """Stop watching a condition.

        Args:
            key: Key of the condition.

        Returns:
            False when it was not watched.
        """
        kept = [i for i, other in enumerate(self._entries) if other != key]
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._lives = self._lives.moved_to(kept)
            self.evaluation.drop(entry.condition.expression)
        return entry is not None

    def keys(self) -> list[str]:
        """Return the keys of the watched conditions, in the order of watching."""
        return list(self._entries)

    def find(self, key: str) -> ConditionStatus | None:
        """Return the state of one condition.

        Args:
            key: Key of the condition.

        Returns:
            Its state; None when it is not watched.
        """
        entry = self._entries.get(key)
        return None if entry is None else self._shown(entry, list(self._entries).index(key))

    def shown(self) -> list[ConditionStatus]:
        """Return the state of every condition, in the order of watching."""
        return [self._shown(entry, row) for row, entry in enumerate(self._entries.values())]

    def update(self, world: World, now_s: float, silence: Silence = NO_SILENCE) -> list[ConditionStatus]:
        """Decide all conditions on one snapshot.

        When the time has jumped back, all start again.

        Args:
            world: The snapshot.
            now_s: ROS time, s.
            silence: The silence of the streams that the snapshot was made from, in steady time.

        Returns:
            The conditions whose value changed.
        """
        if now_s < self._now_s:
            self._start_again(now_s)
        self._now_s = now_s
        self.evaluation.begin(world, now_s, silence)
        stamps = {inputs: _stamp_s(world, *inputs) for inputs in INPUTS}
        changed = [self._has_changed(entry, stamps[entry.inputs], now_s) for entry in self._entries.values()]
        self._live(world, now_s)
        entries = enumerate(self._entries.values())
        return [entry.shown(self._lives.of(row)) for row, entry in entries if changed[row]]

    def decide(
        self, condition: Condition, world: World, now_s: float, silence: Silence = NO_SILENCE
    ) -> Finding:
        """Decide a condition without memory.

        Args:
            condition: The condition; it need not be watched.
            world: The snapshot.
            now_s: ROS time, s.
            silence: See ``update``.

        Returns:
            The finding; UNKNOWN where the world is too old.
        """
        return self.evaluation.once(condition.expression, world, now_s, silence, condition.max_flip)

    def _live(self, world: World, now_s: float) -> None:
        """Let the verdicts live on by one snapshot."""
        speeds = Speeds(world)
        entries, count = self._entries.values(), len(self._entries)
        truth = np.fromiter((entry.finding.truth for entry in entries), dtype=np.int8, count=count)
        calm = [entry.finding.truth is Truth.TRUE and speeds.rest(entry.objects) for entry in entries]
        self._lives.update(np.full(count, now_s), truth, np.array(calm, dtype=bool))

    def _shown(self, entry: _Entry, row: int) -> ConditionStatus:
        """Return the state with words and numbers of the newest snapshot, which are computed only when asked for."""
        if entry.drifted:
            found = self.evaluation.judged(entry.condition.expression, entry.condition.max_flip)
            entry.drifted = False
            if found.truth is entry.finding.truth:
                entry.finding = found
        return entry.shown(self._lives.of(row))

    def _start_again(self, now_s: float) -> None:
        self.evaluation.forget()
        for key, entry in self._entries.items():
            self._entries[key] = _entry(entry.condition, "time jumped back", now_s)
        self._lives = Lives(len(self._entries))

    def _has_changed(self, entry: _Entry, stamp_s: float, now_s: float) -> bool:
        """Take the newest finding of an entry; return True when the value that is shown differs from now on."""
        if entry.is_settled(self.evaluation):
            entry.stamp_s = stamp_s
            return False
        entry.drifted = False
        found = self.evaluation.judged(entry.condition.expression, entry.condition.max_flip)
        before = entry.finding.truth
        if found.truth is before:
            if not found.is_in_doubt:
                entry.firm = None
            entry.finding, entry.stamp_s = found, stamp_s
            entry.fresh, entry.pending = False, None
            return False
        if entry.pending is not found.truth:
            entry.pending, entry.pending_since_s = found.truth, now_s
        if not entry.counts(found.truth, now_s):
            return False
        entry.firm = before if found.is_in_doubt else None
        entry.finding, entry.since_s, entry.stamp_s = found, entry.pending_since_s, stamp_s
        entry.fresh, entry.pending = False, None
        return True


def stamp_s(condition: Condition, world: World) -> float:
    """Return the stamp of a finding: the oldest one of what the condition is about, s.

    Messages of one instant arrive one after the other, so that the contacts of a snapshot may be older than its poses.

    Args:
        condition: The condition.
        world: The snapshot that it is decided on.
    """
    return _stamp_s(world, *_inputs(condition))


def _inputs(condition: Condition) -> tuple[bool, bool]:
    predicates = [leaf.predicate for leaf in condition.expression.leaves()]
    return any(one.needs_contacts for one in predicates), any(one.needs_joints for one in predicates)


def _stamp_s(world: World, needs_contacts: bool, needs_joints: bool) -> float:
    stamps = [world.stamp_s]
    if needs_contacts and world.contacts is not None:
        stamps.append(world.contacts_stamp_s)
    if needs_joints and world.joints.position:
        stamps.append(world.joints.stamp_s)
    return min(stamps)


def _entry(condition: Condition, why: str, now_s: float) -> _Entry:
    leaves = list(condition.expression.leaves())
    objects = tuple(dict.fromkeys(name for leaf in leaves for name in moved_by(leaf.predicate)))
    keys = frozenset(leaf.key for leaf in leaves)
    return _Entry(condition, keys, objects, _inputs(condition), Finding.unknown(why), now_s)
