"""Events from a sequence of sights, each reported once. Pure; ``sight.py`` makes the sights from the world."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from handiwork_core.model.geometry import Array


class EventCode(IntEnum):
    """Numbers equal those in ``handiwork_msgs/msg/TaskEvent``."""

    WRONG_OBJECT_GRABBED = 250
    GRIPPER_HIT_TABLE = 255
    GRIPPER_FULLY_CLOSED = 256
    WRONG_OBJECT_DETACHED = 257
    OBJECT_BUMPED = 258
    OBJECT_MOVED = 259
    OBJECT_OUT_OF_SCENE = 260
    OBJECT_STARTED_MOVING = 261
    OBJECT_TIPPED_OVER = 262
    TARGET_OBJECT_DROPPED = 263
    GRIPPER_HIT_OBJECT = 264
    MULTIPLE_OBJECTS_GRABBED = 265
    # Steps of the task itself.
    CONDITION_GAINED = 300
    CONDITION_LOST = 301
    SUBTASK_DONE = 302
    TASK_DONE = 303


@dataclass(frozen=True, slots=True)
class EventRules:
    """The limits of events.

    Attributes:
        bump_m: Way of an object that is not intended from which it was bumped, m.
        move_m: Way from which it was moved, m.
        moving_mps: Speed above which an object moves, m/s.
        tip_rad: Tilt above which an object of ``upright`` has tipped over, rad.
        closed_share: Share of its way from which the gripper is fully closed, more than 0, at most 1.
        centre_m: Centre of the box that objects must not leave, (3,) in world, m.
        size_m: Edges of this box, m.
        merge_s: Time within which the same event on the same object is reported once, s.
        closing_on_object: True to report a fully closed gripper also while it holds something.
        rearm: True when an object that is back may leave, tip or be hit again.
        tell_starts: True to report when pushed objects begin to move.
        upright: Objects that must not tip over.
    """

    bump_m: float = 0.05
    move_m: float = 0.5
    moving_mps: float = 0.05
    tip_rad: float = 0.3
    closed_share: float = 0.98
    centre_m: tuple[float, float, float] = (0.55, 0.0, 0.5)
    size_m: tuple[float, float, float] = (2.0, 2.0, 2.0)
    merge_s: float = 2.0
    closing_on_object: bool = False
    rearm: bool = True
    tell_starts: bool = False
    upright: tuple[str, ...] = ()
    surfaces: tuple[str, ...] = ("table",)
    """Objects that others stand on: touching them is no grasp, and they never move."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.bump_m <= self.move_m:
            raise ValueError(f"bump_m: is {self.bump_m:g}; write 0 to move_m, which is {self.move_m:g}")
        for name in ("moving_mps", "tip_rad", "merge_s"):
            if getattr(self, name) < 0.0:
                raise ValueError(f"{name}: is {getattr(self, name):g}; write 0 or more")
        if not 0.0 < self.closed_share <= 1.0:
            raise ValueError(f"closed_share: is {self.closed_share:g}; write more than 0, at most 1")
        if min(self.size_m) <= 0.0:
            raise ValueError(f"size_m: is {self.size_m}; write three edges of more than 0")


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
        motions: Motion of each object, by name.
        touched: Objects that a finger touches, in order of the objects.
        gripped: Objects between the fingers, in order of the objects.
        touches_surface: True when a finger touches a surface.
        closed: Share to which the gripper is closed; nan where it is not measured.
        intended: Objects that are to be moved now.
        goals: Objects that they are moved to.
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
    settled: frozenset[str] = frozenset()
    feels: bool = True


@dataclass(frozen=True, slots=True)
class Event:
    """One event; ``value`` is the number that decided, nan where there is none."""

    code: EventCode
    stamp_s: float
    subject: str
    message: str
    value: float = math.nan


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
        if closed and not self._was.closed and (self._rules.closing_on_object or not sight.gripped):
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

    def _left_or_tipped(self, sight: Sight) -> Iterator[Event]:
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
