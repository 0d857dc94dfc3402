"""Events from a sequence of sights of n worlds, each reported once. Pure; ``sight.py`` makes the sights."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array

from .happened import NOT_YET_S, Flags, Happened, Indices, Reports, Words, first_of, indices, named
from .sight import Aim, Sight
from .task_event import EventCode, EventRules

ROOM_M = 0.25
"""The room around the first place of an object that belongs to the scene, m."""
NOBODY = np.array([-1])


class EventTracker:
    """Finds events in a sequence of sights. It keeps the state that it needs; a new tracker begins without any.

    Args:
        rules: The limits of events.
        n: Number of worlds.
    """

    def __init__(self, rules: EventRules, n: int = 1) -> None:
        self._rules, self._n = rules, n
        none: Flags = np.zeros((0, n), dtype=bool)
        # By object, (m, n): each grows when an object is seen for the first time.
        self._moving, self._gone, self._tipped, self._hit, self._holding = none, none, none, none, none
        self._in_scene = none
        self._from_m: Array = np.zeros((0, n, 3))
        self._from_room_m: Array = np.zeros((0, n))
        self._since_s: Array = np.zeros((0, n))
        self._reported_s: dict[EventCode, Array] = {}
        # By world, (n,).
        self._wrong: Indices = np.full(n, -1)
        nowhere: Flags = np.zeros(n, dtype=bool)
        self._on_surface, self._closed, self._several = nowhere, nowhere.copy(), nowhere.copy()
        self._held_s: Array = np.full(n, np.nan)
        self._low: Array = np.zeros((3, n))
        self._high: Array = np.zeros((3, n))
        self.reset(np.ones(n, dtype=bool))

    def reset(self, rows: Flags) -> None:
        """Forget everything about some worlds.

        Args:
            rows: The worlds, (n,).
        """
        for state in (self._moving, self._gone, self._tipped, self._hit, self._holding, self._in_scene):
            state[:, rows] = False
        for reported in self._reported_s.values():
            reported[:, rows] = NOT_YET_S
        self._wrong[rows] = -1
        for seen in (self._on_surface, self._closed, self._several):
            seen[rows] = False
        centre, half = np.array(self._rules.centre_m), 0.5 * np.array(self._rules.size_m)
        self._low[:, rows], self._high[:, rows] = (centre - half)[:, None], (centre + half)[:, None]

    def update(self, sight: Sight, aim: Aim, reported: Flags | None = None) -> Happened:
        """Return the events since the instant before, without those that were reported within ``merge_s``.

        Args:
            sight: The observations of this instant.
            aim: The aims of the tasks.
            reported: Worlds whose events are reported, (n,); None: all.

        Returns:
            The events.
        """
        self._grow(sight)
        found = Reports(self._reported_s, sight.names, sight.stamp_s, self._rules.merge_s, reported)
        things = sight.touched & ~sight.surface[:, None]
        if sight.feels:
            self._wrong_grasp(sight, aim, found)
            self._gripper(sight, things, found)
        self._pushed(sight, aim, found)
        self._left_or_tipped(sight, aim, found)
        if sight.feels:
            self._drop(sight, aim, things, found)
            self._touches(aim, things, found)
        return found.happened

    def _grow(self, sight: Sight) -> None:
        more = len(sight.names) - len(self._gone)
        if more > 0:
            none = np.zeros((more, self._n), dtype=bool)
            for key in ("_moving", "_gone", "_tipped", "_hit", "_holding", "_in_scene"):
                setattr(self, key, np.concatenate([getattr(self, key), none]))
            self._from_m = np.concatenate([self._from_m, np.full((more, self._n, 3), np.nan)])
            self._since_s = np.concatenate([self._since_s, np.full((more, self._n), np.nan)])
            self._from_room_m = np.concatenate([self._from_room_m, np.zeros((more, self._n))])

    def _wrong_grasp(self, sight: Sight, aim: Aim, found: Reports) -> None:
        wrong = first_of(sight.gripped & ~aim.intended)
        before, self._wrong = self._wrong, wrong
        begins = np.flatnonzero((wrong >= 0) & (wrong != before))
        intended = aim.intended

        def grabbed(world: int, name: str, _: float) -> str:
            return f"{name} was grabbed; the task moves {sorted(named(sight.names, intended[:, world]))}"

        found.add(EventCode.WRONG_OBJECT_GRABBED, 0, wrong[begins], begins, grabbed)
        ends = np.flatnonzero((wrong < 0) & (before >= 0))
        found.add(
            EventCode.WRONG_OBJECT_DETACHED,
            0,
            before[ends],
            ends,
            lambda _, name, __: f"{name}, which was the wrong object, is let go",
        )

    def _gripper(self, sight: Sight, things: Flags, found: Reports) -> None:
        on_surface: Flags = np.asarray((sight.touched & sight.surface[:, None]).any(axis=0))
        hits = np.flatnonzero(on_surface & ~self._on_surface)
        self._on_surface = on_surface
        found.add(EventCode.GRIPPER_HIT_TABLE, 1, NOBODY, hits, lambda *_: "a finger touches the table")
        closed: Flags = np.greater_equal(sight.closed, self._rules.closed_share)
        begins = np.asarray(closed & ~self._closed)
        self._closed = closed
        if not self._rules.closing_on_object:
            # Both fingers do not meet what they close on in the same instant, so one that touches is enough.
            begins = np.asarray(begins & ~(sight.gripped | things).any(axis=0))
        world = np.flatnonzero(begins)
        found.add(
            EventCode.GRIPPER_FULLY_CLOSED,
            1,
            NOBODY,
            world,
            lambda _, __, share: f"gripper is {share:.0%} closed",
            sight.closed[world],
        )

    def _pushed(self, sight: Sight, aim: Aim, found: Reports) -> None:
        rules = self._rules
        watched = sight.movable[:, None] & ~aim.intended & ~np.isnan(sight.place_m[..., 0])
        fast = watched & (sight.speed_mps > rules.moving_mps)
        begins = fast & ~self._moving
        if begins.any():
            self._from_m[begins] = sight.place_m[begins]
            self._from_room_m = np.where(begins, sight.place_room_m, self._from_room_m)
            self._since_s = np.where(begins, sight.stamp_s, self._since_s)
            if rules.tell_starts:
                index = indices(begins)
                found.add(EventCode.OBJECT_STARTED_MOVING, 2, *index, _starts_text, sight.speed_mps[index])
        ends = watched & ~fast & self._moving
        self._moving = (self._moving | begins) & ~ends
        if ends.any():
            index = indices(ends)
            way = np.linalg.norm(sight.place_m[index] - self._from_m[index], axis=1)
            # What noise may have made of a shorter way is not reported.
            sure = way - np.hypot(self._from_room_m, sight.place_room_m)[index]
            for code, share in (
                (EventCode.OBJECT_MOVED, sure >= rules.move_m),
                (EventCode.OBJECT_BUMPED, (sure >= rules.bump_m) & (sure < rules.move_m)),
            ):
                who, world = index[0][share], index[1][share]
                found.add(code, 2, who, world, PUSHED_TEXT[code], way[share], self._since_s[who, world])

    def _scene_grows(self, sight: Sight, aim: Aim) -> None:
        """Let the scene's box grow to the places where objects and goals are first seen."""
        fresh = ~self._in_scene & (sight.movable[:, None] | aim.goals) & ~np.isnan(sight.place_m[..., 0])
        if fresh.any():
            self._in_scene |= fresh
            places = np.where(fresh[..., None], sight.place_m, np.nan)
            self._low = np.fmin(self._low, np.fmin.reduce(places).T - ROOM_M)
            self._high = np.fmax(self._high, np.fmax.reduce(places).T + ROOM_M)

    def _left_or_tipped(self, sight: Sight, aim: Aim, found: Reports) -> None:
        if self._rules.grow_scene:
            self._scene_grows(sight, aim)
        seen = sight.movable[:, None] & ~np.isnan(sight.place_m[..., 0])
        beyond = np.maximum(self._low.T - sight.place_m, sight.place_m - self._high.T).max(
            axis=2, initial=-np.inf
        )
        # An intended object that is outside is forgotten neither, nor is it noted.
        # What noise leaves open stays as it was.
        sure = (np.abs(beyond) > sight.place_room_m) | (sight.place_room_m == 0.0)
        begins = self._starts("_gone", seen & ~aim.intended & sure, beyond > 0.0)
        index = indices(begins)
        found.add(EventCode.OBJECT_OUT_OF_SCENE, 3, *index, _gone_text, beyond[index])
        over = sight.tilt_rad - self._rules.tip_rad
        sure = (np.abs(over) > sight.tilt_room_rad) | (sight.tilt_room_rad == 0.0) | np.isnan(over)
        tilted = sight.rows(self._rules.upright)[:, None] & (over > 0.0)
        index = indices(self._starts("_tipped", seen & sure, tilted))
        limit = self._rules.tip_rad
        found.add(
            EventCode.OBJECT_TIPPED_OVER,
            3,
            *index,
            lambda _, name, tilt: f"{name} leans by {tilt:.2f} rad; upright is at most {limit:g}",
            sight.tilt_rad[index],
        )

    def _drop(self, sight: Sight, aim: Aim, things: Flags, found: Reports) -> None:
        before, self._holding = self._holding, things & aim.intended
        lost = before.any(axis=0) & ~self._holding.any(axis=0) & (before & ~aim.settled).any(axis=0)
        onset_s = self._held_s
        self._held_s = np.where(self._holding.any(axis=0), sight.stamp_s, self._held_s)
        world = np.flatnonzero(lost)

        def dropped(world: int, _: str, __: float) -> str:
            return f"{' and '.join(named(sight.names, before[:, world]))} was let go before it had arrived"

        who = first_of(before)[world]
        found.add(EventCode.TARGET_OBJECT_DROPPED, 4, who, world, dropped, None, onset_s[world])

    def _touches(self, aim: Aim, things: Flags, found: Reports) -> None:
        others = things & ~aim.goals
        index = indices(self._starts("_hit", np.ones_like(others), others & ~aim.intended))
        found.add(EventCode.GRIPPER_HIT_OBJECT, 5, *index, lambda _, name, __: f"a finger touches {name}")
        count = others.sum(axis=0)
        world = np.flatnonzero((count > 1) & ~self._several)
        self._several = (count > 1) | (self._several & (not self._rules.rearm))
        names = found.names

        def several(world: int, _: str, __: float) -> str:
            return f"fingers touch {' and '.join(named(names, others[:, world]))}"

        found.add(EventCode.MULTIPLE_OBJECTS_GRABBED, 6, NOBODY, world, several, count[world].astype(float))

    def _starts(self, key: str, asked: Flags, now: Flags) -> Flags:
        """Return where a state begins; it is remembered under ``key``, and only changed where it is asked for."""
        before: Flags = getattr(self, key)
        now = asked & now
        kept = before & ~(asked & ~now) if self._rules.rearm else before
        setattr(self, key, kept | now)
        return now & ~before


def _starts_text(_world: int, name: str, speed_mps: float) -> str:
    return f"{name} begins to move at {speed_mps:.2f} m/s"


def _gone_text(_world: int, name: str, beyond_m: float) -> str:
    return f"{name} is {beyond_m:.3f} m outside of the scene"


PUSHED_TEXT: dict[EventCode, Words] = {
    EventCode.OBJECT_MOVED: lambda _, name, way_m: f"{name} was moved by {way_m:.3f} m",
    EventCode.OBJECT_BUMPED: lambda _, name, way_m: f"{name} was bumped by {way_m:.3f} m",
}
