"""The newest state of the world for drawing: poses of objects, and the joints of the same instant."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from handiwork_msgs.msg import ObjectStates
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import JointState
from handiwork_ros.conversions import joint_state_from_msg, object_states_from_msg, time_from_msg
from handiwork_ros.intake.topic_intake import taken
from handiwork_ros.rclpy_support.polled_group import PolledGroup

KEPT = 16
"""Messages of joints that are kept: 0.1 s, more than lies between two messages of objects."""


@dataclass(frozen=True, slots=True)
class MeasuredState:
    """One instant of the world.

    Attributes:
        stamp_s: Its time, s.
        version: Version of the geometry.
        poses: Poses of the objects in ``world``.
        joints: Joint positions by name, rad or m.
    """

    stamp_s: float
    version: int
    poses: dict[str, Pose]
    joints: dict[str, float]


class MeasuredStates:
    """Reads ``world/object_states`` and ``joint_states`` when it is asked; the messages wake nobody.

    Args:
        node: Hosts the subscriptions.
    """

    def __init__(self, node: Node) -> None:
        group = PolledGroup()
        newest = QoSProfile(depth=2, reliability=ReliabilityPolicy.BEST_EFFORT)
        recent = QoSProfile(depth=KEPT, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._complain = node.get_logger().warning
        self._states = node.create_subscription(
            ObjectStates, "world/object_states", _unused, newest, callback_group=group, raw=True
        )
        self._joints = node.create_subscription(
            JointStateMsg, "joint_states", _unused, recent, callback_group=group, raw=True
        )
        self._recent: deque[JointState] = deque(maxlen=KEPT)

    def newest(self) -> MeasuredState | None:
        """Return the newest state since the last call; None if there is none, or no joints came yet."""
        for data, _, _ in taken(self._joints):
            try:
                joints = joint_state_from_msg(deserialize_message(data, JointStateMsg))
            except Exception as error:  # noqa: BLE001 - no content of a message may stop the cameras
                self._complain(f"joint_states: a message was dropped: {error}", throttle_duration_sec=5.0)
                continue
            if self._recent and joints.stamp_s < self._recent[-1].stamp_s:
                self._recent.clear()
            self._recent.append(joints)
        found = taken(self._states)
        if not found or not self._recent:
            return None
        try:
            message = deserialize_message(found[-1][0], ObjectStates)
            states = object_states_from_msg(message)
        except Exception as error:  # noqa: BLE001
            self._complain(f"world/object_states: a message was dropped: {error}", throttle_duration_sec=5.0)
            return None
        stamp_s = time_from_msg(message.header.stamp)
        nearest = min(self._recent, key=lambda joints: abs(joints.stamp_s - stamp_s))
        poses = {name: state.world_T_object for name, state in states.items()}
        return MeasuredState(stamp_s, int(message.version), poses, dict(nearest.position))


def _unused(_message: Any) -> None:
    """Do nothing: no executor serves the subscription."""
