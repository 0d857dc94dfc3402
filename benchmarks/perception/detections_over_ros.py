"""The time from a detection to its object's state over ROS: ``python -m benchmarks.perception.detections_over_ros``.

``perception_bridge`` is a process of its own. The detector of this process sends poses of the cube that it can tell
apart, and takes the time until the cube's state follows one. What the detector itself needs is no part of it.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import rclpy
from geometry_msgs.msg import Pose, TransformStamped
from handiwork_msgs.msg import ObjectStates
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Header

from benchmarks.mbm.own_scene import FR3
from benchmarks.mbm.rows import markdown
from benchmarks.nodes.processes import process
from handiwork_cli.processes.ros_environment import with_ros_defaults
from handiwork_core.process.domain import lease_free_domain
from handiwork_ros.rclpy_support.qos import LATEST, STREAM, TF_STATIC
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose

ROOT = FR3.parents[3]
SCENE = ROOT / "config" / "scenes" / "tabletop.yaml"
TABLE = """
labels: {cube: {object: cube}}
sources: [{type: detections, topic: detections}]
"""
GOAL_MS = 10.0
STEP_M = 0.004
"""The cube's way between two detections, m."""
SEEN_M = 0.1 * STEP_M
"""A state in which the cube has moved by more follows the newest detection, m."""
LOST_S = 0.5
WARM = 5
"""States that must have followed before the measurement begins: the bridge is there then."""


class Detector(Node):
    """Sends detections of the cube, and takes the time of the states that follow them."""

    def __init__(self) -> None:
        super().__init__("detector")
        self._out = self.create_publisher(Detection3DArray, "detections", STREAM)
        self._frames = self.create_publisher(TFMessage, "tf_static", TF_STATIC)
        self.create_subscription(ObjectStates, "world/object_states", self._on_states, LATEST)
        base = TransformStamped(header=Header(frame_id="world"), child_frame_id="fr3/fr3_link0")
        base.transform.rotation.w = 1.0
        self._frames.publish(TFMessage(transforms=[base]))
        self._sent_s: float | None = None
        self._seen_x = float("nan")
        self.times_s, self.lost = list[float](), 0

    def send(self, x: float) -> None:
        """Send a detection of the cube at a place.

        Args:
            x: Its place along x, m.
        """
        if self._sent_s is not None:
            self.lost += 1
        stamp = self.get_clock().now().to_msg()
        pose = Pose()
        pose.position.x, pose.position.y, pose.position.z, pose.orientation.w = x, 0.0, 0.0225, 1.0
        seen = ObjectHypothesisWithPose()
        seen.hypothesis.class_id, seen.hypothesis.score = "cube", 0.9
        seen.pose.pose = pose
        seen.pose.covariance = [1e-8 if i % 7 == 0 else 0.0 for i in range(36)]
        message = Detection3DArray(header=Header(frame_id="world", stamp=stamp))
        message.detections.append(Detection3D(header=message.header, results=[seen]))
        self._sent_s = time.monotonic()
        self._out.publish(message)

    def _on_states(self, message: ObjectStates) -> None:
        now_s = time.monotonic()
        places = {state.name: state.pose.position.x for state in message.states}
        before, self._seen_x = self._seen_x, places.get("cube", float("nan"))
        if self._sent_s is not None and abs(self._seen_x - before) > SEEN_M:
            self.times_s.append(now_s - self._sent_s)
            self._sent_s = None


def main() -> int:
    """Measure, and return 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--detections", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=15.0, help="detections a second")
    options = parser.parse_args()
    with lease_free_domain() as lease, tempfile.TemporaryDirectory() as folder:
        os.environ.update(with_ros_defaults({**os.environ, "ROS_DOMAIN_ID": str(lease.domain_id)}))
        table = Path(folder) / "table.yaml"
        table.write_text(TABLE, encoding="utf-8")
        given = {"robot_dir": FR3, "scene_file": SCENE, "table_file": table}
        parameters = [part for name, path in given.items() for part in ("-p", f"{name}:={path}")]
        with process("-m", "perception_bridge.node", "--ros-args", *parameters):
            detector = measure(options.detections, options.rate)
    row = [f"{1e3 * value:.2f}" for value in np.percentile(detector.times_s, (50, 95, 99, 100))]
    print(
        f"{len(detector.times_s)} detections at {options.rate:g} Hz, {detector.lost} without a state in time\n"
    )
    print(markdown(("ms", "p50", "p95", "p99", "greatest"), [["detection to state of the object", *row]]))
    print(f"\nwanted at p99: {GOAL_MS:g}; load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    return 0


def measure(count: int, rate_hz: float) -> Detector:
    """Send detections, and return the node with its times.

    Args:
        count: Number of detections.
        rate_hz: Detections a second.
    """
    rclpy.init()
    detector, executor, pause = Detector(), SingleThreadedExecutor(), threading.Event()
    executor.add_node(detector)
    threading.Thread(target=executor.spin, daemon=True).start()
    for i in itertools.takewhile(lambda _: len(detector.times_s) < WARM, itertools.count()):
        detector.send(0.5 + STEP_M * (i % 2))
        pause.wait(0.2)
    detector.times_s.clear()
    detector.lost = 0
    for i in range(count):
        detector.send(0.5 + STEP_M * (i % 2))
        pause.wait(1.0 / rate_hz)
    pause.wait(LOST_S)
    executor.shutdown()
    rclpy.shutdown()
    return detector


if __name__ == "__main__":
    sys.exit(main())
