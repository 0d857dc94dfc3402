"""Events of n worlds as arrays; those of one world become objects with words only when they are asked for. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array

from .task_event import Event, EventCode

Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
NOT_YET_S = -np.inf
Words = Callable[[int, str, float], str]
"""Makes the sentence of an event from its world, its subject and its value."""


@dataclass(frozen=True, slots=True, eq=False)
class Raised:
    """Events of one kind, k of them.

    Attributes:
        code: The kind.
        order: Place of the check among those of an instant.
        names: Names of the objects.
        world: Worlds of the events, (k,).
        subject: Index of the object in ``names``, -1 without one, (k,).
        value: The numbers that decided, (k,); nan where there is none.
        stamp_s: Times of detection, (k,), s.
        onset_s: Times at which they began, (k,), s.
        words: Makes a sentence.
    """

    code: EventCode
    order: int
    names: Sequence[str]
    world: Indices
    subject: Indices
    value: Array
    stamp_s: Array
    onset_s: Array
    words: Words

    def event(self, i: int) -> Event:
        """Return one event.

        Args:
            i: Index of the event, 0 to k - 1.
        """
        world, subject, value = int(self.world[i]), int(self.subject[i]), float(self.value[i])
        name = self.names[subject] if subject >= 0 else ""
        text = self.words(world, name, value)
        return Event(self.code, float(self.stamp_s[i]), name, text, value, float(self.onset_s[i]))

    def where(self, kept: Flags) -> Raised:
        """Return some of the events.

        Args:
            kept: The events to keep, (k,).
        """
        return replace(
            self,
            world=self.world[kept],
            subject=self.subject[kept],
            value=self.value[kept],
            stamp_s=self.stamp_s[kept],
            onset_s=self.onset_s[kept],
        )


@dataclass(slots=True, eq=False)
class Happened:
    """All events of one instant.

    Attributes:
        raised: The events by kind.
    """

    raised: list[Raised] = field(default_factory=list)

    def add(self, raised: Raised) -> None:
        """Add events.

        Args:
            raised: Events of one kind; none of them is accepted too.
        """
        if len(raised.world):
            self.raised.append(raised)

    def count(self, codes: Sequence[EventCode], n: int) -> Indices:
        """Return the number of events in each world.

        Args:
            codes: The kinds that count.
            n: Number of worlds.

        Returns:
            Numbers, (n,).
        """
        worlds = [raised.world for raised in self.raised if raised.code in codes]
        return np.bincount(np.concatenate([np.zeros(0, dtype=np.int64), *worlds]), minlength=n)

    def columns(self) -> tuple[Indices, Indices, Array]:
        """Return worlds, codes and values of all events, (k,) each, without an order."""
        empty = np.zeros(0, dtype=np.int64)
        return (
            np.concatenate([empty, *(raised.world for raised in self.raised)]),
            np.concatenate([empty, *(np.full(len(r.world), int(r.code)) for r in self.raised)]),
            np.concatenate([np.zeros(0), *(raised.value for raised in self.raised)]),
        )

    def of(self, world: int = 0) -> tuple[Event, ...]:
        """Return the events of one world, in the order in which the checks run.

        Args:
            world: Index of the world.
        """
        found = [
            (raised.order, int(raised.subject[i]), place, raised.event(int(i)))
            for place, raised in enumerate(self.raised)
            for i in np.flatnonzero(raised.world == world)
        ]
        return tuple(item[-1] for item in sorted(found, key=lambda item: item[:-1]))


class Reports:
    """Collects the events of one instant that were not reported shortly before.

    Args:
        reported_s: The time of the last report by kind, (m + 1, n), s; it is kept from instant to instant. The last
            row is that of events without a subject.
        names: Names of the m objects.
        stamp_s: The time, (n,), s.
        merge_s: Time within which the same event on the same object is reported once, s.
        worlds: Worlds whose events are reported, (n,); None: all.
    """

    def __init__(
        self,
        reported_s: dict[EventCode, Array],
        names: Sequence[str],
        stamp_s: Array,
        merge_s: float,
        worlds: Flags | None = None,
    ) -> None:
        self._reported_s, self._stamp_s, self._merge_s = reported_s, stamp_s, merge_s
        self._worlds = worlds
        self.names, self.happened = names, Happened()

    def add(
        self,
        code: EventCode,
        order: int,
        subject: Indices,
        world: Indices,
        words: Words,
        value: Array | None = None,
        onset_s: Array | None = None,
    ) -> None:
        """Add events of one kind, k of them.

        Args:
            code: The kind.
            order: Place of the check among those of an instant.
            subject: Index of the object of each event, -1 without one, (k,) or (1,).
            world: World of each event, (k,).
            words: Makes a sentence.
            value: The numbers that decided, (k,); None: there is none.
            onset_s: Times at which they began, (k,), s; None: now.
        """
        if not len(world):
            return
        stamp_s, subject = self._stamp_s[world], np.broadcast_to(subject, world.shape)
        value = np.full(len(world), np.nan) if value is None else value
        onset_s = stamp_s if onset_s is None else onset_s
        raised = Raised(code, order, self.names, world, subject, value, stamp_s, onset_s, words)
        if self._worlds is not None:
            raised = raised.where(self._worlds[world])
        last_s, place = self._reports_of(code), (raised.subject, raised.world)
        ago_s = raised.stamp_s - last_s[place]
        last_s[place] = raised.stamp_s
        self.happened.add(raised.where(~((ago_s >= 0.0) & (ago_s < self._merge_s))))

    def _reports_of(self, code: EventCode) -> Array:
        rows, old = len(self.names) + 1, self._reported_s.get(code)
        if old is None or len(old) < rows:
            found = np.full((rows, len(self._stamp_s)), NOT_YET_S)
            if old is not None:
                found[: len(old) - 1], found[-1] = old[:-1], old[-1]
            self._reported_s[code] = found
        return self._reported_s[code]


def first_of(flags: Flags) -> Indices:
    """Return the index of the first object that has a property.

    Args:
        flags: The property, (m, n).

    Returns:
        The indices, (n,); -1 where no object has it.
    """
    if not len(flags):
        return np.full(flags.shape[1], -1)
    return np.where(flags.any(axis=0), flags.argmax(axis=0), -1)


def indices(flags: Flags) -> tuple[Indices, Indices]:
    """Return the objects and the worlds that have a property, (k,) each.

    Args:
        flags: The property, (m, n).
    """
    subject, world = np.nonzero(flags)
    return subject, world


def named(names: Sequence[str], flags: Flags) -> list[str]:
    """Return the names of the objects that have a property.

    Args:
        names: Names of the objects.
        flags: The property, (m,).
    """
    return [names[i] for i in np.flatnonzero(flags)]
