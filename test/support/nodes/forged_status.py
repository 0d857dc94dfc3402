"""Publishes the status of another node ten times a second, in every way that a peer may."""

from __future__ import annotations

import argparse
import sys

import rclpy
from handiwork_msgs.msg import NodeStatus

from handiwork_ros.liveness.bond_topic import STATUS_TOPIC, bond_topic
from handiwork_ros.rclpy_support.qos import BOND, STATUS

NAME = "skill_server"
PERIOD_S = 0.1


class Forger:
    """A forging publisher; ``like`` is the identity that it gives: none, or the newest true one, which it repeats."""

    def __init__(self, like: str, node_name: str) -> None:
        self.node = rclpy.create_node(node_name)
        self._true = NodeStatus(node=NAME, state=NodeStatus.ACTIVE, pid=1)
        if like == "true":
            self.node.create_subscription(NodeStatus, bond_topic(NAME), self._on_status, BOND)
        self._publishers = [
            self.node.create_publisher(NodeStatus, STATUS_TOPIC, STATUS),
            self.node.create_publisher(NodeStatus, bond_topic(NAME), BOND),
        ]
        self.node.create_timer(PERIOD_S, self._publish)

    def _on_status(self, message: NodeStatus) -> None:
        self._true = message

    def _publish(self) -> None:
        for publisher in self._publishers:
            publisher.publish(self._true)


def main() -> None:
    """Publish until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--like", choices=("nobody", "true"), default="nobody")
    parser.add_argument("--node-name", default="rogue")
    options = parser.parse_args()
    rclpy.init()
    node = Forger(options.like, options.node_name).node
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    rclpy.spin(node)


if __name__ == "__main__":
    main()
