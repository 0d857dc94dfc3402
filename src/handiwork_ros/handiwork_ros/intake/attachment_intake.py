"""The objects that the planner's service has attached, from the messages of a latched topic."""

from __future__ import annotations

import threading

from handiwork_msgs.msg import PlanningScene
from rclpy.serialization import deserialize_message

from handiwork_core.model.geometry import Pose
from handiwork_ros.conversions import scene_from_msg

from .topic_intake import Complain, LatchedIntake


class AttachmentIntake(LatchedIntake[dict[str, tuple[str, Pose]]]):
    """Serialized PlanningScene messages of a latched topic: link and link_T_object of each attached object, by name.

    Args:
        topic: See ``TopicIntake``.
        lock: See ``TopicIntake``.
        complain: See ``TopicIntake``.
    """

    def __init__(self, topic: str, lock: threading.Lock, complain: Complain) -> None:
        super().__init__(topic, _attached_of, {}, lock, complain, PlanningScene)


def _attached_of(data: bytes) -> dict[str, tuple[str, Pose]]:
    """Return the attached objects of a serialized message."""
    scene = scene_from_msg(deserialize_message(data, PlanningScene))
    return {item.object: (item.link, item.link_T_object) for item in scene.attached}
