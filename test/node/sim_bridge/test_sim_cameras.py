"""The cameras of the simulation in their own process: what they publish is where the objects are."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import CameraInfo, Image, PointCloud2

from handiwork_core.cameras.camera import LINK_T_OPTICAL
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_ros.conversions import time_from_msg, transform_from_msg
from handiwork_ros.rclpy_support.qos import LATEST, TF_STATIC
from sim_bridge.cameras.renderer import choose_library
from sim_bridge.node import SimBridge
from support.nodes.ros_stage import Stage, stage, wait_for
from support.paths import ROBOTS, ROOT
from tf2_msgs.msg import TFMessage

pytestmark = pytest.mark.processes

FOLDER, SCENE_FILE = ROBOTS / "fr3", ROOT / "config" / "scenes" / "cameras.yaml"
ROBOT, SCENE = load_robot(FOLDER), load_scene(SCENE_FILE)
OVERVIEW, WRIST = SCENE.cameras
CUBE = next(item for item in SCENE.objects if item.name == "cube")
NOISE_M = 0.02
"""More than six deviations of the depth at 2 m."""


def draws() -> bool:
    try:
        choose_library(os.environ)
    except ValueError:
        return False
    return True


@contextmanager
def cameras(**environment: str) -> Iterator[subprocess.Popen[str]]:
    files = (f"robot_dir:={FOLDER}", f"scene_file:={SCENE_FILE}", "use_sim_time:=true")
    command = [sys.executable, "-m", "sim_bridge.cameras.node", "--ros-args"]
    command += [word for value in files for word in ("-p", value)]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **environment},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60.0)


class Watcher:
    """A subscriber that keeps the newest message of each topic."""

    def __init__(self, on: Stage) -> None:
        self.node = Node("watcher", context=on.context)
        self.seen: dict[str, Any] = {}
        self.frames: dict[str, tuple[str, Pose]] = {}
        self.node.create_subscription(TFMessage, "/tf_static", self._on_frames, TF_STATIC)
        on.add(self.node)

    def listen(self, kind: Any, topic: str) -> None:
        self.node.create_subscription(
            kind, topic, lambda message: self.seen.__setitem__(topic, message), LATEST
        )

    def _on_frames(self, message: TFMessage) -> None:
        for one in message.transforms:
            self.frames[one.child_frame_id] = (one.header.frame_id, transform_from_msg(one.transform))


def simulated(on: Stage) -> SimBridge:
    given = [
        Parameter("robot_dir", value=str(FOLDER)),
        Parameter("scene_file", value=str(SCENE_FILE)),
    ]
    node = SimBridge(context=on.context, parameter_overrides=given)
    on.add(node)
    wait_for(lambda: node.is_active)
    return node


def pixels(message: Image, kind: Any, channels: int) -> Array:
    shape = (message.height, message.width, channels) if channels > 1 else (message.height, message.width)
    return np.frombuffer(message.data, kind).reshape(shape)


@pytest.mark.slow
def test_images_depths_and_clouds_show_the_objects_where_they_are() -> None:
    if not draws():
        pytest.skip("no OpenGL library draws on this machine")
    with stage() as on, cameras():
        sim, watcher = simulated(on), Watcher(on)
        topics = {
            "cameras/overview/color/image_raw": Image,
            "cameras/overview/color/camera_info": CameraInfo,
            "cameras/overview/depth/image_raw": Image,
            "cameras/overview/depth/points": PointCloud2,
            "cameras/wrist/depth/image_raw": Image,
        }
        for topic, kind in topics.items():
            watcher.listen(kind, topic)
        wait_for(lambda: set(topics) <= set(watcher.seen) and "wrist_optical_frame" in watcher.frames)
        try:
            _check_overview(watcher)
            _check_wrist(watcher)
        finally:
            sim.on_stop()


def _check_overview(watcher: Watcher) -> None:
    parent, world_T_link = watcher.frames["overview_link"]
    assert parent == "world"
    assert watcher.frames["overview_optical_frame"][0] == "overview_link"
    world_T_optical = world_T_link @ watcher.frames["overview_optical_frame"][1]
    info = watcher.seen["cameras/overview/color/camera_info"]
    assert info.header.frame_id == "overview_optical_frame"
    assert np.allclose(np.reshape(info.k, (3, 3)), OVERVIEW.intrinsics.matrix())
    top = CUBE.world_T_object.translation_m + (0.0, 0.0, 0.5 * 0.045)
    seen = world_T_optical.inverse().apply(top)
    column, row = np.rint(OVERVIEW.intrinsics.project(seen[None])[0]).astype(int)
    image = watcher.seen["cameras/overview/color/image_raw"]
    assert image.encoding == "rgb8"
    red, green, blue = pixels(image, np.uint8, 3)[row, column].astype(int)
    assert red > 2 * max(green, blue)
    depth = watcher.seen["cameras/overview/depth/image_raw"]
    assert depth.encoding == "32FC1"
    assert time_from_msg(depth.header.stamp) > 0.0
    assert pixels(depth, np.float32, 1)[row, column] == pytest.approx(seen[2], abs=NOISE_M)
    points = watcher.seen["cameras/overview/depth/points"]
    assert [field.name for field in points.fields] == ["x", "y", "z", "rgb"]
    assert pixels(points, np.float32, 4)[row, column, :3] == pytest.approx(seen, abs=NOISE_M)


def _check_wrist(watcher: Watcher) -> None:
    parent, hand_T_link = watcher.frames["wrist_link"]
    assert parent == "fr3/fr3_hand"
    world_T_hand = SCENE.world_T_base @ link_poses(ROBOT, {})["fr3_hand"]
    down = world_T_hand @ hand_T_link @ LINK_T_OPTICAL
    depth = watcher.seen["cameras/wrist/depth/image_raw"]
    assert depth.encoding == "16UC1"
    centre = down.rotation.matrix()[:, 2]
    to_table = -down.translation_m[2] / centre[2]  # the table's top is at 0
    found = pixels(depth, np.uint16, 1)[120, 212] * 1e-3
    assert found == pytest.approx(to_table, abs=NOISE_M)


def test_without_a_library_that_draws_the_process_ends_with_one_sentence() -> None:
    with cameras(MUJOCO_GL="none") as process:
        errors: list[str] = []
        reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()))
        reader.start()
        assert process.wait(60.0) == 2
        reader.join()
    assert "no OpenGL library draws on this machine" in "".join(errors)
    assert "apt install libegl1" in "".join(errors)
