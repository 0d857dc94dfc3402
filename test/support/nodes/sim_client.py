"""A client of one simulated node: its topics, its actions, its services; and the node for the tests of a module."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from geometry_msgs.msg import WrenchStamped
from handiwork_msgs.msg import Contacts, ObjectStates, WorldObjects
from handiwork_msgs.srv import ResetWorld, SetObjectPose, SetPaused, StepWorld
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from control_msgs.action import FollowJointTrajectory, ParallelGripperCommand
from handiwork_core.model.outcome import Code
from handiwork_ros.conversions import time_from_msg
from handiwork_ros.rclpy_support.qos import CLOCK, LATCHED, LATEST, TF
from sim_bridge.node import SimBridge
from support.paths import ROBOTS, ROOT
from tf2_msgs.msg import TFMessage

from .ros_stage import Stage, stage, wait_for

ROBOT, SCENE = ROBOTS / "fr3", ROOT / "config/scenes/tabletop.yaml"
NAMES = [f"fr3_joint{i}" for i in range(1, 8)]
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6

WRENCH = "fr3_arm_force_torque_sensor_broadcaster/wrench"
TOPICS = {
    "/clock": (Clock, CLOCK),
    "joint_states": (JointState, LATEST),
    "world/objects": (WorldObjects, LATCHED),
    "world/object_states": (ObjectStates, LATEST),
    "world/contacts": (Contacts, LATEST),
    "/tf": (TFMessage, TF),
    WRENCH: (WrenchStamped, LATEST),
}


class Client:
    """Keeps the newest message of every topic; calls clients on the executor's thread and waits for their answers."""

    def __init__(self, on: Stage, *, has_wrench: bool = True) -> None:
        self.node, self.executor = Node("client", context=on.context), on.executor
        self.topics = {topic: of for topic, of in TOPICS.items() if has_wrench or topic != WRENCH}
        self.newest: dict[str, Any] = {}
        self.bridge: SimBridge | None = None
        for topic, (kind, qos) in self.topics.items():
            self.node.create_subscription(kind, topic, lambda m, t=topic: self.newest.__setitem__(t, m), qos)
        self.arm = ActionClient(
            self.node, FollowJointTrajectory, "fr3_arm_controller/follow_joint_trajectory"
        )
        self.gripper = ActionClient(self.node, ParallelGripperCommand, "fr3_gripper_controller/gripper_cmd")
        kinds = {
            "reset": ResetWorld,
            "step": StepWorld,
            "set_paused": SetPaused,
            "set_object_pose": SetObjectPose,
        }
        self.services = {n: self.node.create_client(k, f"sim/{n}") for n, k in kinds.items()}
        on.add(self.node)

    @property
    def is_complete(self) -> bool:
        """Check that a message of every topic came, and every server was found."""
        servers = self.arm.server_is_ready() and self.gripper.server_is_ready()
        found = all(service.service_is_ready() for service in self.services.values())
        return servers and found and set(self.newest) == set(self.topics)

    def start_over(self) -> None:
        """Reset the world to its scene file, let it run, and receive its current state."""
        assert self.call("set_paused", SetPaused.Request(paused=False)).outcome.code == Code.OK
        answer = self.call("reset", ResetWorld.Request())
        assert answer.outcome.code == Code.OK, answer.outcome.message
        wait_for(lambda: self.newest["world/objects"].version == answer.world_version)
        for topic in (*self.topics, *self.topics):  # the first message of each may have been sent before
            if topic != "world/objects":
                self.newest.pop(topic)
                wait_for(lambda topic=topic: topic in self.newest)

    def answer(self, call: Any, timeout_s: float = 60.0) -> Any:
        """Return the value of the future that ``call`` makes on the executor's thread."""
        done, values = threading.Event(), []

        def start() -> None:
            call().add_done_callback(lambda future: (values.append(future.result()), done.set()))

        self.executor.create_task(start)
        assert done.wait(timeout_s), "no answer in time"
        return values[0]

    def send(self, client: ActionClient, goal: Any) -> Any:
        handle = self.answer(lambda: client.send_goal_async(goal))
        assert handle.accepted
        return handle

    def result(self, handle: Any) -> Any:
        return self.answer(handle.get_result_async)

    def call(self, name: str, request: Any) -> Any:
        return self.answer(lambda: self.services[name].call_async(request))

    def joints(self) -> dict[str, float]:
        message = self.newest["joint_states"]
        return dict(zip(message.name, message.position, strict=True))

    def speed(self) -> float:
        message = self.newest["joint_states"]
        return max(abs(v) for n, v in zip(message.name, message.velocity, strict=True) if n in NAMES)

    def now_s(self) -> float:
        return time_from_msg(self.newest["joint_states"].header.stamp)

    def motion(self, turn: float, duration_s: float) -> FollowJointTrajectory.Goal:
        """Turn the first joint, from where the arm is."""
        joints = self.joints()
        end = [joints[n] for n in NAMES]
        end[0] += turn
        point = JointTrajectoryPoint(positions=end, velocities=[0.0] * 7)
        point.time_from_start.sec = int(duration_s)
        point.time_from_start.nanosec = int((duration_s % 1.0) * 1e9)
        return FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=NAMES, points=[point]))


@pytest.fixture(scope="module")
def simulation() -> Iterator[Client]:
    """Start one simulation for all tests of a module."""
    with stage() as on:
        values = {"robot_dir": str(ROBOT), "scene_file": str(SCENE)}
        arguments = [Parameter(name, value=value) for name, value in values.items()]
        node = SimBridge(context=on.context, parameter_overrides=arguments)
        on.add(node)
        made = Client(on)
        made.bridge = node
        try:
            wait_for(lambda: node.is_active and made.is_complete, 30.0)
            yield made
        finally:
            on.end(node)


@pytest.fixture
def client(simulation: Client) -> Client:
    simulation.start_over()
    return simulation
