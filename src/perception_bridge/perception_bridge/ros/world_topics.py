"""The topics of the world, as perception knows it: ``world/objects``, ``world/object_states`` and frames of objects."""

from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import ObjectStates, WorldObjects
from rclpy.node import Node

from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import ObjectState, WorldObject
from handiwork_core.scene.loader import Scene
from handiwork_ros.conversions import (
    object_states_to_msg,
    time_to_msg,
    transform_to_msg,
    world_objects_to_msg,
)
from handiwork_ros.rclpy_support.latched_publisher import LatchedPublisher
from handiwork_ros.rclpy_support.qos import LATEST, TF
from perception_bridge.table.static_frame import StaticFrame
from perception_bridge.tracking.tracker import Tracker
from tf2_msgs.msg import TFMessage

STILL = frozen((0.0, 0.0, 0.0))


class WorldTopics:
    """Publishes the fixed objects of a scene and those that the tracker knows.

    Args:
        node: Hosts the publishers.
        scene: Scene with the fixed objects.
        tracker: Knows the others.
    """

    def __init__(self, node: Node, scene: Scene, tracker: Tracker) -> None:
        self._tracker = tracker
        self._fixed = {item.name: item for item in scene.objects if item.body.is_static}
        self._objects = LatchedPublisher(node, WorldObjects, "world/objects")
        self._states = node.create_publisher(ObjectStates, "world/object_states", LATEST)
        self._tf = node.create_publisher(TFMessage, "tf", TF)
        self.version = 0
        self._published: tuple[WorldObject, ...] | None = None

    def start_over(self) -> None:
        """Publish the objects with the next states again, as a new version."""
        self._published = None

    def stop(self) -> None:
        """Stop repeating the latched message."""
        self._objects.forget()

    def publish(self, now_s: float) -> tuple[dict[str, WorldObject], dict[str, ObjectState]]:
        """Publish the states, and before them the objects if others are there.

        Args:
            now_s: The time, s.

        Returns:
            The objects, and the states of those whose pose is known, by name.
        """
        objects = (*(item.body for item in self._fixed.values()), *self._tracker.objects())
        if objects != self._published:
            self.version, self._published = self.version + 1, objects
            self._objects.publish(world_objects_to_msg(objects, self.version, now_s))
        seen = self._tracker.states(now_s)
        states = {name: _at_rest(item.world_T_object, now_s) for name, item in self._fixed.items()} | seen
        self._states.publish(object_states_to_msg(states, self.version, now_s))
        self._tf.publish(_frames({name: state.world_T_object for name, state in seen.items()}, now_s))
        return {item.name: item for item in objects}, states


def static_frames(frames: Sequence[StaticFrame], now_s: float) -> TFMessage:
    """Return the message of static transforms.

    Args:
        frames: The transforms.
        now_s: Their stamp, s.
    """
    message = TFMessage()
    for one in frames:
        frame = TransformStamped(child_frame_id=one.child_frame, transform=transform_to_msg(one.pose()))
        frame.header.frame_id, frame.header.stamp = one.parent_frame, time_to_msg(now_s)
        message.transforms.append(frame)
    return message


def _at_rest(pose: Pose, now_s: float) -> ObjectState:
    return ObjectState(pose, STILL, STILL, now_s)


def _frames(poses: dict[str, Pose], now_s: float) -> TFMessage:
    message = TFMessage()
    for name, pose in poses.items():
        frame = TransformStamped(child_frame_id=name, transform=transform_to_msg(pose))
        frame.header.frame_id, frame.header.stamp = "world", time_to_msg(now_s)
        message.transforms.append(frame)
    return message
