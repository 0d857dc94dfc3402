"""Converts objects and contacts of the bridge to our topics."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from handiwork_msgs.msg import Contacts, ObjectStates, WorldObjects
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from rclpy.task import Future
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from handiwork_core import isaac_wire as wire
from handiwork_core.control.rate_limiter import RateLimiter
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import ObjectState
from handiwork_core.scene.loader import Scene
from handiwork_ros.cdr.formats import CONTACTS, OBJECT_STATES
from handiwork_ros.cdr.message_reader import FrameReader, TransformRows, text_from_bytes
from handiwork_ros.cdr.row_writer import RowWriter
from handiwork_ros.conversions import belts_to_msg, world_objects_to_msg
from handiwork_ros.intake.topic_intake import number_of
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.latched_publisher import LatchedPublisher
from handiwork_ros.rclpy_support.polled_group import PolledGroup
from handiwork_ros.rclpy_support.qos import LATEST
from handiwork_ros.rclpy_support.rclpy_internals import take
from isaac_bridge.adapter.object_tracker import ObjectTracker
from isaac_bridge.adapter.ros.wire_watch import WireWatch
from tf2_msgs.msg import TFMessage

FRAMES = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
"""The history is short and nothing is sent again: late frames are worse than lost frames."""

WORLD_HZ = 55.0
"""The largest rate of published states, per second of steady time: a tenth more than the contract demands."""

PLACED_M, PLACED_RAD = 0.01, 0.05
"""The largest distance from the requested pose of an object that counts as placed: it may settle a little."""


class WorldInterface:
    """``world/objects`` from the scene file, ``world/object_states`` from ``/tf``, ``world/contacts`` from its text.

    Args:
        node: Hosts the topics.
        scene: The scene.
        watch: Finds second publishers.
    """

    def __init__(self, node: ManagedNode, scene: Scene, watch: WireWatch) -> None:
        self._node, self._scene, self._watch = node, scene, watch
        self.tracker = ObjectTracker(item.name for item in scene.objects)
        self.version, self.time_s = 0, 0.0
        self._awaited: Mapping[str, Pose] = {}
        self._arrived: Future | None = None
        self._reader = FrameReader()
        self._order: tuple[str, ...] = ()
        self._names: tuple[tuple[str, ...], ...] = ()
        self._written: list[ObjectState | None] = []
        self._numbers: Array = np.empty((0, OBJECT_STATES.rows.numbers))
        self._state_writer = RowWriter(OBJECT_STATES)
        self._contact_writer = RowWriter(CONTACTS)
        self._objects = LatchedPublisher(node, WorldObjects, "world/objects")
        self._belts = LatchedPublisher(node, MarkerArray, "world/belts")
        self._velocities = dict[str, tuple[float, float, float]]()
        self._states = node.create_publisher(ObjectStates, "world/object_states", LATEST)
        self._contacts = node.create_publisher(Contacts, "world/contacts", LATEST)
        self._last: dict[Publisher, bytes] = {}
        self._pace = RateLimiter(WORLD_HZ, burst=25)
        # They are polled at each measurement of the joints, so they need no callbacks.
        self._frames, self._contact_texts = (
            node.create_subscription(kind, topic, _never, FRAMES, callback_group=PolledGroup(), raw=True)
            for kind, topic in ((TFMessage, "tf"), (String, wire.CONTACTS))
        )

    def publish_geometry(self) -> int:
        """Publish the objects as a new version; return the version."""
        self.version += 1
        message = world_objects_to_msg(self._scene.world_objects(), self.version, self.time_s)
        self._objects.publish(message)
        self._publish_belts()
        return self.version

    def note_belt(self, name: str, velocity: tuple[float, float, float]) -> None:
        """Note a new velocity of a belt, and publish how the belts run.

        Args:
            name: Name of the belt.
            velocity: Velocity of its surface in the object's frame, m/s.
        """
        self._velocities[name] = velocity
        self._publish_belts()

    def _publish_belts(self) -> None:
        self._belts.publish(belts_to_msg(self._scene.objects, self._velocities))

    def stop(self) -> None:
        """Stop repeating the latched messages."""
        self._objects.forget()
        self._belts.forget()

    def start_over(self) -> None:
        """Forget the poses after a restart of the simulation, and publish a new version."""
        self.tracker.forget()
        self._last.clear()
        self._velocities.clear()
        self.publish_geometry()

    async def placed(
        self, places: Mapping[str, Pose], end_late: Callable[[Future], Callable[[], None]]
    ) -> list[str]:
        """Wait until objects are measured at their poses.

        Args:
            places: Name of the object -> world_T_object.
            end_late: Completes the future when this takes too long; returns a function that removes its timer.

        Returns:
            Names of the objects that are elsewhere.
        """
        self._awaited, self._arrived = places, Future()
        done = end_late(self._arrived)
        await self._arrived
        done()
        elsewhere = self._elsewhere()
        self._awaited, self._arrived = {}, None
        return elsewhere

    def _elsewhere(self) -> list[str]:
        states = self.tracker.states
        return [
            name
            for name, pose in self._awaited.items()
            if not (name in states and _is_at(states[name].world_T_object, pose))
        ]

    def fetch(self) -> None:
        """Take the new messages and publish the states; called at each measurement of the joints."""
        if self._pace.due(time.monotonic()):
            self._take_frames()

    def repeat(self) -> None:
        """Publish the last messages again, for readers that missed them."""
        if self._node.is_active:
            for publisher, data in self._last.items():
                publisher.publish(data)

    def _take_frames(self) -> None:
        taken = _taken(self._frames)
        came = [self._take_objects(self._reader.read(data), number) for data, number in taken]
        if not any(came):
            return
        if self._arrived is not None and not self._arrived.done() and not self._elsewhere():
            self._arrived.set_result(None)
        contacts = [self._contact_text(data, number) for data, number in _taken(self._contact_texts)]
        if self._node.is_active and not self._watch.conflict():
            self._send(self._states, self._message())
            for text in contacts:
                self._pass_on(text)

    def _take_objects(self, frames: TransformRows, number: int) -> bool:
        """Take the objects among the frames of one message; return whether there are any."""
        taken = self.tracker.take_all(frames.edges, frames.numbers, frames.stamps_s)
        if taken is None:
            return False
        self.time_s = taken.stamp_s
        self._watch.take_frames(self.tracker.present, number)
        for fault in taken.faults:
            self._node.get_logger().error(f"/tf: {fault}", throttle_duration_sec=2.0)
        return True

    def _message(self) -> bytes:
        """Return the serialized states. The numbers of objects that have not moved are not written again."""
        states = self.tracker.states
        if tuple(states) != self._order:
            self._order, self._written = tuple(states), [None] * len(states)
            self._names = tuple((name,) for name in states)
            self._numbers = np.zeros((len(states), OBJECT_STATES.rows.numbers))
        for index, state in enumerate(states.values()):
            if state is not self._written[index]:
                pose, self._written[index] = state.world_T_object, state
                row = self._numbers[index]
                row[:3], row[3:6], row[6] = pose.translation_m, pose.rotation.wxyz[1:], pose.rotation.wxyz[0]
                row[7:10], row[10:13] = state.world_v_object, state.world_w_object
        return self._state_writer.write(self.time_s, self._names, self._numbers, self.version)

    def _contact_text(self, data: bytes, number: int) -> str:
        self._watch.take(wire.CONTACTS, number)
        return text_from_bytes(data)

    def _pass_on(self, text: str) -> None:
        try:
            stamp_s, bodies, numbers = wire.contact_rows(text)
        except wire.BadWire as fault:
            self._node.get_logger().error(str(fault), throttle_duration_sec=2.0)
            return
        self._send(self._contacts, self._contact_writer.write(stamp_s, bodies, numbers))

    def _send(self, publisher: Publisher, data: bytes) -> None:
        publisher.publish(data)
        self._last[publisher] = data


def _taken(subscription: Subscription) -> Iterator[tuple[bytes, int]]:
    """Yield all messages since the last call, with the sequence numbers of their writers."""
    while (found := take(subscription)) is not None:
        yield found[0], number_of(found[1])


def _never(_message: object) -> None:
    """Do nothing: polled subscriptions call no callback."""


def _is_at(measured: Pose, wanted: Pose) -> bool:
    return measured.almost_equal(wanted, within_m=PLACED_M, within_rad=PLACED_RAD)
