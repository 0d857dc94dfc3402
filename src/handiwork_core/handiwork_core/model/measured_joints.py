"""Measured joints from one publisher, or from several with different joints, such as drivers of arms and hands."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from handiwork_core.intake.counters import duplicate_name
from handiwork_core.intake.writer_sequences import HOLD_S, WriterSequences

from .world import JointState

MOST_GROUPS = 16


@dataclass(slots=True, eq=False)
class _Group:
    """The joints that come in one message."""

    names: tuple[str, ...]
    stamp_s: float = 0.0
    position: Sequence[float] = ()
    velocity: Sequence[float] = ()
    effort: Sequence[float] = ()
    received_s: float = -math.inf
    seen_s: float = -math.inf
    """Arrival of the last message with these names, good or bad, s of steady time."""
    writers: WriterSequences = field(default_factory=WriterSequences)


class MeasuredJoints:
    """The newest measurement of every joint. Times of arrival are steady, stamps are the robot's, in s.

    Args:
        needed: Joints without which the robot counts as silent, if they were ever measured.
        hold_s: Steady time after which joints that come no more, while others do, are no measurement, s.
    """

    def __init__(self, needed: Collection[str], hold_s: float = HOLD_S) -> None:
        self._needed, self._hold_s = frozenset(needed), hold_s
        self._groups: dict[tuple[str, ...], _Group] = {}
        self._newest: tuple[Sequence[str], _Group] | None = None
        self._writers = WriterSequences()
        self._value: JointState | None = None

    def note(self, names: Sequence[str], number: int, received_s: float) -> None:
        """Record the arrival of a message, good or bad.

        Args:
            names: Joints of the message.
            number: Sequence number of its writer.
            received_s: Time of its arrival, s of steady time.

        Raises:
            ValueError: It names no joint, one twice, or there are too many different sets of names.
        """
        group = self._group(names, received_s)
        group.seen_s = received_s
        group.writers.take(number, received_s)
        self._writers.take(number, received_s)

    def take(
        self,
        names: Sequence[str],
        stamp_s: float,
        position: Sequence[float],
        velocity: Sequence[float],
        received_s: float,
        effort: Sequence[float] = (),
    ) -> None:
        """Keep a good message, after ``note``.

        Args:
            names: Joints of the message, (n,).
            stamp_s: Its stamp, s.
            position: Positions, (n,), rad or m.
            velocity: Velocities, (n,), rad/s or m/s; may be empty.
            received_s: Time of its arrival, s of steady time.
            effort: Efforts, (n,), Nm or N; may be empty.

        Raises:
            ValueError: As in ``note``.
        """
        group = self._group(names, received_s)
        group.stamp_s, group.received_s = stamp_s, received_s
        group.position, group.velocity, group.effort = position, velocity, effort
        self._value = None

    def value(self) -> JointState:
        """Return all joints with the newest stamp; a group that fell silent while others continue is left out."""
        if self._value is None:
            self._value = self._merged()
        return self._value

    def effort(self) -> dict[str, float]:
        """Return the newest efforts by joint, Nm or N; joints that come without one are left out."""
        efforts = dict[str, float]()
        for one in self._current():
            efforts.update(zip(one.names, one.effort, strict=False))
        return efforts

    def heard_s(self) -> float:
        """Return the earliest newest arrival of a needed joint, s of steady time; -inf before the first."""
        missing, heard_s = set(self._needed), list[float]()
        for one in self._newest_of_each():
            if not missing.isdisjoint(one.names):
                heard_s.append(one.received_s)
                missing.difference_update(one.names)
        return min(heard_s, default=-math.inf)

    def contested(self, now_s: float) -> tuple[str, ...]:
        """Return the joints that several writers publish at the same time.

        Args:
            now_s: Steady time, s.
        """
        if not self._writers.are_several(now_s):
            return ()
        active = [one for one in self._groups.values() if now_s - one.seen_s < HOLD_S]
        found = dict.fromkeys(name for one in active if one.writers.are_several(now_s) for name in one.names)
        for i, one in enumerate(active):
            for other in active[:i]:
                found.update(dict.fromkeys(name for name in one.names if name in other.names))
        return tuple(found)

    def clear(self) -> None:
        """Forget all measurements; the writers stay known."""
        for group in self._groups.values():
            group.received_s, group.position, group.velocity, group.effort = -math.inf, (), (), ()
        self._value = None

    def _group(self, names: Sequence[str], received_s: float) -> _Group:
        if self._newest is not None and self._newest[0] is names:
            return self._newest[1]
        key = tuple(names)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = self._new_group(key, received_s)
        self._newest = (names, group)
        return group

    def _new_group(self, names: tuple[str, ...], received_s: float) -> _Group:
        if not names:
            raise ValueError("name is empty; send at least one joint")
        if double := duplicate_name(names):
            raise ValueError(f"name has {double!r} twice; send each joint once")
        if len(self._groups) >= MOST_GROUPS:
            self._groups = {k: one for k, one in self._groups.items() if received_s - one.seen_s < HOLD_S}
            self._newest = None
        if len(self._groups) >= MOST_GROUPS:
            raise ValueError(
                f"name is one of more than {MOST_GROUPS} different lists; send the same joints always"
            )
        return _Group(names)

    def _newest_of_each(self) -> list[_Group]:
        """Return groups with a value, but not those whose joints all came later in others."""
        groups = sorted(
            (one for one in self._groups.values() if one.received_s > -math.inf),
            key=lambda one: -one.received_s,
        )
        if len(groups) < 2:
            return groups
        seen, found = set[str](), list[_Group]()
        for one in groups:
            if not seen.issuperset(one.names):
                found.append(one)
                seen.update(one.names)
        return found

    def _current(self) -> list[_Group]:
        """Return the groups that count, the newest last."""
        groups = self._newest_of_each()
        return [one for one in reversed(groups) if groups[0].received_s - one.received_s < self._hold_s]

    def _merged(self) -> JointState:
        groups = self._current()
        if not groups:
            return JointState(0.0, {})
        position, velocity, stamp_s = dict[str, float](), dict[str, float](), -math.inf
        for one in groups:
            position.update(zip(one.names, one.position, strict=True))
            velocity.update(zip(one.names, one.velocity, strict=False))
            stamp_s = max(stamp_s, one.stamp_s)
        return JointState(stamp_s, position, velocity)
