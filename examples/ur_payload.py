"""Gives the driver of Universal Robots what the arm carries: ``python3 examples/ur_payload.py ur5e_arm``.

Run it beside the driver, with ``ur_msgs`` installed. Where the driver runs in a namespace, remap the service:
``--ros-args -r io_and_status_controller/set_payload:=left/io_and_status_controller/set_payload``.
"""

from __future__ import annotations

import sys

import rclpy
from geometry_msgs.msg import InertiaStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from ur_msgs.srv import SetPayload

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class UrPayload(Node):
    """Sends each change of ``<arm>/payload``, the tool with what it holds, to the driver."""

    def __init__(self, arm: str) -> None:
        super().__init__("ur_payload")
        self._sent: InertiaStamped | None = None
        self._client = self.create_client(SetPayload, "io_and_status_controller/set_payload")
        self.create_subscription(InertiaStamped, f"{arm}/payload", self._on_payload, LATCHED)

    def _on_payload(self, message: InertiaStamped) -> None:
        if self._sent is not None and self._sent.inertia == message.inertia:
            return  # latched messages are repeated
        request = SetPayload.Request()
        if hasattr(request, "payload"):  # the releases after Lyrical take the inertia, too
            request.payload = message.inertia
        else:
            request.mass, request.center_of_gravity = message.inertia.m, message.inertia.com
        self._client.wait_for_service()
        self._client.call_async(request).add_done_callback(
            lambda done: self._on_answer(message, done.result())
        )

    def _on_answer(self, message: InertiaStamped, answer: SetPayload.Response) -> None:
        if answer.success:
            self._sent = message
            self.get_logger().info(f"payload of {message.inertia.m:.2f} kg is set")
        else:
            self.get_logger().error(f"the driver refused a payload of {message.inertia.m:.2f} kg")


def main() -> None:
    """Forward payloads until Ctrl-C."""
    rclpy.init()
    arguments = rclpy.utilities.remove_ros_args(sys.argv)
    rclpy.spin(UrPayload(arguments[1] if len(arguments) > 1 else "ur_arm"))


if __name__ == "__main__":
    main()
