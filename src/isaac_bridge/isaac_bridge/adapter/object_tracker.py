"""Objects by their frames: poses as received, velocities from two of them. No ROS."""

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
"""Numbers of a pose that differ by less are the noise of an object at rest: 2 um and 4 urad, from contacts in single
precision."""

STILL: Array = frozen((0.0, 0.0, 0.0))


class Taken(NamedTuple):
    """The objects of one message.

    Attributes:
        stamp_s: The newest stamp, s.
        faults: A sentence for each object that was refused.
    """

    stamp_s: float
    faults: list[str]


class ObjectTracker:
    """The newest state of each object.

    Args:
        names: Objects of the scene; frames of other names are ignored.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._index = {name: index for index, name in enumerate(names)}
        self._edges: Sequence[tuple[str, ...]] = ()
        self._present: list[str] = []
        self._frames: Indices = np.zeros(0, dtype=np.intp)
        """Indices of the frames of ``_present``; ``_rows`` has their rows in our arrays."""
        self._rows: Indices = self._frames
        self.forget()

    @property
    def present(self) -> list[str]:
        """The objects among the frames of the newest message; the same list as long as the frames are the same."""
        return self._present

    @property
    def missing(self) -> list[str]:
        """The objects whose frame was not received yet."""
        return sorted(self._index.keys() - self.states.keys())

    def take_all(self, edges: Sequence[tuple[str, ...]], numbers: Array, stamps_s: Array) -> Taken | None:
        """Take the objects among the frames of a message, as ``take`` does. Objects at rest cost next to nothing.

        Frames of other parents than ``world`` and of other names are ignored; of two for one object the last is used.

        Args:
            edges: Parent and child of each frame. They are looked up again only when this is another list object.
            numbers: Poses, (n, 7), see ``take``.
            stamps_s: Times, (n,), s.

        Returns:
            What was taken; None when no object is among the frames.
        """
        if edges is not self._edges:
            self._learn(edges)
        if not self._present:
            return None
        numbers, stamps_s, rows = numbers[self._frames], stamps_s[self._frames], self._rows
        is_later = stamps_s > self._stamps[rows]
        is_near = (np.abs(numbers - self._numbers[rows]) < RESTS).all(axis=1)
        rests = is_later & is_near & ~self._has_speed[rows]
        self._stamps[rows[rests]] = stamps_s[rests]
        others = np.flatnonzero(~rests).tolist()
        faults = (self.take(self._present[i], tuple(numbers[i].tolist()), float(stamps_s[i])) for i in others)
        return Taken(float(stamps_s.max()), [fault for fault in faults if fault])

    def take(self, name: str, numbers: tuple[float, ...], stamp_s: float) -> str:
        """Take a pose of an object in ``world``. An earlier stamp than the last begins a new history.

        An object at rest keeps the same ``ObjectState``, so that others can compare by identity.

        Args:
            name: Name of the object.
            numbers: Position x, y, z in m, and quaternion x, y, z, w.
            stamp_s: Time of the pose, s.

        Returns:
            The fault of the numbers as one sentence; empty when they were taken.
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
        """Forget all states."""
        count = len(self._index)
        self.states: dict[str, ObjectState] = {}
        self._numbers, self._stamps = np.full((count, 7), np.nan), np.full(count, np.nan)
        self._has_speed = np.zeros(count, dtype=np.bool_)

    def _learn(self, edges: Sequence[tuple[str, ...]]) -> None:
        places = {edge[1]: i for i, edge in enumerate(edges) if edge[0] == "world" and edge[1] in self._index}
        self._edges, self._present = edges, list(places)
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
    """Return the state of an object at a later pose, with the mean velocities since the earlier one.

    Args:
        before: The earlier state.
        pose: The later pose.
        stamp_s: Time of the later pose, s.
        took_s: Time between the poses, s.
    """
    last = before.world_T_object
    velocity = (pose.translation_m - last.translation_m) / took_s
    w, *xyz = (pose.rotation @ last.rotation.inverse()).wxyz.tolist()
    sine = math.hypot(*xyz)
    rate = 0.0 if sine < 1e-9 else 2.0 * math.atan2(sine, w) / sine / took_s  # w is never negative
    return ObjectState(pose, frozen(velocity), frozen([rate * v for v in xyz]), stamp_s)
