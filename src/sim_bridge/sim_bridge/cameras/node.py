"""The cameras of a simulation as a ROS node: a process of its own, so that neither physics nor controllers wait.

It draws the world as it is published on ``world/objects``, ``world/object_states`` and ``joint_states``.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

from handiwork_msgs.msg import WorldObjects

from handiwork_core.cameras.camera import Camera
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Report
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_ros.intake.topic_intake import GeometryIntake
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.robot_folder import RobotFolder
from handiwork_ros.rclpy_support.latched_publisher import LatchedPublisher
from handiwork_ros.rclpy_support.qos import LATCHED, TF_STATIC
from sim_bridge.cameras.camera_list import all_cameras
from sim_bridge.cameras.decals import tag_decal
from sim_bridge.cameras.renderer import SceneRenderer, choose_library
from sim_bridge.cameras.ros.camera_topics import CameraTopics, static_frames
from sim_bridge.cameras.ros.measured_states import MeasuredStates
from tf2_msgs.msg import TFMessage

LOOK_S = 0.005
"""The period in which the drawing thread looks for a new state while there is a subscriber, s of steady time."""
IDLE_S = 0.2
"""The same while there is none, s."""
NICENESS = 10
"""The priority of the drawing thread: on a busy processor the controllers go first."""
STATIC_PERIOD_S = 2.0
"""The period of the repetition of the frames, s."""


class SimCameras(ManagedNode):
    """The cameras of robot and scene. Without a subscriber nothing is read or drawn.

    Args:
        options: Options of the node; see ``ManagedNode``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("sim_cameras", **options)
        self._robot_dir = RobotFolder(self).path
        self._scene_file = self.parameter("scene_file", "", "scene YAML: config/scenes/<name>.yaml")
        self._seed = self.parameter("seed", 0, "seed of the noise")
        self._topics: list[CameraTopics] = []
        self._frames = LatchedPublisher(self, TFMessage, "tf_static", TF_STATIC, period_s=STATIC_PERIOD_S)
        self._lock = threading.Lock()
        self._geometry = GeometryIntake("world/objects", self._lock, self.get_logger().warning)
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._library = ""

    def on_load(self, report: Report) -> None:
        """Read the cameras, and find out how this machine draws; see the base.

        Args:
            report: Receives the progress.

        Raises:
            ConfigError: A file has faults, two cameras have one name, or nothing draws on this machine.
        """
        report(0.0, "reading robot and scene")
        self._robot, self._scene = load_robot(Path(self._robot_dir)), load_scene(Path(self._scene_file))
        cameras = all_cameras(self._robot, self._scene)
        if not cameras:
            self.get_logger().info("neither the robot nor the scene has cameras; nothing to do")
            return
        report(0.3, "trying the libraries that draw")
        try:
            self._library = choose_library(os.environ)
        except ValueError as error:
            raise ConfigError(f"node {self.get_name()}", [str(error)]) from error
        if not self._topics:
            self.on_executor(lambda: self._offer(cameras))

    def _offer(self, cameras: tuple[Camera, ...]) -> None:
        self.create_subscription(WorldObjects, "world/objects", self._geometry.take, LATCHED, raw=True)
        self._states = MeasuredStates(self)
        self._topics = [CameraTopics(self, one, self._seed + i) for i, one in enumerate(cameras)]

    def on_start(self) -> None:
        """Publish the frames, and draw."""
        if not self._topics:
            return
        message = TFMessage()
        for topics in self._topics:
            message.transforms += static_frames(self._robot, topics.camera)
        for frame in message.transforms:
            frame.header.stamp = self.get_clock().now().to_msg()
        self._frames.publish(message)
        self._stopping.clear()
        self._thread = threading.Thread(target=self._run, name="drawing", daemon=True)
        self._thread.start()

    def on_stop(self) -> None:
        """Stop drawing."""
        self._stopping.set()
        self._frames.forget()

    def is_idle(self) -> bool:
        """Check whether the thread that draws has ended."""
        return self._thread is None or not self._thread.is_alive()

    def on_close(self) -> None:
        """Wait for the thread that draws."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(5.0)

    def _run(self) -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        colors = {item.name: item.color for item in self._scene.objects}
        cameras = tuple(topics.camera for topics in self._topics)
        decals = {item.name: [tag_decal(tag) for tag in item.tags] for item in self._scene.objects}
        base = self._scene.world_T_base
        renderer = SceneRenderer(self._library, self._robot, base, cameras, colors, decals)
        try:
            self._draw_until_stopped(renderer)
        finally:
            renderer.close()

    def _draw_until_stopped(self, renderer: SceneRenderer) -> None:
        shown = refused = 0
        while not self._stopping.wait(LOOK_S if self._is_wanted() else IDLE_S):
            wanted = [topics for topics in self._topics if topics.is_wanted()]
            state = self._states.newest() if wanted else None
            if state is None:
                continue
            with self._lock:
                version, objects = self._geometry.value()
            # States of another version belong to objects that have not come yet.
            if version != state.version or version == refused:
                continue
            if version != shown:
                try:
                    renderer.show(objects.values())
                except ValueError as error:
                    refused = version
                    self.get_logger().error(f"the cameras stand still: the objects cannot be drawn: {error}")
                    continue
                shown = version
            due = [topics for topics in wanted if topics.is_due(state.stamp_s)]
            if due:
                renderer.place(state.joints, state.poses)
            for topics in due:
                topics.publish(renderer, state.stamp_s)

    def _is_wanted(self) -> bool:
        return any(topics.is_wanted() for topics in self._topics)


def main() -> None:
    """Run the node."""
    sys.exit(run(SimCameras))


if __name__ == "__main__":
    main()
