"""Perception as a ROS node: detections, poses and frames in, ``world/objects`` and ``world/object_states`` out."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from rclpy.clock import Clock, ClockType, JumpThreshold
from rclpy.duration import Duration
from rclpy.timer import Timer

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.robot.joint_history import JointHistory
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.rclpy_support.latched_publisher import LatchedPublisher
from handiwork_ros.rclpy_support.qos import TF_STATIC
from handiwork_ros.rclpy_support.ros_clock import RosClock
from handiwork_ros.rclpy_support.safe_callbacks import guard
from perception_bridge.obstacles.warm_up import warm_up
from perception_bridge.ros.camera_frames import CameraFrames
from perception_bridge.ros.hands import Hands
from perception_bridge.ros.obstacle_search import ObstacleSearch
from perception_bridge.ros.sources import Source
from perception_bridge.ros.world_topics import WorldTopics, static_frames
from perception_bridge.table.object_table import load_table
from perception_bridge.tracking.tracker import Tracker
from tf2_msgs.msg import TFMessage

STATIC_PERIOD_S = 2.0
"""The period of the repetition of static frames, s."""
PERIOD_S = 0.02
"""The period of the published states, s: 50 Hz."""
SPACING_S = 0.003
"""The shortest time from the last states to those that a message of a detector brings, s."""


class PerceptionBridge(ManagedNode):
    """Makes the world of the planner, the skills and the conditions out of what detectors see.

    Args:
        options: Options of ``rclpy.node.Node``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("perception_bridge", **options)
        self._robot_dir = RobotFolder(self).path
        self._scene_file = self.parameter("scene_file", "", "scene YAML with the fixed objects")
        self._table_file = self.parameter("table_file", "", "object table YAML: labels, sources, tracking")
        self._clock_s = RosClock(self)
        self._published_s = 0.0
        self._soon: Timer | None = None
        self._sources: list[Source] = []
        self._world: WorldTopics | None = None
        self._obstacles: ObstacleSearch | None = None
        self._frames = LatchedPublisher(self, TFMessage, "tf_static", TF_STATIC, period_s=STATIC_PERIOD_S)
        back = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False)
        self._jump = self.get_clock().create_jump_callback(
            back, post_callback=guard(self, lambda _jump: self._start_over())
        )

    def on_load(self, report: Report) -> None:
        """Read robot, scene and table; see the base."""
        report(0.0, "reading robot, scene and table")
        names = ("robot_dir", "scene_file", "table_file")
        given = (self._robot_dir, self._scene_file, self._table_file)
        empty = [name for name, value in zip(names, given, strict=True) if not value]
        if empty:
            faults = [f"parameter {name}: is empty; give its path" for name in empty]
            raise ConfigError(f"node {self.get_name()}", faults)
        robot, scene = load_robot(Path(self._robot_dir)), load_scene(Path(self._scene_file))
        table = load_table(Path(self._table_file), scene)
        if self._world is not None:
            return
        if table.obstacles.cameras:
            report(0.5, "loading the kernels of the search for obstacles")
            warm_up()
        labels = {label.name: label.objects for label in table.labels.values()}
        self._tracker = Tracker(labels, table.tracking)
        history = JointHistory()

        def offer() -> None:
            frames = CameraFrames(self, robot, history)
            self._hands = Hands(self, robot, history, self._tracker, frames.base)
            now = self._clock_s.now_s
            self._sources = [
                Source(self, one, table, self._tracker, frames, now, self._publish_seen)
                for one in table.sources
            ]
            self._world = WorldTopics(self, scene, self._tracker)
            if table.obstacles.cameras:
                age_s = table.tracking.max_age
                self._obstacles = ObstacleSearch(self, table.obstacles, robot, history, frames, now, age_s)
            if table.frames:
                self._frames.publish(static_frames(table.frames, now()))
            # Of steady time, so that readers are not left without a message while the world is paused.
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self.create_timer(PERIOD_S, guard(self, self._on_timer), clock=steady)
            self._soon = self.create_timer(SPACING_S, guard(self, self._on_soon), clock=steady)
            self._soon.cancel()

        self.on_executor(offer)

    def on_start(self) -> None:
        """Begin with an empty world: what was seen before may have been moved since."""
        self._start_over()

    def on_stop(self) -> None:
        """Stop repeating the latched messages."""
        if self._world is not None:
            self._world.stop()
            self._frames.forget()
        if self._obstacles is not None:
            self._obstacles.stop()

    def on_close(self) -> None:
        """End the threads that search images."""
        for source in self._sources:
            source.close()
        if self._obstacles is not None:
            self._obstacles.close()

    def _start_over(self) -> None:
        if self._world is not None:
            self._tracker.clear()
            self._world.start_over()
        if self._obstacles is not None:
            self._obstacles.start_over()

    def _on_timer(self) -> None:
        now_s = self._clock_s.now_s()
        if self._world is None or not self.is_active or now_s <= 0.0:
            return
        self._hands.poll()
        for source in self._sources:
            source.poll()
        for name in self._tracker.forget_old(now_s):
            self.get_logger().warning(f"{name!r} was not seen for too long; it is taken out of the world")
        self._published_s = time.monotonic()
        known = self._world.publish(now_s)
        if self._obstacles is not None:
            self._obstacles.poll(*known)

    def _publish_seen(self) -> None:
        """Publish what a detector has just seen: at once, or as soon as the last states are old enough."""
        now_s = self._clock_s.now_s()
        if self._world is None or self._soon is None or not self.is_active or now_s <= 0.0:
            return
        if time.monotonic() - self._published_s >= SPACING_S:
            self._published_s = time.monotonic()
            self._world.publish(now_s)
        elif self._soon.is_canceled():
            self._soon.reset()

    def _on_soon(self) -> None:
        if self._soon is not None:
            self._soon.cancel()
        self._publish_seen()


def main() -> None:
    """Run the node; entry point of the executable."""
    sys.exit(run(PerceptionBridge))


if __name__ == "__main__":
    main()
