"""Decides predicates on snapshot after snapshot, and anew only where something that they read has changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from handiwork_core.predicate import Finding, LatchedPredicate
from handiwork_core.world import Contact, ObjectState, World

from .expression import Expression, Leaf


@dataclass(slots=True)
class _Slot:
    """What is kept of one leaf between snapshots."""

    subjects: tuple[str, ...]
    needs_contacts: bool
    needs_joints: bool
    finding: Finding | None = None
    memory: object = None
    stale: str = ""
    users: int = 0
    fresh: bool = field(default=False)


class Evaluation:
    """Leaves that are equal are decided once, however many expressions hold them.

    ``max_age_s``: what is older makes a leaf UNKNOWN.
    """

    def __init__(self, max_age_s: float) -> None:
        self._max_age_s = max_age_s
        self._slots: dict[str, _Slot] = {}
        self._world, self._now_s = World(0.0), 0.0
        self._changes = Changes(self._world, self._world)

    def add(self, expression: Expression) -> None:
        """Keep the leaves of an expression from now on."""
        for leaf in expression.leaves():
            slot = self._slots.setdefault(leaf.key, _slot(leaf))
            slot.users += 1

    def drop(self, expression: Expression) -> None:
        """The opposite of ``add``."""
        for leaf in expression.leaves():
            slot = self._slots[leaf.key]
            slot.users -= 1
            if slot.users == 0:
                del self._slots[leaf.key]

    def forget(self) -> None:
        """Start anew: the next snapshot is the first, and latches are open."""
        for slot in self._slots.values():
            slot.finding, slot.memory = None, None

    def begin(self, world: World, now_s: float) -> None:
        """Take the next snapshot; findings of what has not changed stay."""
        self._changes = Changes(self._world, world)
        self._world, self._now_s = world, now_s
        for slot in self._slots.values():
            slot.fresh = False

    def __call__(self, leaf: Leaf) -> Finding:
        """The finding of a leaf on the present snapshot; the same object as before when nothing has changed."""
        slot = self._slots[leaf.key]
        if not slot.fresh:
            slot.fresh = True
            self._decide(leaf, slot)
        assert slot.finding is not None  # just decided
        return slot.finding

    def once(self, expression: Expression, world: World, now_s: float) -> Finding:
        """Decide without memory, and without a trace in what is kept."""

        def decide(leaf: Leaf) -> Finding:
            stale = _too_old(_slot(leaf), world, now_s, self._max_age_s)
            return Finding.unknown(stale) if stale else leaf.predicate.evaluate(world)

        return expression.decide(decide)

    def _decide(self, leaf: Leaf, slot: _Slot) -> None:
        stale = _too_old(slot, self._world, self._now_s, self._max_age_s)
        if stale:
            # What has become old is told once: its age would be a new reason each time.
            if slot.finding is None or not slot.stale:
                slot.finding = Finding.unknown(stale)
            slot.stale = stale
            return
        predicate = leaf.predicate
        if isinstance(predicate, LatchedPredicate):
            slot.finding, slot.memory = predicate.advance(slot.memory, self._world)
        elif slot.finding is None or slot.stale or self._changes.reach(slot):
            slot.finding = predicate.evaluate(self._world)
        slot.stale = ""


class Changes:
    """What differs between two snapshots; what moves is compared by identity first."""

    def __init__(self, before: World, after: World) -> None:
        self._all = before.objects is not after.objects or before.frames != after.frames
        self.moved = () if self._all else frozenset(_moved(before, after))
        self._joints = before.joints is not after.joints and before.joints.position != after.joints.position
        self.pressed = _pressed(before, after)

    def reach(self, slot: _Slot) -> bool:
        """True when a leaf reads something that differs."""
        if self._all or (slot.needs_joints and self._joints):
            return True
        if slot.needs_contacts and self.pressed and not slot.subjects:
            return True
        return any(
            name in self.moved or (slot.needs_contacts and name in self.pressed) for name in slot.subjects
        )


def _slot(leaf: Leaf) -> _Slot:
    predicate = leaf.predicate
    subjects = tuple(dict.fromkeys([*predicate.subjects(), *predicate.frames()]))
    return _Slot(subjects, predicate.needs_contacts, predicate.needs_joints)


def _moved(before: World, after: World) -> Iterable[str]:
    old = before.states
    for name, state in after.states.items():
        last = old.get(name)
        if last is None or not _is_same(last, state):
            yield name
    yield from old.keys() - after.states.keys()


def _is_same(a: ObjectState, b: ObjectState) -> bool:
    same_twist = a.world_v_object is b.world_v_object and a.world_w_object is b.world_w_object
    return a is b or (a.world_T_object is b.world_T_object and same_twist)


def _pressed(before: World, after: World) -> frozenset[str]:
    """Bodies of which a contact has changed; those of all contacts where the source came or went."""
    if before.contacts is after.contacts:
        return frozenset()
    if before.contacts is None or after.contacts is None:
        return frozenset([*before.states, *after.states, *_bodies(after.contacts or before.contacts or ())])
    # The decoder keeps what has not changed, so contacts compare by identity.
    return frozenset(_bodies(set(before.contacts) ^ set(after.contacts)))


def _bodies(contacts: Iterable[Contact]) -> Iterable[str]:
    for contact in contacts:
        yield contact.a
        yield contact.b


def _too_old(slot: _Slot, world: World, now_s: float, max_age_s: float) -> str:
    """Why a snapshot is too old for a leaf; empty when it is not."""
    oldest = now_s - max_age_s
    old = [
        f"pose of {name} is {now_s - state.stamp_s:.1f} s old"
        for name in slot.subjects
        if (state := world.states.get(name)) is not None and state.stamp_s < oldest
    ]
    if slot.needs_contacts and world.contacts is not None and world.contacts_stamp_s < oldest:
        old.append(f"world/contacts is {now_s - world.contacts_stamp_s:.1f} s old")
    if slot.needs_joints and world.joints.position and world.joints.stamp_s < oldest:
        old.append(f"joint_states is {now_s - world.joints.stamp_s:.1f} s old")
    return f"{', '.join(old)}; at most {max_age_s:g} s is used" if old else ""
