"""The perception node with the images of a camera: tags become objects, and faults of a camera are named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import ObjectStates
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import CameraInfo, Image

from handiwork_core.model.world import ObjectState
from handiwork_ros.conversions import object_states_from_msg
from handiwork_ros.rclpy_support.qos import LATEST, STREAM, TF_STATIC
from perception_bridge.node import PerceptionBridge
from support.nodes.ros_stage import Stage, stage, wait_for
from support.paths import ROBOTS, ROOT
from tf2_msgs.msg import TFMessage

PLACE = (0.5, 0.1, 0.0225)
SIZE, FOCAL = 480, 700.0
SQUARE_PX = FOCAL * 0.032 / (0.5 - 0.045)
"""The edge of the tag on the upper side of the cube, whose middle is that of the image, pixels."""
TABLE = "sources: [{type: tags, topic: top/image_raw}]\nframes: [top.yaml]\n"
FRAME = """# The camera is above the cube, and looks down at it.
parent_frame: world
child_frame: top_optical_frame
position: [0.5, 0.1, 0.5]
quaternion_wxyz: [0.0, 1.0, 0.0, 0.0]
"""


def picture(*shifts_px: int) -> NDArray[np.uint8]:
    """Return an image with tag 0, upright in the camera, as often as there are places."""
    image = np.full((SIZE, SIZE), 130, np.uint8)
    family = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    edge = round(SQUARE_PX * 10 / 8)
    tag = np.pad(cv2.aruco.generateImageMarker(family, 0, 160), 20, constant_values=255)
    small = cv2.resize(np.asarray(tag), (edge, edge), interpolation=cv2.INTER_AREA)
    for shift in shifts_px:
        row, column = SIZE // 2 - edge // 2, SIZE // 2 - edge // 2 + shift
        image[row : row + edge, column : column + edge] = small
    return image


class Cell:
    """A camera over a cube, and a reader of the world."""

    def __init__(self, on: Stage, tmp_path: Path) -> None:
        table = tmp_path / "table.yaml"
        table.write_text(TABLE)
        (tmp_path / "top.yaml").write_text(FRAME)
        scene = ROOT / "config/scenes/tags.yaml"
        files = {"robot_dir": ROBOTS / "fr3", "scene_file": scene, "table_file": table}
        given = [Parameter(name, value=str(path)) for name, path in files.items()]
        self.bridge = PerceptionBridge(context=on.context, parameter_overrides=given)
        on.add(self.bridge)
        self.node = Node("camera", context=on.context)
        on.add(self.node)
        self.states: dict[str, ObjectState] = {}
        self.frames: list[TransformStamped] = []
        self.node.create_subscription(ObjectStates, "world/object_states", self._on_states, STREAM)
        self.node.create_subscription(
            TFMessage, "tf_static", lambda m: self.frames.extend(m.transforms), TF_STATIC
        )
        self._images = self.node.create_publisher(Image, "top/image_raw", LATEST)
        self._infos = self.node.create_publisher(CameraInfo, "top/camera_info", LATEST)
        self.speak: Callable[[], None] = lambda: None
        self.node.create_timer(0.05, lambda: self.speak())
        wait_for(lambda: self.bridge.is_active and bool(self.states))

    def _on_states(self, message: ObjectStates) -> None:
        self.states = object_states_from_msg(message)

    def send(self, image: NDArray[np.uint8], ahead_s: float = 0.0, **fields: Any) -> None:
        message = Image(height=SIZE, width=SIZE, encoding="mono8", step=SIZE, data=image.tobytes())
        message.header.frame_id = "top_optical_frame"
        now = self.node.get_clock().now().nanoseconds + int(ahead_s * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(now, 1_000_000_000)
        for name, value in fields.items():
            setattr(message, name, value)
        self._images.publish(message)

    def send_info(self, focal: float = FOCAL, **fields: Any) -> None:
        message = CameraInfo(width=SIZE, height=SIZE, distortion_model="plumb_bob", d=[0.0] * 5)
        middle = (SIZE - 1) / 2
        message.k = [focal, 0.0, middle, 0.0, focal, middle, 0.0, 0.0, 1.0]
        for name, value in fields.items():
            setattr(message, name, value)
        self._infos.publish(message)

    def both(self, image: NDArray[np.uint8], **fields: Any) -> None:
        self.send_info()
        self.send(image, **fields)

    def faults(self) -> str:
        return " ".join(one.values.get("newest fault", "") for one in self.bridge.diagnostics.diagnoses())

    def sees_cube(self) -> bool:
        if "cube" not in self.states:
            return False
        return bool(np.allclose(self.states["cube"].world_T_object.translation_m, PLACE, atol=0.01))


def test_a_tag_in_an_image_becomes_an_object_and_faults_are_named(tmp_path: Path) -> None:
    with stage() as on:
        cell = Cell(on, tmp_path)
        one = picture(0)
        cell.speak = lambda: cell.send(one)
        wait_for(lambda: "no CameraInfo came on top/camera_info yet" in cell.faults())
        cell.speak = lambda: cell.both(one)
        wait_for(cell.sees_cube)
        assert any(frame.child_frame_id == "top_optical_frame" for frame in cell.frames)
        cases: list[tuple[Callable[[], None], str]] = [
            (lambda: cell.both(picture(-100, 100)), "tag 0 is seen at 2 places"),
            (lambda: cell.both(one, ahead_s=5.0), "ahead of this clock"),
            (lambda: cell.both(one, encoding="bayer_rggb8"), "encoding 'bayer_rggb8' is not known"),
            (lambda: cell.both(one, step=SIZE - 1), "rows of 480 bytes are needed"),
            (lambda: cell.both(one[:240], height=240), "the image has 480 x 240 pixels"),
            (lambda: cell.send_info(float("nan")) or cell.send(one), "not finite"),  # type: ignore[func-returns-value]
        ]
        for speak, words in cases:
            cell.speak = speak
            wait_for(lambda words=words: words in cell.faults())
            assert cell.sees_cube(), words
        assert cell.bridge.is_active
