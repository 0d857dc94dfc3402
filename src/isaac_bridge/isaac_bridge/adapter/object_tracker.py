"""Objects by their frames: poses as they come, velocities from two of them. No ROS."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from handiwork_core.control.joint_groups import Indices
from handiwork_core.model.geometry import (
    UNIT_TOLERANCE,
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import ObjectState

RESTS = 2e-6
"""Numbers of a pose that differ by less are noise of what rests: 2 um and 4 urad, as contacts leave it in single
precision."""

STILL: Array = frozen((0.0, 0.0, 0.0))


class Heard(NamedTuple):
    """Of the objects in one message: the newest stamp [s], and a sentence for each that was not taken."""

    stamp_s: float
    faults: list[str]


class ObjectTracker:
    """The newest state of each object.

    Args:
        names: the objects of the scene; frames of other names are not theirs.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._index = {name: index for index, name in enumerate(names)}
        self._edges: Sequence[tuple[str, ...]] = ()
        self._heard: list[str] = []
        self._frames: Indices = np.zeros(0, dtype=np.intp)
        """Which of the frames are those of ``_heard``, and which rows of ours they are."""
        self._rows: Indices = self._frames
        self.forget()

    @property
    def heard(self) -> list[str]:
        """Objects among the frames of the newest message; the same list while the same frames come."""
        return self._heard

    @property
    def missing(self) -> list[str]:
        """Objects whose frame has not come yet."""
        return sorted(self._index.keys() - self.states.keys())

    def take_all(self, edges: Sequence[tuple[str, ...]], numbers: Array, stamps_s: Array) -> Heard | None:
        """Take the objects among the frames of a message, as ``take`` does; what rests costs next to nothing.

        Frames of other parents than ``world`` and of other names are left alone; of two for one object the last counts.

        Args:
            edges: parent and child of each; who hands in the same list again has them looked up once.
            numbers: (n, 7), see ``take``.
            stamps_s: (n,) [s].

        Returns:
            What was heard; None when no object is among the frames.
        """
        if edges is not self._edges:
            self._learn(edges)
        if not self._heard:
            return None
        numbers, stamps_s, rows = numbers[self._frames], stamps_s[self._frames], self._rows
        is_later = stamps_s > self._stamps[rows]
        is_near = (np.abs(numbers - self._numbers[rows]) < RESTS).all(axis=1)
        rests = is_later & is_near & ~self._has_speed[rows]
        self._stamps[rows[rests]] = stamps_s[rests]
        others = np.flatnonzero(~rests).tolist()
        faults = (self.take(self._heard[i], tuple(numbers[i].tolist()), float(stamps_s[i])) for i in others)
        return Heard(float(stamps_s.max()), [fault for fault in faults if fault])

    def take(self, name: str, numbers: tuple[float, ...], stamp_s: float) -> str:
        """Take a pose in ``world``: x, y, z and the rotation's x, y, z, w; an earlier stamp than the last begins anew.

        What rests keeps its very ``ObjectState``, so that others see at once that it does.

        Returns:
            What is wrong with the numbers, in one sentence; empty when they were taken.
        """
        row = self._index[name]
        before, last_s = self.states.get(name), float(self._stamps[row])
        if before is not None and stamp_s >= last_s:
            if stamp_s == last_s:
                return ""
            if max(abs(a - b) for a, b in zip(numbers, self._numbers[row].tolist(), strict=True)) < RESTS:
                if self._has_speed[row]:
                    self.states[name] = ObjectState(before.world_T_object, STILL, STILL, stamp_s)
                self._stamps[row], self._has_speed[row] = stamp_s, False
                return ""
        else:
            before = None
        fault = _fault(numbers)
        if fault:
            return f"object {name!r} {fault}"
        pose = Pose(Rotation.from_xyzw(numbers[3:]), frozen(numbers[:3]))
        if before is None:
            self.states[name] = ObjectState(pose, STILL, STILL, stamp_s)
        else:
            self.states[name] = moved(before, pose, stamp_s, stamp_s - last_s)
        self._numbers[row], self._stamps[row], self._has_speed[row] = numbers, stamp_s, before is not None
        return ""

    def forget(self) -> None:
        """Know nothing again."""
        count = len(self._index)
        self.states: dict[str, ObjectState] = {}
        self._numbers, self._stamps = np.full((count, 7), np.nan), np.full(count, np.nan)
        self._has_speed = np.zeros(count, dtype=np.bool_)

    def _learn(self, edges: Sequence[tuple[str, ...]]) -> None:
        places = {edge[1]: i for i, edge in enumerate(edges) if edge[0] == "world" and edge[1] in self._index}
        self._edges, self._heard = edges, list(places)
        self._frames = np.array(list(places.values()), dtype=np.intp)
        self._rows = np.array([self._index[name] for name in places], dtype=np.intp)


def _fault(numbers: tuple[float, ...]) -> str:
    if not all(map(math.isfinite, numbers)):
        return f"has a pose that is not finite: {numbers}; the physics has blown up"
    norm = math.hypot(*numbers[3:])
    if abs(norm - 1.0) > UNIT_TOLERANCE:
        return f"has a rotation (x, y, z, w) of norm {norm:.4g}; send a unit quaternion"
    return ""


def moved(before: ObjectState, pose: Pose, stamp_s: float, took_s: float) -> ObjectState:
    """The state at a pose ``took_s`` later [s], its velocities the mean ones meanwhile."""
    last = before.world_T_object
    velocity = (pose.translation_m - last.translation_m) / took_s
    w, *xyz = (pose.rotation @ last.rotation.inverse()).wxyz.tolist()
    sine = math.hypot(*xyz)
    rate = 0.0 if sine < 1e-9 else 2.0 * math.atan2(sine, w) / sine / took_s  # w is never negative
    return ObjectState(pose, frozen(velocity), frozen([rate * v for v in xyz]), stamp_s)
