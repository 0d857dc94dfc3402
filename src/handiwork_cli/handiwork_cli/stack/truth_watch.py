"""The true places of objects, for a judge that does not believe what perception says."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from handiwork_core.model.world import ObjectState, WorldObject
from handiwork_core.scene.bounds import box_points

if TYPE_CHECKING:
    from handiwork_msgs.msg import ObjectStates, WorldObjects
    from rclpy.node import Node

SETTLE_S = 3.0
"""World time after a reset in which a detector sees the objects where they are now, s."""


class TruthWatch:
    """The newest objects and states of ``ground_truth``.

    Args:
        node: Hosts the subscriptions; another thread spins it.
    """

    def __init__(self, node: Node) -> None:
        from handiwork_msgs.msg import ObjectStates, WorldObjects

        from handiwork_ros.rclpy_support.qos import LATCHED, LATEST

        self._lock = threading.Lock()
        self._objects: dict[str, WorldObject] = {}
        self._states: dict[str, ObjectState] = {}
        self._stamp_s = 0.0
        node.create_subscription(WorldObjects, "ground_truth/objects", self._on_objects, LATCHED)
        node.create_subscription(ObjectStates, "ground_truth/object_states", self._on_states, LATEST)

    def _on_objects(self, message: WorldObjects) -> None:
        from handiwork_ros.conversions import world_objects_from_msg

        found = world_objects_from_msg(message)
        with self._lock:
            self._objects = dict(found)

    def _on_states(self, message: ObjectStates) -> None:
        from handiwork_ros.conversions import object_states_from_msg, time_from_msg

        found = object_states_from_msg(message)
        with self._lock:
            self._states, self._stamp_s = found, time_from_msg(message.header.stamp)

    def wait(self, world_s: float, timeout_s: float = 60.0) -> bool:
        """Wait for world time to pass.

        Args:
            world_s: The time, s.
            timeout_s: Longest wait, s.

        Returns:
            False if it did not pass in time.
        """
        end_s, begin = time.monotonic() + timeout_s, self._stamp_s
        while self._stamp_s < begin + world_s or not begin:
            begin = begin or self._stamp_s
            if time.monotonic() > end_s:
                return False
            time.sleep(0.01)  # noqa: TID251 - world time passes by itself
        return True

    def beside(self, name: str, container: str, above_m: float) -> str:
        """Return why an object is not in a container; empty if its origin is within the container's bounds.

        Args:
            name: The object.
            container: The container.
            above_m: Height over the rim up to which the object is in it, m.
        """
        with self._lock:
            objects, states = dict(self._objects), dict(self._states)
        return outside(objects, states, name, container, above_m)


def outside(
    objects: Mapping[str, WorldObject],
    states: Mapping[str, ObjectState],
    name: str,
    container: str,
    above_m: float,
) -> str:
    """Return why an object is not in a container; empty if its origin is within the container's bounds.

    Args:
        objects: All objects.
        states: Their states.
        name: The object.
        container: The container.
        above_m: Height over the rim up to which the object is in it, m.
    """
    missing = [one for one in (name, container) if one not in states or one not in objects]
    if missing:
        return f"{missing[0]!r} is not in the simulation"
    place = states[container].world_T_object.inverse() @ states[name].world_T_object
    points = np.concatenate([box_points(shape) for shape in objects[container].shapes])
    low, high = points.min(axis=0), points.max(axis=0) + (0.0, 0.0, above_m)
    out_m = float(np.maximum(low - place.translation_m, place.translation_m - high).max())
    return f"the true {name!r} is {1e3 * out_m:.0f} mm outside of {container!r}" if out_m > 0.0 else ""
