"""Events from a sequence of sights, each reported once. Pure; ``sight.py`` makes the sights from the world."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from handiwork_core.model.geometry import Array

from .task_event import Event, EventCode, EventRules

ROOM_M = 0.25
"""The room around the first place of an object that belongs to the scene, m."""


@dataclass(frozen=True, slots=True, eq=False)
class ObjectMotion:
    """The motion of one object.

    Attributes:
        place_m: Its origin in world, (3,), m.
        speed_mps: Its speed, m/s.
        tilt_rad: Angle between its z axis and straight up, rad.
    """

    place_m: Array
    speed_mps: float
    tilt_rad: float


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """The observations of one instant.

    Attributes:
        stamp_s: Time of the snapshot, s.
        motions: Motion of each object that can move, by name.
        touched: Objects that a finger touches, in order of the objects.
        gripped: Objects between the fingers, in order of the objects.
        touches_surface: True when a finger touches a surface.
        closed: Share to which the gripper is closed; nan where it is not measured.
        intended: Objects that are to be moved now.
        goals: Objects that they are moved to.
        goal_places_m: Origins of these in world, (3,) each, by name, m.
        settled: Intended objects that have arrived.
        feels: False where contacts are not known, so that no event of touching is reported.
    """

    stamp_s: float
    motions: Mapping[str, ObjectMotion]
    touched: tuple[str, ...] = ()
    gripped: tuple[str, ...] = ()
    touches_surface: bool = False
    closed: float = math.nan
    intended: frozenset[str] = frozenset()
    goals: frozenset[str] = frozenset()
    goal_places_m: Mapping[str, Array] = field(default_factory=dict)
    settled: frozenset[str] = frozenset()
    feels: bool = True


@dataclass(slots=True)
class _Memory:
    """The state that is kept from one instant to the next."""

    wrong: str = ""
    on_surface: bool = False
    closed: bool = False
    holding: tuple[str, ...] = ()
    several: bool = False
    gone: set[str] = field(default_factory=set)
    tipped: set[str] = field(default_factory=set)
    hit: set[str] = field(default_factory=set)
    moving_from: dict[str, Array] = field(default_factory=dict)


class EventTracker:
    """Finds events in a sequence of sights. It keeps the state that it needs; a new tracker begins without any.

    Args:
        rules: The limits of events.
    """

    def __init__(self, rules: EventRules) -> None:
        self._rules, self._was = rules, _Memory()
        self._reported_s: dict[tuple[EventCode, str], float] = {}
        edges = list(zip(rules.centre_m, rules.size_m, strict=True))
        self._low = [centre - 0.5 * size for centre, size in edges]
        self._high = [centre + 0.5 * size for centre, size in edges]
        self._in_scene: set[str] = set()

    def update(self, sight: Sight) -> list[Event]:
        """Return the events since the instant before, without those that were reported within ``merge_s``.

        Args:
            sight: The observations of this instant.

        Returns:
            The events, in the order in which the checks run.
        """
        return [event for event in self._all(sight) if self._is_new(event)]

    def _is_new(self, event: Event) -> bool:
        key = (event.code, event.subject)
        last_s = self._reported_s.get(key, -math.inf)
        self._reported_s[key] = event.stamp_s
        return not 0.0 <= event.stamp_s - last_s < self._rules.merge_s

    def _all(self, sight: Sight) -> Iterator[Event]:
        if sight.feels:
            yield from self._wrong_grasp(sight)
            yield from self._gripper(sight)
        yield from self._pushed(sight)
        yield from self._left_or_tipped(sight)
        if sight.feels:
            yield from self._drop(sight)
            yield from self._touches(sight)

    def _wrong_grasp(self, sight: Sight) -> Iterator[Event]:
        wrong = next((name for name in sight.gripped if name not in sight.intended), "")
        before, self._was.wrong = self._was.wrong, wrong
        if wrong and wrong != before:
            text = f"{wrong} was grabbed; the task moves {sorted(sight.intended)}"
            yield Event(EventCode.WRONG_OBJECT_GRABBED, sight.stamp_s, wrong, text)
        elif before and not wrong:
            text = f"{before}, which was the wrong object, is let go"
            yield Event(EventCode.WRONG_OBJECT_DETACHED, sight.stamp_s, before, text)

    def _gripper(self, sight: Sight) -> Iterator[Event]:
        if sight.touches_surface and not self._was.on_surface:
            yield Event(EventCode.GRIPPER_HIT_TABLE, sight.stamp_s, "", "a finger touches the table")
        self._was.on_surface = sight.touches_surface
        closed = sight.closed >= self._rules.closed_share
        # Both fingers do not meet what they close on in the same instant, so one that touches is enough.
        empty = not (sight.gripped or sight.touched)
        if closed and not self._was.closed and (self._rules.closing_on_object or empty):
            text = f"gripper is {sight.closed:.0%} closed"
            yield Event(EventCode.GRIPPER_FULLY_CLOSED, sight.stamp_s, "", text, sight.closed)
        self._was.closed = closed

    def _pushed(self, sight: Sight) -> Iterator[Event]:
        rules, moving_from = self._rules, self._was.moving_from
        for name, motion in sight.motions.items():
            if name in sight.intended:
                continue
            if motion.speed_mps > rules.moving_mps:
                if name not in moving_from and rules.tell_starts:
                    text = f"{name} begins to move at {motion.speed_mps:.2f} m/s"
                    yield Event(EventCode.OBJECT_STARTED_MOVING, sight.stamp_s, name, text, motion.speed_mps)
                moving_from.setdefault(name, motion.place_m)
            elif name in moving_from:
                way = float(np.linalg.norm(motion.place_m - moving_from.pop(name)))
                if way >= rules.move_m:
                    text = f"{name} was moved by {way:.3f} m"
                    yield Event(EventCode.OBJECT_MOVED, sight.stamp_s, name, text, way)
                elif way >= rules.bump_m:
                    text = f"{name} was bumped by {way:.3f} m"
                    yield Event(EventCode.OBJECT_BUMPED, sight.stamp_s, name, text, way)

    def _grow(self, sight: Sight) -> None:
        """Let the scene's box grow to the places where objects and goals are first seen."""
        places = {**{name: motion.place_m for name, motion in sight.motions.items()}, **sight.goal_places_m}
        for name in places.keys() - self._in_scene:
            self._in_scene.add(name)
            for i, x in enumerate(places[name].tolist()):
                self._low[i], self._high[i] = min(self._low[i], x - ROOM_M), max(self._high[i], x + ROOM_M)

    def _left_or_tipped(self, sight: Sight) -> Iterator[Event]:
        if self._rules.grow_scene:
            self._grow(sight)
        for name, motion in sight.motions.items():
            beyond = max(
                max(low - x, x - high)
                for low, x, high in zip(self._low, motion.place_m.tolist(), self._high, strict=True)
            )
            if name not in sight.intended and self._starts(self._was.gone, name, beyond > 0.0):
                text = f"{name} is {beyond:.3f} m outside of the scene"
                yield Event(EventCode.OBJECT_OUT_OF_SCENE, sight.stamp_s, name, text, beyond)
            tilted = name in self._rules.upright and motion.tilt_rad > self._rules.tip_rad
            if self._starts(self._was.tipped, name, tilted):
                text = (
                    f"{name} leans by {motion.tilt_rad:.2f} rad; upright is at most {self._rules.tip_rad:g}"
                )
                yield Event(EventCode.OBJECT_TIPPED_OVER, sight.stamp_s, name, text, motion.tilt_rad)

    def _drop(self, sight: Sight) -> Iterator[Event]:
        before = self._was.holding
        self._was.holding = tuple(name for name in sight.touched if name in sight.intended)
        if before and not self._was.holding and not sight.settled.issuperset(before):
            text = f"{' and '.join(before)} was let go before it had arrived"
            yield Event(EventCode.TARGET_OBJECT_DROPPED, sight.stamp_s, before[0], text)

    def _touches(self, sight: Sight) -> Iterator[Event]:
        others = [name for name in sight.touched if name not in sight.goals]
        wrong = [name for name in others if name not in sight.intended]
        for name in [*wrong, *(self._was.hit - set(wrong))]:
            if self._starts(self._was.hit, name, name in wrong):
                yield Event(EventCode.GRIPPER_HIT_OBJECT, sight.stamp_s, name, f"a finger touches {name}")
        several = len(others) > 1
        if several and not self._was.several:
            text = f"fingers touch {' and '.join(others)}"
            yield Event(EventCode.MULTIPLE_OBJECTS_GRABBED, sight.stamp_s, "", text, float(len(others)))
        self._was.several = several or (self._was.several and not self._rules.rearm)

    def _starts(self, seen: set[str], name: str, now: bool) -> bool:
        """Return True when a state begins; ``seen`` remembers the names that are in it."""
        begins = now and name not in seen
        if begins:
            seen.add(name)
        elif not now and self._rules.rearm:
            seen.discard(name)
        return begins
