"""The perception node with detectors that send what they like: the world that comes out, and the named faults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import PoseArray, PoseStamped, TransformStamped
from handiwork_msgs.msg import ObjectStates, WorldObjects
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import JointState, ObjectState
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.conversions import (
    joint_state_to_msg,
    object_states_from_msg,
    pose_to_msg,
    transform_to_msg,
)
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST, STREAM, TF_STATIC
from perception_bridge.node import PERIOD_S, PerceptionBridge
from support.nodes.ros_stage import Stage, stage, wait_for
from support.paths import ROBOTS, ROOT
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose

FOLDER, SCENE_FILE = ROBOTS / "fr3", ROOT / "config" / "scenes" / "tabletop.yaml"
ROBOT = load_robot(FOLDER)
ARM = ROBOT.arm("")
HAND_T_CAMERA = Pose.of((0.06, 0.0, 0.03))
TABLE = """
labels:
  tin: {object: can, detected_T_object: {position: [0.0, 0.0, -0.05]}}
sources:
  - {type: detections, topic: detections}
  - {type: pose_array, topic: tins, label: tin}
  - {type: pose, topic: tin_pose, label: tin}
  - {type: tf, frame: tag_3, label: tin}
tracking: {unknown_after: 600.0, forget_after: 0.0}
"""


class Cell:
    """A robot at home with a camera on its hand, a detector, and a reader of the world."""

    def __init__(self, on: Stage, tmp_path: Path) -> None:
        table = tmp_path / "table.yaml"
        table.write_text(TABLE)
        files = {"robot_dir": FOLDER, "scene_file": SCENE_FILE, "table_file": table}
        given = [Parameter(name, value=str(path)) for name, path in files.items()]
        self.bridge = PerceptionBridge(context=on.context, parameter_overrides=given)
        on.add(self.bridge)
        self.node = Node("cell", context=on.context)
        on.add(self.node)
        self.objects: WorldObjects | None = None
        self.states: dict[str, ObjectState] = {}
        self.node.create_subscription(WorldObjects, "world/objects", self._on_objects, LATCHED)
        self.node.create_subscription(ObjectStates, "world/object_states", self._on_states, STREAM)
        self._joints = self.node.create_publisher(JointStateMsg, "joint_states", LATEST)
        self._static = self.node.create_publisher(TFMessage, "tf_static", TF_STATIC)
        self._tf = self.node.create_publisher(TFMessage, "tf", TF_STATIC)
        self._publishers: dict[str, Any] = {}
        self.home = dict(zip(ARM.joint_names, ARM.home_q.tolist(), strict=True))
        self._static.publish(
            TFMessage(
                transforms=[
                    transform("world", f"fr3/{ROBOT.root_link}", Pose.identity()),
                    transform("fr3/fr3_hand", "camera", HAND_T_CAMERA),
                    transform("a", "b", Pose.identity()),
                    transform("b", "a", Pose.identity()),
                ]
            )
        )
        self.speak: Callable[[], None] = lambda: None
        self.node.create_timer(0.01, self._send_joints)
        self.node.create_timer(0.05, lambda: self.speak())
        wait_for(lambda: self.bridge.is_active and self.objects is not None and bool(self.states))

    def _on_objects(self, message: WorldObjects) -> None:
        self.objects = message

    def _on_states(self, message: ObjectStates) -> None:
        self.states = object_states_from_msg(message)

    def _send_joints(self) -> None:
        now_s = self.node.get_clock().now().nanoseconds * 1e-9
        self._joints.publish(joint_state_to_msg(JointState(now_s, self.home)))

    def send(self, kind: Any, topic: str, message: Any) -> None:
        if topic not in self._publishers:
            self._publishers[topic] = self.node.create_publisher(kind, topic, LATEST)
        self._publishers[topic].publish(message)

    def stamped(self, message: Any, frame: str, ahead_s: float = 0.0) -> Any:
        message.header.frame_id = frame
        now = self.node.get_clock().now().nanoseconds + int(ahead_s * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(now, 1_000_000_000)
        return message

    def detected(self, *found: tuple[str, Pose], frame: str = "world", ahead_s: float = -0.05) -> None:
        message = self.stamped(Detection3DArray(), frame, ahead_s)
        for label, pose in found:
            one = ObjectHypothesisWithPose()
            one.hypothesis.class_id, one.hypothesis.score = label, 0.9
            one.pose.pose = pose_to_msg(pose)
            message.detections.append(Detection3D(results=[one]))
        self.send(Detection3DArray, "detections", message)

    def sends_frame(self, pose: Pose) -> None:
        message = transform("world", "tag_3", pose)
        self._tf.publish(TFMessage(transforms=[self.stamped(message, "world")]))

    def faults(self) -> str:
        return " ".join(one.values.get("newest fault", "") for one in self.bridge.diagnostics.diagnoses())

    def place(self, name: str) -> Any:
        return self.states[name].world_T_object.translation_m if name in self.states else np.full(3, np.inf)

    def is_at(self, name: str, place: tuple[float, float, float]) -> bool:
        return bool(np.allclose(self.place(name), place, atol=1e-3))


def transform(parent: str, child: str, pose: Pose) -> TransformStamped:
    message = TransformStamped(child_frame_id=child, transform=transform_to_msg(pose))
    message.header.frame_id = parent
    return message


def test_detections_poses_and_frames_become_the_world(tmp_path: Path) -> None:
    with stage() as on:
        cell = Cell(on, tmp_path)
        assert set(cell.states) == {"floor", "pedestal", "table", "bin"}
        first = cell.objects.version
        # In the frame of the camera on the hand, whose pose comes from the joints.
        world_T_camera = link_poses(ROBOT, cell.home)["fr3_hand"] @ HAND_T_CAMERA
        seen = world_T_camera.inverse() @ Pose.of((0.45, 0.1, 0.0225))
        cell.speak = lambda: cell.detected(("cube", seen), frame="camera")
        wait_for(lambda: cell.is_at("cube", (0.45, 0.1, 0.0225)))
        wait_for(lambda: cell.objects.version > first)  # another topic: it may come after the states
        assert {"cube", "bin"} <= {item.name for item in cell.objects.objects}
        state = cell.states["cube"]
        assert state.pose_covariance is not None
        pose = pose_to_msg(Pose.of((0.6, 0.2, 0.1)))
        cell.speak = lambda: cell.send(PoseArray, "tins", cell.stamped(PoseArray(poses=[pose]), "world"))
        wait_for(lambda: cell.is_at("can", (0.6, 0.2, 0.05)))
        moved = pose_to_msg(Pose.of((0.7, 0.0, 0.1)))
        cell.speak = lambda: cell.send(
            PoseStamped, "tin_pose", cell.stamped(PoseStamped(pose=moved), "world")
        )
        wait_for(lambda: cell.is_at("can", (0.7, 0.0, 0.05)))
        cell.speak = lambda: cell.sends_frame(Pose.of((0.5, 0.3, 0.1)))
        wait_for(lambda: cell.is_at("can", (0.5, 0.3, 0.05)))
        cell.speak = lambda: cell.detected(
            ("cube", seen), frame="camera"
        )  # on a busy machine it was forgotten
        wait_for(lambda: cell.is_at("cube", (0.45, 0.1, 0.0225)))


def test_a_detection_is_published_without_waiting_for_the_next_states(tmp_path: Path) -> None:
    with stage() as on:
        cell = Cell(on, tmp_path)
        for timer in cell.bridge.timers:
            if timer.timer_period_ns == round(1e9 * PERIOD_S):
                timer.cancel()
        cell.speak = lambda: cell.detected(("cube", Pose.of((0.45, 0.1, 0.0225))))
        wait_for(lambda: cell.is_at("cube", (0.45, 0.1, 0.0225)))


def test_bad_input_is_named_and_costs_nothing(tmp_path: Path) -> None:
    with stage() as on:
        cell = Cell(on, tmp_path)
        good = ("cube", Pose.of((0.45, 0.1, 0.0225)))
        cell.speak = lambda: cell.detected(good)
        wait_for(lambda: cell.is_at("cube", (0.45, 0.1, 0.0225)))
        nan = Detection3DArray()
        cases: list[tuple[Callable[[], None], str]] = [
            (lambda: cell.detected(good, ahead_s=5.0), "ahead of this clock"),
            (lambda: cell.detected(good, ahead_s=-5.0), "s old, more than tracking.max_age"),
            (lambda: cell.detected(good, frame="no_camera"), "frame 'no_camera' is not known"),
            (lambda: cell.detected(good, frame="a"), "loop"),
            (lambda: cell.detected(good, frame=""), "header.frame_id is empty"),
            (lambda: cell.detected(good, ("cat", good[1])), "class_id 'cat' is not in the table"),
            (
                lambda: cell.detected(good, ("cube", Pose.of((0.2, 0.0, 0.1)))),
                "2 detections of 'cube' at once",
            ),
            (lambda: cell.send(Detection3DArray, "detections", nan), "no stamp"),
        ]
        for speak, words in cases:
            cell.speak = speak
            wait_for(lambda words=words: words in cell.faults())
            assert cell.is_at("cube", (0.45, 0.1, 0.0225)), words
        cell.speak = lambda: cell.send(Detection3DArray, "detections", _not_a_number(cell))
        wait_for(lambda: "finite" in cell.faults())
        assert cell.is_at("cube", (0.45, 0.1, 0.0225))
        assert cell.bridge.is_active


def _not_a_number(cell: Cell) -> Detection3DArray:
    message = cell.stamped(Detection3DArray(), "world")
    one = ObjectHypothesisWithPose()
    one.hypothesis.class_id, one.hypothesis.score = "cube", 0.9
    one.pose.pose.position.x = float("nan")
    message.detections.append(Detection3D(results=[one]))
    return message


def test_a_missing_table_ends_the_node_with_one_sentence() -> None:
    with stage() as on:
        given = [Parameter("robot_dir", value=str(FOLDER)), Parameter("scene_file", value=str(SCENE_FILE))]
        bridge = PerceptionBridge(context=on.context, parameter_overrides=given)
        on.add(bridge)
        wait_for(lambda: bridge.exit_code is not None)
        assert bridge.exit_code == pytest.approx(2)
        assert "parameter table_file: is empty" in bridge.status_text
