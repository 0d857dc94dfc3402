"""A process that publishes the robot's pose, the demo world and the joints, as a robot or simulation does."""

from __future__ import annotations

import sys

import rclpy
from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import WorldObjects
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import JointState as JointStateMsg

from benchmarks.planning.demo import demo_world
from handiwork_core.model.world import JointState
from handiwork_ros import conversions as to
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST, TF_STATIC
from tf2_msgs.msg import TFMessage

from .machine import fr3

PERIOD_S = 0.01


def main() -> None:
    """Publish until SIGINT."""
    rclpy.init()
    node = Node("shown_world")
    show_world(node)
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        sys.exit(0)


def show_world(node: Node) -> None:
    """Publish latched topics once, states and joints at 100 Hz.

    Args:
        node: The node.
    """
    world, arm = demo_world(), fr3().arm("")
    link = TransformStamped(child_frame_id=f"{fr3().name}/{fr3().root_link}")
    link.header.frame_id = "world"
    node.create_publisher(TFMessage, "/tf_static", TF_STATIC).publish(TFMessage(transforms=[link]))
    node.create_publisher(WorldObjects, "world/objects", LATCHED).publish(
        to.world_objects_to_msg(list(world.objects.values()), 1, 0.0)
    )
    states = to.object_states_to_msg(dict(world.states), 1, 1.0)
    joints = to.joint_state_to_msg(
        JointState(1.0, dict(zip(arm.joint_names, arm.home_q.tolist(), strict=True)))
    )
    state_pub = node.create_publisher(type(states), "world/object_states", LATEST)
    joint_pub = node.create_publisher(JointStateMsg, "joint_states", LATEST)

    def show() -> None:
        state_pub.publish(states)
        joint_pub.publish(joints)

    node.create_timer(PERIOD_S, show)


if __name__ == "__main__":
    main()
