"""The real skill server with a world at rest, controllers that only count, and no planner."""

from __future__ import annotations

import threading
import time

import pytest
import rclpy
from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import Contacts, ObjectStates, WorldObjects
from rclpy.action import ActionServer
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState as JointStateMsg

from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import (
    JointState,
    ObjectState,
    Shape,
    ShapeKind,
    WorldObject,
)
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.clients.skill_client import SkillClient
from handiwork_ros.conversions import joint_state_to_msg, object_states_to_msg, world_objects_to_msg
from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST, TF_STATIC
from skill_server.node import SkillServer
from support.paths import ROBOTS
from tf2_msgs.msg import TFMessage

ROBOT_DIR = ROBOTS / "fr3"
ROBOT = load_robot(ROBOT_DIR)
ARM = ROBOT.arm("")
EDGES_M = {"cube": (0.04, 0.04, 0.04), "bin": (0.2, 0.2, 0.1), "table": (1.0, 1.0, 0.02)}
PLACES = {"cube": (0.4, 0.0, 0.02), "bin": (0.4, 0.3, 0.05), "table": (0.4, 0.0, -0.01)}


class FakeWorld:
    """A robot at rest among three boxes, and controllers that count their goals."""

    def __init__(self, context: rclpy.Context) -> None:
        self.node = rclpy.create_node("fake_world", context=context)
        self.asked = 0
        self._objects = self.node.create_publisher(WorldObjects, "world/objects", LATCHED)
        self._states = self.node.create_publisher(ObjectStates, "world/object_states", LATEST)
        self._contacts = self.node.create_publisher(Contacts, "world/contacts", LATEST)
        self._joints = self.node.create_publisher(JointStateMsg, "joint_states", LATEST)
        self._static = self.node.create_publisher(TFMessage, "/tf_static", TF_STATIC)
        self._servers = [
            ActionServer(self.node, kind, name, lambda handle, kind=kind: self._count(handle, kind))
            for kind, name in (
                (FollowJointTrajectory, f"{ARM.controller}/follow_joint_trajectory"),
                (ParallelGripperCommand, f"{ARM.gripper.name}_controller/gripper_cmd"),
            )
        ]
        self.is_there, self.has_states = False, True
        self.node.create_timer(0.02, self._beat)

    def appear(self) -> None:
        """Publish geometry and the base, and publish states from now on."""
        shapes = {n: (Shape(ShapeKind.BOX, frozen(e), Pose.identity()),) for n, e in EDGES_M.items()}
        objects = [WorldObject(n, s, is_static=n != "cube", mass_kg=0.1) for n, s in shapes.items()]
        self._objects.publish(world_objects_to_msg(objects, 1, 0.0))
        base = TransformStamped(child_frame_id=f"{ROBOT.name}/{ROBOT.root_link}")
        base.header.frame_id, base.transform.rotation.w = "world", 1.0
        self._static.publish(TFMessage(transforms=[base]))
        self.is_there = True

    def _beat(self) -> None:
        if not self.is_there:
            return
        now_s = self.node.get_clock().now().nanoseconds * 1e-9
        zero = frozen((0.0, 0.0, 0.0))
        states = {n: ObjectState(Pose.of(p), zero, zero, now_s) for n, p in PLACES.items()}
        position = dict(zip(ARM.joint_names, ARM.home_q.tolist(), strict=True))
        position[ARM.gripper.joint] = 0.04
        if self.has_states:
            self._states.publish(object_states_to_msg(states, 1, now_s))
        contacts = Contacts()
        contacts.header.stamp = self.node.get_clock().now().to_msg()
        self._contacts.publish(contacts)
        self._joints.publish(joint_state_to_msg(JointState(now_s, position, dict.fromkeys(position, 0.0))))

    def _count(self, handle, kind):
        self.asked += 1
        handle.abort()
        return kind.Result()


class Stack:
    """Skill server, world and client in one process, each side with an executor of its own."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        parameters = [
            Parameter("robot_dir", value=str(ROBOT_DIR)),
            Parameter("planner_patience_s", value=0.0),
        ]
        self.server = SkillServer(context=self.context, parameter_overrides=parameters)
        self.world = FakeWorld(self.context)
        for node in (self.server, *self.server.extra_nodes, self.world.node):
            self.executor.add_node(node)
        self.end = threading.Event()
        self.thread = threading.Thread(target=self._spin)
        self.thread.start()
        self.client = SkillClient()

    def _spin(self) -> None:
        while not self.end.is_set():
            self.executor.spin_once(timeout_sec=0.05)

    def close(self) -> None:
        self.client.close()
        self.end.set()
        self.thread.join()
        self.server.begin_shutdown()
        limit = time.monotonic() + 10.0
        while not self.server.is_idle() and time.monotonic() < limit:
            self.executor.spin_once(timeout_sec=0.02)
        self.server.end_shutdown()
        self.executor.shutdown()
        for node in (*self.server.extra_nodes, self.server, self.world.node):
            destroy_with_actions(node)
        rclpy.shutdown(context=self.context)


@pytest.fixture(scope="module")
def bare():
    stack = Stack()
    yield stack
    stack.close()


@pytest.fixture(scope="module")
def stack(bare):
    """Yield an active stack, after it was seen to refuse goals while there was no world."""
    until(lambda: "joint_states" in getattr(bare.client.signs.sign("skill_server"), "message", ""))
    early = bare.client.pick("cube", timeout_s=60.0)
    assert early.outcome.code is Code.NOT_ACTIVE and "joint_states" in early.outcome.message
    bare.world.appear()
    assert bare.client.wait_ready(30.0)
    return bare


def until(true, limit_s: float = 60.0) -> None:
    end = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < end, "nothing happened"
        threading.Event().wait(0.01)
