"""Objects by their frames: poses as they come, velocities from two of them. No ROS."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from handiwork_core.geometry import UNIT_TOLERANCE, Array, Pose, Rotation, frozen
from handiwork_core.world import ObjectState

RESTS = 1e-7
"""Numbers of a pose that differ by less are noise of what rests."""

STILL: Array = frozen((0.0, 0.0, 0.0))


class ObjectTracker:
    """The newest state of each object.

    Args:
        names: the objects of the scene; frames of other names are not theirs.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self.states: dict[str, ObjectState] = {}
        self._numbers: dict[str, tuple[float, ...]] = {}
        self._stamps: dict[str, float] = {}

    @property
    def missing(self) -> list[str]:
        """Objects whose frame has not come yet."""
        return sorted(self._names - set(self.states))

    def knows(self, name: str) -> bool:
        """Whether a frame is an object of the scene."""
        return name in self._names

    def take(self, name: str, numbers: tuple[float, ...], stamp_s: float) -> str:
        """Take a pose in ``world``: x, y, z and the rotation's x, y, z, w; an earlier stamp than the last begins anew.

        What rests keeps its very ``ObjectState``, so that others see at once that it does.

        Returns:
            What is wrong with the numbers, in one sentence; empty when they were taken.
        """
        before, last = self.states.get(name), self._numbers.get(name)
        if before is not None and last is not None and stamp_s >= self._stamps[name]:
            if stamp_s == self._stamps[name]:
                return ""
            if max(abs(a - b) for a, b in zip(numbers, last, strict=True)) < RESTS:
                if before.world_v_object is not STILL:
                    self.states[name] = ObjectState(before.world_T_object, STILL, STILL, stamp_s)
                self._stamps[name] = stamp_s
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
            self.states[name] = moved(before, pose, stamp_s, stamp_s - self._stamps[name])
        self._numbers[name], self._stamps[name] = numbers, stamp_s
        return ""

    def forget(self) -> None:
        """Know nothing again."""
        self.states, self._numbers, self._stamps = {}, {}, {}


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
    w, *xyz = (pose.rotation @ last.rotation.inverse()).wxyz
    sine = float(np.linalg.norm(xyz))
    angle = 2.0 * np.arctan2(sine, abs(float(w)))
    spin = (
        np.zeros(3)
        if sine < 1e-9
        else np.asarray(xyz) * (angle / sine / took_s) * (1.0 if w >= 0.0 else -1.0)
    )
    return ObjectState(pose, frozen(velocity), frozen(spin), stamp_s)
