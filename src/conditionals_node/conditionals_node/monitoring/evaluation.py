"""Decides predicates on each snapshot, and again only where something that they read has changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from conditionals_node.doubt.doubts import MAX_FLIP, Doubts, read_by
from conditionals_node.expressions.expression import Expression, Leaf
from handiwork_core.contracts.predicate import Finding, LatchedPredicate
from handiwork_core.model.world import World

from .geometry_caches import forget_geometry
from .silence import NO_SILENCE, Limits, Silence
from .vectorized import LEAST, Sweep
from .world_changes import moved_objects, pressed_bodies


@dataclass(slots=True)
class _Slot:
    """The state of one leaf between snapshots; while it is ``due``, only the truth in ``finding`` is current."""

    leaf: Leaf
    subjects: tuple[str, ...]
    needs_contacts: bool
    needs_joints: bool
    latched: bool
    finding: Finding | None = None
    memory: object = None
    stale: bool = False
    users: int = 0
    due: bool = True


class Evaluation:
    """Decides the leaves of many expressions. Equal leaves are decided once, however many expressions have them.

    Args:
        max_age_s: Age of a pose, of the contacts or of the joints above which a leaf that reads them is UNKNOWN, s; so
            is the silence of their stream, in steady time, unless ``allow_silence`` says otherwise.
        max_flip: Largest probability that noise turns a verdict that is not left open, where nothing else is stated.
    """

    def __init__(self, max_age_s: float, max_flip: float = MAX_FLIP) -> None:
        self.max_flip, self._doubts = max_flip, Doubts(World(0.0))
        self._limits = Limits(max_age_s, max_age_s)
        self._silence = NO_SILENCE
        self._slots: dict[str, _Slot] = {}
        self._by_subject: dict[str, list[str]] = {}
        self._world, self._now_s = World(0.0), 0.0
        self._was_fresh = False
        self.due: set[str] = set()
        """Keys of the leaves whose findings may differ from those before, if only in numbers."""
        self.turned: set[str] = set()
        """Keys of the due leaves whose value may differ."""
        self._sweep: Sweep | None = None
        self._read: frozenset[str] = frozenset()

    def add(self, expression: Expression) -> None:
        """Decide the leaves of an expression from now on.

        Args:
            expression: The expression; each ``add`` needs its own ``drop``.
        """
        for leaf in expression.leaves():
            slot = self._slots.setdefault(leaf.key, _slot(leaf))
            slot.users += 1
        self._sort()

    def count_with(self, expressions: Iterable[Expression], without: Iterable[Expression] = ()) -> int:
        """Return the number of predicates that there would be with those of more expressions.

        Args:
            expressions: The expressions.
            without: Expressions that were added and would be dropped.
        """
        dropped = Counter(leaf.key for expression in without for leaf in expression.leaves())
        kept = {key for key, slot in self._slots.items() if slot.users > dropped[key]}
        return len(kept | {leaf.key for expression in expressions for leaf in expression.leaves()})

    def drop(self, expression: Expression) -> None:
        """Undo ``add``.

        Args:
            expression: An expression that was added.
        """
        for leaf in expression.leaves():
            slot = self._slots[leaf.key]
            slot.users -= 1
            if slot.users == 0:
                del self._slots[leaf.key]
        self._sort()

    def allow_silence(self, silence_s: float) -> None:
        """Set the longest accepted silence of a stream; a delayed process receives late.

        Args:
            silence_s: The silence, in steady time, s.
        """
        if silence_s != self._limits.silence_s:
            self._limits = Limits(self._limits.age_s, silence_s)

    def forget(self) -> None:
        """Start again: the next snapshot is the first, and latches are open."""
        for slot in self._slots.values():
            slot.finding, slot.memory = None, None
        self._was_fresh = False

    def unlatch(self, expressions: Iterable[Expression]) -> None:
        """Open the latches of some expressions, for all that share their leaves.

        Args:
            expressions: Expressions that were added.
        """
        for leaf in {leaf for expression in expressions for leaf in expression.leaves()}:
            self._slots[leaf.key].memory = None

    def begin(self, world: World, now_s: float, silence: Silence = NO_SILENCE) -> None:
        """Take the next snapshot; the findings of leaves whose inputs have not changed stay.

        Args:
            world: The snapshot.
            now_s: Time of the decision, in the clock of the snapshot's stamps, s.
            silence: The silence of the streams that the snapshot was made from.
        """
        before, self._world, self._now_s, self._silence = self._world, world, now_s, silence
        fresh = _is_fresh(world, now_s, silence, self._limits)
        has_other_geometry = before.objects is not world.objects
        if has_other_geometry:
            forget_geometry()
        everything = not (fresh and self._was_fresh) or has_other_geometry
        if everything or before.frames != world.frames:
            self.due = set(self._slots)
        else:
            self.due = self._touched(before, world)
        self._was_fresh = fresh
        self._doubts = doubts = Doubts(world, self._read)
        self.turned = self.due if everything else self.due - self._steady(doubts)
        for key in self.due:
            self._slots[key].due = True
        for key, slot in self._slots.items():
            if slot.latched:  # It remembers what happens while nobody asks for it, too.
                doubts.memories[key] = slot.memory
                self(slot.leaf)

    def judged(self, expression: Expression, max_flip: float | None = None) -> Finding:
        """Return the finding of an expression on the present snapshot, UNKNOWN where noise turns it too probably.

        Args:
            expression: An expression that was added.
            max_flip: Largest probability of that; None: that of the evaluation.
        """
        return self._doubts.judged(expression, self, self.max_flip if max_flip is None else max_flip)

    def __call__(self, leaf: Leaf) -> Finding:
        """Return the finding of a leaf on the present snapshot; the same object as before when nothing has changed."""
        slot = self._slots[leaf.key]
        found = slot.finding
        if found is None or slot.due:
            slot.due = False
            if self._was_fresh and not slot.latched:
                slot.stale, slot.finding = False, (found := leaf.predicate.evaluate(self._world))
                return found
            return self._decide(leaf, slot)
        return found

    def _steady(self, doubts: Doubts) -> set[str]:
        """Return the keys of due leaves whose value stays the same; the doubt about noisy ones may not."""
        if len(self.due) < LEAST:
            return set()
        if self._sweep is None:
            self._sweep = Sweep(slot.leaf for slot in self._slots.values())
        slots = ((key, self._slots[key]) for key in self.due)
        truths = {key: slot.finding.truth for key, slot in slots if slot.finding is not None}
        steady = self._sweep.steady(self._world, truths)
        return (
            {key for key in steady if not doubts.concern(self._slots[key].leaf)} if doubts.noisy else steady
        )

    def _sort(self) -> None:
        self._was_fresh, self._sweep = False, None
        self._by_subject = {}
        for key, slot in self._slots.items():
            for name in slot.subjects:
                self._by_subject.setdefault(name, []).append(key)
        self._read = read_by(slot.leaf for slot in self._slots.values())

    def _touched(self, before: World, world: World) -> set[str]:
        """Return the keys of the leaves that read something which differs between two snapshots."""
        due: set[str] = set()
        moved = set(moved_objects(before, world))
        if 2 * len(moved) > len(world.states):
            return set(self._slots)  # cheaper than to find out which of nearly all
        for name in moved:
            due.update(self._by_subject.get(name, ()))
        pressed = pressed_bodies(before, world)
        joints = before.joints is not world.joints and before.joints.position != world.joints.position
        for name in pressed - moved:
            due.update(key for key in self._by_subject.get(name, ()) if self._slots[key].needs_contacts)
        for key, slot in self._slots.items():
            touched = pressed and slot.needs_contacts and not slot.subjects
            if touched or slot.latched or (joints and slot.needs_joints):
                due.add(key)
        return due

    def once(
        self,
        expression: Expression,
        world: World,
        now_s: float,
        silence: Silence = NO_SILENCE,
        max_flip: float | None = None,
    ) -> Finding:
        """Decide without memory and without a change of the kept findings.

        Args:
            expression: The expression; it need not have been added.
            world: The snapshot.
            now_s: Time of the decision, in the clock of the snapshot's stamps, s.
            silence: The silence of the streams that the snapshot was made from.
            max_flip: See ``judged``.

        Returns:
            The finding; leaves whose inputs are too old are UNKNOWN.
        """

        def decide(leaf: Leaf) -> Finding:
            stale = _too_old(_slot(leaf), world, now_s, silence, self._limits)
            return Finding.unknown(stale) if stale else leaf.predicate.evaluate(world)

        doubts = Doubts(world, read_by(expression.leaves()))
        return doubts.judged(expression, decide, self.max_flip if max_flip is None else max_flip)

    def _decide(self, leaf: Leaf, slot: _Slot) -> Finding:
        stale = ""
        if not self._was_fresh:
            stale = _too_old(slot, self._world, self._now_s, self._silence, self._limits)
        predicate = leaf.predicate
        if stale:
            # Reported once: the age would be a new reason at each snapshot.
            if slot.finding is None or not slot.stale:
                slot.finding = Finding.unknown(stale)
        elif isinstance(predicate, LatchedPredicate):
            slot.finding, slot.memory = predicate.advance(slot.memory, self._world)
        else:
            slot.finding = predicate.evaluate(self._world)
        slot.stale = bool(stale)
        assert slot.finding is not None  # set by one of the three branches
        return slot.finding


def _slot(leaf: Leaf) -> _Slot:
    predicate = leaf.predicate
    subjects = tuple(dict.fromkeys([*predicate.subjects(), *predicate.frames()]))
    latched = isinstance(predicate, LatchedPredicate)
    return _Slot(leaf, subjects, predicate.needs_contacts, predicate.needs_joints, latched)


def _is_fresh(world: World, now_s: float, silence: Silence, limits: Limits) -> bool:
    """Return True when nothing in a snapshot is too old."""
    joints, contacts, oldest_s = world.joints, world.contacts, now_s - limits.age_s
    if joints.position and (joints.stamp_s < oldest_s or silence.joints_s > limits.silence_s):
        return False
    if contacts is not None and (world.contacts_stamp_s < oldest_s or silence.contacts_s > limits.silence_s):
        return False
    if world.states and silence.states_s > limits.silence_s:
        return False
    return all(state.stamp_s >= oldest_s for state in world.states.values())


def _too_old(slot: _Slot, world: World, now_s: float, silence: Silence, limits: Limits) -> str:
    """Return why a snapshot is too old for a leaf; empty when it is not."""
    oldest, old = now_s - limits.age_s, list[str]()
    if any(name in world.states for name in slot.subjects):
        old += limits.silent("world/object_states", silence.states_s)
    old += [
        f"pose of {name} is {now_s - state.stamp_s:.1f} s old"
        for name in slot.subjects
        if (state := world.states.get(name)) is not None and state.stamp_s < oldest
    ]
    if slot.needs_contacts and world.contacts is not None:
        old += limits.silent("world/contacts", silence.contacts_s)
        if world.contacts_stamp_s < oldest:
            old.append(f"world/contacts is {now_s - world.contacts_stamp_s:.1f} s old")
    if slot.needs_joints and world.joints.position:
        old += limits.silent("joint_states", silence.joints_s)
        if world.joints.stamp_s < oldest:
            old.append(f"joint_states is {now_s - world.joints.stamp_s:.1f} s old")
    return f"{', '.join(old)}; at most {limits.age_s:g} s is used" if old else ""
