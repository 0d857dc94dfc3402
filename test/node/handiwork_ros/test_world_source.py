"""A world that is polled does not wake the executor, and still returns the newest messages with their age."""

from __future__ import annotations

import threading
import time

import numpy as np
from handiwork_msgs.msg import ObjectStates
from rclpy.node import Node
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import JointState, ObjectState
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros import conversions as to
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.ports.world_topics import Subscriptions
from handiwork_ros.rclpy_support.qos import LATEST
from support.nodes.ros_stage import stage, wait_for
from support.paths import ROBOTS

ROBOT = load_robot(ROBOTS / "fr3")
STILL = np.zeros(3)


def states(x: float) -> ObjectStates:
    return to.object_states_to_msg({"cube": ObjectState(Pose.of((x, 0.0, 0.0)), STILL, STILL, x)}, 1, x)


def joints(q: float) -> JointStateMsg:
    return to.joint_state_to_msg(JointState(1.0, {"fr3_joint1": q}))


def has_heard(source: RosWorldSource, x: float, q: float) -> bool:
    world = source.snapshot()
    cube = world.states.get("cube")
    return cube is not None and (cube.world_T_object.translation_m[0], *world.joints.position.values()) == (
        x,
        q,
    )


def test_the_newest_is_fetched_on_demand_with_its_age(nothing_left_over: None) -> None:
    with stage() as made:
        node = Node("looker", context=made.context)
        source = RosWorldSource(node, ROBOT, Subscriptions(on_demand=True))
        witness = RosWorldSource(node, ROBOT, Subscriptions(on_demand=True))
        other = Node("robot", context=made.context)
        state_pub = other.create_publisher(ObjectStates, "world/object_states", LATEST)
        joint_pub = other.create_publisher(JointStateMsg, "joint_states", LATEST)
        made.add(node)
        made.add(other)
        assert source.joint_age_s() == float("inf")
        wait_for(lambda: state_pub.get_subscription_count() == 2 and joint_pub.get_subscription_count() == 2)
        for k in range(5):
            state_pub.publish(states(0.1 * k))
            joint_pub.publish(joints(0.2 * k))
        sent_s = time.monotonic()
        wait_for(lambda: has_heard(witness, 0.4, 0.8))
        threading.Event().wait(0.3)
        assert 0.25 < source.joint_age_s() <= time.monotonic() - sent_s + 0.05
        seen = source.snapshot()
        assert seen.states["cube"].world_T_object.translation_m[0] == 0.4
        assert seen.joints.position["fr3_joint1"] == 0.8
        state_pub.publish(states(9.0))
        joint_pub.publish(joints(9.0))
        wait_for(lambda: has_heard(witness, 9.0, 9.0))
        source.drop()  # as at a jump back in time: earlier messages belong to the run before
        assert source.state_age_s() == source.joint_age_s() == float("inf")
        assert not source.snapshot().states
