"""The perception node with a depth camera: occupied cells come out, faults are named, and nothing of them is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import NodeStatus
from handiwork_msgs.msg import VoxelMap as VoxelMapMsg
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField
from sensor_msgs.msg import JointState as JointStateMsg
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker

from handiwork_core.model.diagnostics import Level
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import JointState
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.voxels.voxel_map import VoxelMap
from handiwork_ros.conversions import joint_state_to_msg, transform_to_msg, voxel_map_from_msg
from handiwork_ros.liveness.bond_topic import STATUS_TOPIC
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST, STATUS, TF_STATIC
from perception_bridge.node import PerceptionBridge
from support.nodes.ros_stage import Stage, stage, wait_for
from support.paths import ROBOTS, ROOT
from tf2_msgs.msg import TFMessage

ROBOT = load_robot(ROBOTS / "fr3")
ARM = ROBOT.arm("")
SIZE, FOCAL, HEIGHT_M = 120, 120.0, 0.9
TABLE = """
sources: [{type: detections, topic: detections}]
frames: [top.yaml]
obstacles:
  cameras:
    - {type: depth, topic: top/image_raw}
    - {type: cloud, topic: octomap_point_cloud_centers}
  position: [0.6, 0.1, 0.3]
  size: [0.6, 0.6, 0.6]
  rate: 30.0
  min_points: 1
tracking: {max_age: 30.0}
"""
FRAME = """# The camera is above the table, and looks down at it.
parent_frame: world
child_frame: top_optical_frame
position: [0.6, 0.1, 0.9]
quaternion_wxyz: [0.0, 1.0, 0.0, 0.0]
"""
TOWER = (0.61, 0.11, 0.37)
"""A place in the top of the thing that the camera sees."""


def picture(*, with_thing: bool) -> NDArray[np.float32]:
    """Return the depths of the table, 0.9 m below, with or without a thing of 0.375 m on it."""
    depth = np.full((SIZE, SIZE), HEIGHT_M, np.float32)
    if with_thing:
        depth[50:70, 50:70] = 0.525
    return depth


class Cell:
    """A camera over a table, and a reader of the map."""

    def __init__(self, on: Stage, tmp_path: Path, table: str = TABLE) -> None:
        (tmp_path / "table.yaml").write_text(table)
        (tmp_path / "top.yaml").write_text(FRAME)
        scene = ROOT / "config" / "scenes" / "tabletop.yaml"
        files = {"robot_dir": ROBOTS / "fr3", "scene_file": scene, "table_file": tmp_path / "table.yaml"}
        given = [Parameter(name, value=str(path)) for name, path in files.items()]
        self.bridge = PerceptionBridge(context=on.context, parameter_overrides=given)
        on.add(self.bridge)
        self.node = Node("cell", context=on.context)
        on.add(self.node)
        self.maps: list[VoxelMap] = []
        self.markers: list[Marker] = []
        self.node.create_subscription(VoxelMapMsg, "world/unmodelled", self._on_map, LATCHED)
        self.node.create_subscription(Marker, "world/unmodelled/markers", self.markers.append, LATEST)
        self._publishers: dict[str, Any] = {}
        self._joints = self.node.create_publisher(JointStateMsg, "joint_states", LATEST)
        self._static = self.node.create_publisher(TFMessage, "tf_static", TF_STATIC)
        self._home = dict(zip(ARM.joint_names, ARM.home_q.tolist(), strict=True))
        base = TransformStamped(
            child_frame_id=f"fr3/{ROBOT.root_link}", transform=transform_to_msg(Pose.identity())
        )
        base.header.frame_id = "world"
        self._static.publish(TFMessage(transforms=[base]))
        self.links: list[TransformStamped] = []
        """Further frames, which are published again and again."""
        self._moving = self.node.create_publisher(TFMessage, "tf", LATEST)
        self.speak: Callable[[], None] = lambda: None
        self.node.create_timer(0.02, self._send_joints)
        self.node.create_timer(0.05, lambda: self.speak())
        wait_for(lambda: self.bridge.is_active)

    def _on_map(self, message: VoxelMapMsg) -> None:
        self.maps.append(voxel_map_from_msg(message))

    def _send_joints(self) -> None:
        self._joints.publish(joint_state_to_msg(JointState(self.now_ns() * 1e-9, self._home)))
        for link in self.links:
            link.header.stamp.sec, link.header.stamp.nanosec = divmod(self.now_ns(), 1_000_000_000)
        self._moving.publish(TFMessage(transforms=self.links))

    def now_ns(self) -> int:
        return int(self.node.get_clock().now().nanoseconds)

    def send(self, kind: Any, topic: str, message: Any, ahead_s: float = 0.0) -> None:
        if topic not in self._publishers:
            self._publishers[topic] = self.node.create_publisher(kind, topic, LATEST)
        stamp = message.header.stamp
        stamp.sec, stamp.nanosec = divmod(self.now_ns() + int(ahead_s * 1e9), 1_000_000_000)
        message.header.frame_id = message.header.frame_id or "top_optical_frame"
        self._publishers[topic].publish(message)

    def info(self, **fields: Any) -> None:
        middle = (SIZE - 1) / 2
        message = CameraInfo(width=SIZE, height=SIZE, distortion_model="plumb_bob", d=[0.0] * 5)
        message.k = [FOCAL, 0.0, middle, 0.0, FOCAL, middle, 0.0, 0.0, 1.0]
        for name, value in fields.items():
            setattr(message, name, value)
        self.send(CameraInfo, "top/camera_info", message)

    def depth(self, pixels: NDArray[np.float32], ahead_s: float = 0.0, **fields: Any) -> None:
        message = Image(height=SIZE, width=SIZE, encoding="32FC1", step=4 * SIZE, data=pixels.tobytes())
        for name, value in fields.items():
            setattr(message, name, value)
        self.send(Image, "top/image_raw", message, ahead_s)

    def both(self, pixels: NDArray[np.float32], ahead_s: float = 0.0, **fields: Any) -> None:
        self.info()
        self.depth(pixels, ahead_s, **fields)

    def cloud(self, points: NDArray[np.float32], **fields: Any) -> None:
        parts = [
            PointField(name=n, offset=4 * i, datatype=PointField.FLOAT32, count=1)
            for i, n in enumerate("xyz")
        ]
        message = PointCloud2(
            height=1, width=len(points), fields=parts, point_step=12, row_step=12 * len(points)
        )
        message.header.frame_id, message.data = "world", points.astype(np.float32).tobytes()
        for name, value in fields.items():
            setattr(message, name, value)
        self.send(PointCloud2, "octomap_point_cloud_centers", message)

    def is_occupied(self, place: tuple[float, float, float]) -> bool:
        if not self.maps:
            return False
        cells, _ = self.maps[-1].grid.cells_of(np.array([place]))
        return bool(self.maps[-1].occupied[tuple(cells[0])])

    def faults(self) -> str:
        return " ".join(one.values.get("newest fault", "") for one in self.bridge.diagnostics.diagnoses())


def test_what_the_camera_sees_and_nobody_knows_is_occupied(tmp_path: Path) -> None:
    with stage() as on:
        cell = Cell(on, tmp_path)
        cell.speak = lambda: cell.depth(picture(with_thing=True))
        wait_for(lambda: "no CameraInfo came on top/camera_info yet" in cell.faults())
        cell.speak = lambda: cell.both(picture(with_thing=True))
        wait_for(lambda: cell.is_occupied(TOWER))
        assert cell.maps[-1].centres()[:, 2].min() > 0.3  # neither table nor robot is in it
        wait_for(lambda: bool(cell.markers) and bool(cell.markers[-1].points))
        cases: list[tuple[Callable[[], None], str]] = [
            (lambda: cell.both(picture(with_thing=False), ahead_s=30.0), "ahead of this clock"),
            (lambda: cell.both(picture(with_thing=False), ahead_s=-60.0), "more than tracking.max_age 30 s"),
            (
                lambda: cell.both(picture(with_thing=False), encoding="rgb8"),
                "encoding 'rgb8' is not known for depth",
            ),
            (lambda: cell.both(picture(with_thing=False), step=3), "rows of 3"),
            (
                lambda: (cell.info(width=99), cell.depth(picture(with_thing=False)))[0],
                "its CameraInfo 99 x 120",
            ),
            (lambda: (cell.info(d=[0.1] * 5), cell.depth(picture(with_thing=False)))[0], "distorted"),
        ]
        for speak, word in cases:
            cell.speak = speak
            wait_for(lambda word=word: word in cell.faults())  # type: ignore[misc]
        assert cell.is_occupied(TOWER)  # nothing of that cost what was known
        blind = np.full((SIZE, SIZE), np.nan, np.float32)
        cell.speak = lambda: cell.both(blind)
        count = len(cell.maps)
        cell.speak = lambda: cell.both(picture(with_thing=False))
        wait_for(lambda: len(cell.maps) > count and not cell.is_occupied(TOWER))


def test_a_cloud_from_outside_and_its_faults(tmp_path: Path) -> None:
    with stage() as on:
        cell = Cell(on, tmp_path)
        points = np.array([[0.51, 0.01, 0.41], [np.nan, 0.0, 0.0]], np.float32)
        cell.speak = lambda: cell.cloud(points)
        wait_for(lambda: cell.is_occupied((0.51, 0.01, 0.41)))
        cases: list[tuple[Callable[[], None], str]] = [
            (lambda: cell.cloud(points, fields=[]), "no field 'x' of FLOAT32"),
            (lambda: cell.cloud(points, width=900), "do not hold its fields"),
        ]
        for speak, word in cases:
            cell.speak = speak
            wait_for(lambda word=word: word in cell.faults())  # type: ignore[misc]
        assert cell.is_occupied((0.51, 0.01, 0.41))
        cell.speak = lambda: cell.cloud(points[1:])
        wait_for(lambda: not cell.is_occupied((0.51, 0.01, 0.41)))


def test_on_request_only_the_next_image_counts(tmp_path: Path) -> None:
    with stage() as on:
        cell = Cell(on, tmp_path, TABLE.replace("rate: 30.0", "rate: 0.0"))
        look = cell.node.create_client(Trigger, "perception/look")
        forget = cell.node.create_client(Trigger, "perception/forget_obstacles")
        wait_for(lambda: look.service_is_ready() and forget.service_is_ready())
        cell.speak = lambda: cell.both(picture(with_thing=True))
        eye = cell.bridge._obstacles._eyes["top/image_raw"]  # type: ignore[union-attr]
        wait_for(lambda: eye.received_s > 0.0)
        assert not cell.maps
        answer = look.call_async(Trigger.Request())
        wait_for(lambda: answer.done() and cell.is_occupied(TOWER))
        assert answer.result().success
        cell.speak = lambda: cell.both(picture(with_thing=False))
        gone = forget.call_async(Trigger.Request())
        wait_for(gone.done)
        look.call_async(Trigger.Request())
        wait_for(lambda: not cell.is_occupied(TOWER))


def in_frame(cell: Cell, frame: str) -> None:
    """Send what the camera sees now that the thing is gone, in another frame."""
    cell.info()
    message = Image(height=SIZE, width=SIZE, encoding="32FC1", step=4 * SIZE)
    message.data, message.header.frame_id = picture(with_thing=False).tobytes(), frame
    cell.send(Image, "top/image_raw", message)


def test_frames_that_are_missing_or_in_a_loop_are_named_and_cost_nothing(tmp_path: Path) -> None:
    with stage() as on:
        cell = Cell(on, tmp_path)
        for parent, child in (("ring", "chain"), ("chain", "ring")):
            link = TransformStamped(child_frame_id=child, transform=transform_to_msg(Pose.identity()))
            link.header.frame_id = parent
            cell.links.append(link)
        cell.speak = lambda: cell.both(picture(with_thing=True))
        wait_for(lambda: cell.is_occupied(TOWER))
        for frame, words in (("nowhere", "frame 'nowhere' is not known"), ("ring", "loop through frame")):
            cell.speak = lambda frame=frame: in_frame(cell, frame)  # type: ignore[misc]
            wait_for(lambda words=words: words in cell.faults())  # type: ignore[misc]
            assert cell.is_occupied(TOWER)
        cell.speak = lambda: cell.both(picture(with_thing=False))
        wait_for(lambda: not cell.is_occupied(TOWER))


def test_a_camera_that_is_unplugged_is_named_in_the_state_and_its_obstacles_stay(tmp_path: Path) -> None:
    with stage() as on:
        cell = Cell(on, tmp_path)
        states: list[str] = []
        cell.node.create_subscription(
            NodeStatus, STATUS_TOPIC, lambda message: states.append(message.message), STATUS
        )
        cell.speak = lambda: cell.both(picture(with_thing=True))
        wait_for(lambda: cell.is_occupied(TOWER))
        assert cell.bridge.status_text == ""
        cell.speak = lambda: None
        wait_for(lambda: any("top/image_raw: no image for" in text for text in states))
        assert "what it saw last stays an obstacle" in cell.bridge.status_text
        assert any(
            "no image for" in one.message and one.level is Level.WARN
            for one in cell.bridge.diagnostics.diagnoses()
        )
        assert cell.bridge.is_active
        assert cell.is_occupied(TOWER)
        cell.speak = lambda: cell.both(picture(with_thing=False))
        wait_for(lambda: not cell.is_occupied(TOWER))
        wait_for(lambda: cell.bridge.status_text == "")
