"""Publishers and clients that break the contract, each in a DDS participant of its own."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from typing import Any

import rclpy
from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import NodeStatus, ObjectState, ObjectStates, WorldObject, WorldObjects
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectoryPoint

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from handiwork_cli.chaos.trials import Fault, FaultKind
from handiwork_ros.liveness.bond_topic import STATUS_TOPIC, bond_topic, writers_of
from handiwork_ros.rclpy_support.destroy import destroy_with_actions
from handiwork_ros.rclpy_support.qos import (
    BOND,
    BOND_READER,
    LATCHED,
    LATEST,
    STATUS,
    TF,
)
from tf2_msgs.msg import TFMessage

MARK = "handiwork_chaos"
"""The frame of every forged message, by which the observer of the run ignores them. The nodes do not know it."""

RATE_HZ = 100.0
STATUS_HZ = 10.0
OBJECTS_HZ = 2.0
OBJECTS = 10_000
"""Five times as many objects as a node reads."""
FORGED_PID = 1
FRAMES_PER_MESSAGE = 200
ANSWER_S = 5.0
LIFTED = -1.0
"""A path tolerance by which control_msgs lifts the check."""

Publish = Callable[[int], None]
"""Sends the n-th message."""


class Rogue:
    """Runs one lasting fault in a thread, until its time is over or ``stop`` is called.

    Args:
        fault: The fault.
        joints: Joints of the arm, for forged messages.
        domain_id: The DDS domain.
    """

    def __init__(self, fault: Fault, joints: tuple[str, ...], domain_id: int) -> None:
        self._fault, self._joints, self._domain_id = fault, joints, domain_id
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"rogue {fault.kind.value}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the fault and wait for the end of the participant."""
        self._stopped.set()
        self._thread.join()

    def wait(self) -> None:
        """Wait until the fault's time is over."""
        self._thread.join()

    def _run(self) -> None:
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=self._domain_id, signal_handler_options=SignalHandlerOptions.NO)
        node = rclpy.create_node("rogue", context=context, enable_rosout=False)
        try:
            publish, rate_hz = _publisher(node, self._fault, self._joints)
            # By the clock and not by their number: on a busy machine 600 messages take a minute and not six seconds.
            end_s = time.monotonic() + self._fault.lasts_s
            for count in itertools.count():
                publish(count)
                if self._stopped.wait(1.0 / rate_hz) or time.monotonic() > end_s:
                    break
        finally:
            destroy_with_actions(node)
            rclpy.shutdown(context=context)


def _publisher(node: Node, fault: Fault, joints: tuple[str, ...]) -> tuple[Publish, float]:
    """Return a function that sends the n-th message of a fault, and its rate [Hz]."""
    if fault.kind is FaultKind.FORGED_STATUS:
        status = node.create_publisher(NodeStatus, STATUS_TOPIC, STATUS)
        forged = NodeStatus(node=fault.target, state=NodeStatus.ACTIVE, pid=FORGED_PID)
        return lambda _count: status.publish(forged), STATUS_HZ
    if fault.kind in (FaultKind.FORGED_BOND, FaultKind.COPIED_BOND):
        return _bond_forger(node, fault), STATUS_HZ
    if fault.kind is FaultKind.BAD_STATES:
        states = node.create_publisher(ObjectStates, "world/object_states", LATEST)
        return lambda _count: states.publish(_bad_states()), RATE_HZ
    if fault.kind is FaultKind.MANY_OBJECTS:
        objects, many = node.create_publisher(WorldObjects, "world/objects", LATCHED), _objects()
        return lambda _count: objects.publish(many), OBJECTS_HZ
    if fault.kind is FaultKind.MANY_FRAMES:
        frames = node.create_publisher(TFMessage, "tf", TF)
        return lambda count: frames.publish(_frames(count)), RATE_HZ
    value = float("nan") if fault.kind is FaultKind.BAD_JOINTS else 0.0
    states = node.create_publisher(JointState, "joint_states", LATEST)
    return lambda _count: states.publish(_joints(joints, value)), RATE_HZ


def _bond_forger(node: Node, fault: Fault) -> Publish:
    """Return a function that sends shutdown and active in turn for a node: by its own writer, or with the true GID."""
    topic, true = bond_topic(fault.target), list[NodeStatus]()
    bond = node.create_publisher(NodeStatus, topic, BOND)
    if fault.kind is FaultKind.COPIED_BOND:
        node.create_subscription(NodeStatus, topic, true.append, BOND_READER)
    (own,) = (w.gid for w in writers_of(node, fault.target) if w.node == node.get_name())
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)

    def publish(count: int) -> None:
        executor.spin_once(timeout_sec=0.0)
        forged = NodeStatus(node=fault.target, pid=FORGED_PID, bond_gid=list(own), is_sole=True)
        if fault.kind is FaultKind.COPIED_BOND:
            known = next((one for one in reversed(true) if bytes(one.bond_gid) != own), None)
            if known is None:
                return
            forged = known
        forged.state = NodeStatus.ACTIVE if count % 2 else NodeStatus.SHUTTING_DOWN
        bond.publish(forged)

    return publish


def _joints(names: tuple[str, ...], value: float) -> JointState:
    message = JointState(name=list(names), position=[value] * len(names), velocity=[0.0] * len(names))
    message.header.frame_id = MARK
    return message


def _bad_states() -> ObjectStates:
    state = ObjectState(name="cube")
    state.pose.position.x = float("nan")
    message = ObjectStates(states=[state])
    message.header.frame_id = MARK
    return message


def _objects() -> bytes:
    """Return a serialized message with more objects than a node reads."""
    message = WorldObjects(objects=[WorldObject(name=f"{MARK}_{index}") for index in range(OBJECTS)])
    message.header.frame_id = MARK
    return bytes(serialize_message(message))


def _frames(count: int) -> TFMessage:
    """Return transforms with names that were never used before."""
    message = TFMessage()
    for index in range(FRAMES_PER_MESSAGE):
        frame = TransformStamped(child_frame_id=f"{MARK}_{count}_{index}")
        frame.header.frame_id = "world"
        message.transforms.append(frame)
    return message


def send_lifted_tolerance(
    node: Node, client: ActionClient, joints: tuple[str, ...], done: Callable[[Any], None]
) -> None:
    """Send a trajectory of one point, away from the arm, with its path tolerance lifted.

    Args:
        node: Hosts the client; another thread spins it.
        client: Client of a FollowJointTrajectory action.
        joints: Joints of the arm.
        done: Receives the goal handle on the executor's thread.
    """
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = list(joints)
    point = JointTrajectoryPoint(positions=[0.0] * len(joints), velocities=[0.0] * len(joints))
    point.time_from_start.sec = 2
    goal.trajectory.points = [point]
    goal.path_tolerance = [JointTolerance(name=name, position=LIFTED) for name in joints]
    executor = node.executor
    assert executor is not None
    executor.create_task(
        lambda: client.send_goal_async(goal).add_done_callback(lambda future: done(future.result()))
    )
