"""Objects by their frames: poses as they come, velocities from two of them. No ROS."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from handiwork_core.geometry import Array, Pose, frozen
from handiwork_core.world import ObjectState

STILL: Array = frozen((0.0, 0.0, 0.0))


class ObjectTracker:
    """The newest state of each object.

    Args:
        names: the objects of the scene; frames of other names are not theirs.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self.states: dict[str, ObjectState] = {}

    @property
    def missing(self) -> list[str]:
        """Objects whose frame has not come yet."""
        return sorted(self._names - set(self.states))

    def knows(self, name: str) -> bool:
        """Whether a frame is an object of the scene."""
        return name in self._names

    def take(self, name: str, pose: Pose, stamp_s: float) -> None:
        """Take a pose in ``world``; an earlier stamp than the last one begins anew."""
        before = self.states.get(name)
        if before is not None and stamp_s == before.stamp_s:
            return
        if before is None or stamp_s < before.stamp_s:
            self.states[name] = ObjectState(pose, STILL, STILL, stamp_s)
            return
        self.states[name] = moved(before, pose, stamp_s)

    def forget(self) -> None:
        """Know nothing again."""
        self.states = {}


def moved(before: ObjectState, pose: Pose, stamp_s: float) -> ObjectState:
    """The state at a later pose, its velocities the mean ones since the last."""
    took_s, last = stamp_s - before.stamp_s, before.world_T_object
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
