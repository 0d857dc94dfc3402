"""A detector in simulation as a ROS node: the true poses of objects become vision_msgs/Detection3DArray with faults."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

from handiwork_msgs.msg import ObjectStates
from std_msgs.msg import Header

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.scene.loader import load_scene
from handiwork_ros.conversions import (
    BadMessage,
    object_states_from_msg,
    pose_to_msg,
    time_from_msg,
    time_to_msg,
)
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.rclpy_support.qos import LATEST, STREAM
from handiwork_ros.rclpy_support.safe_callbacks import guard
from sim_bridge.detector.faulty_detector import DetectorFaults, FaultyDetector, Look
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose

SCORE = 0.9
"""The score of every detection."""


class SimDetector(ManagedNode):
    """Reports the movable objects of a scene.

    Args:
        options: Options of the node; see ``ManagedNode``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("sim_detector", **options)
        self._scene_file = self.parameter("scene_file", "", "scene YAML: its movable objects are detected")
        self._values = {
            "position_std": self.parameter("position_std", 0.005, "deviation of a position [m]"),
            "rotation_std": self.parameter(
                "rotation_std", math.radians(3.0), "deviation of a rotation [rad]"
            ),
            "dropout": self.parameter("dropout", 0.1, "share of the objects that a look misses"),
            "flip": self.parameter(
                "flip", 0.02, "share of the objects that a look gives another one's label"
            ),
            "rate_hz": self.parameter("rate_hz", 5.0, "looks per second [Hz]"),
            "delay_s": self.parameter("delay_s", 0.15, "time from a look to its report [s]"),
        }
        self._seed = self.parameter("seed", 0, "seed of the faults")
        self._labels: frozenset[str] = frozenset()
        self._publisher = self.create_publisher(Detection3DArray, "detections", LATEST)
        on_states = guard(self, self._on_states)
        self.create_subscription(ObjectStates, "ground_truth/object_states", on_states, STREAM)

    def on_load(self, report: Report) -> None:
        """Read the scene; see the base."""
        report(0.0, "reading the scene")
        try:
            faults = DetectorFaults(**self._values)
        except ValueError as error:
            raise ConfigError(f"node {self.get_name()}", [f"parameter {error}"]) from error
        scene = load_scene(Path(self._scene_file))
        self._labels = frozenset(item.name for item in scene.objects if not item.body.is_static)
        self._faults, self._detector = faults, FaultyDetector(faults, self._seed)

    def on_start(self) -> None:
        """Report nothing that was seen before the node was active; see the base."""
        self._detector.forget()

    def _on_states(self, message: ObjectStates) -> None:
        if not self.is_active:
            return
        try:
            states = object_states_from_msg(message)
        except BadMessage as error:
            self.get_logger().warning(f"a message was dropped: {error}", throttle_duration_sec=5.0)
            return
        poses = {name: state.world_T_object for name, state in states.items() if name in self._labels}
        stamp_s = time_from_msg(message.header.stamp)
        # A message of time 0 would be one without a stamp.
        for look in self._detector.take(stamp_s, poses) if stamp_s > 0.0 else ():
            self._publisher.publish(self._message(look))

    def _message(self, look: Look) -> Detection3DArray:
        header = Header(stamp=time_to_msg(look.stamp_s), frame_id="world")
        message = Detection3DArray(header=header)
        covariance = self._faults.covariance().ravel().tolist()
        for label, pose in look.found:
            result = ObjectHypothesisWithPose()
            result.hypothesis.class_id, result.hypothesis.score = label, SCORE
            result.pose.pose, result.pose.covariance = pose_to_msg(pose), covariance
            message.detections.append(Detection3D(header=header, results=[result]))
        return message


def main() -> None:
    """Run the node."""
    sys.exit(run(SimDetector))


if __name__ == "__main__":
    main()
