"""Gives the driver of Universal Robots what the arm carries: ``python3 examples/ur_payload.py ur5e_arm``.

Run it beside the driver, with ``ur_msgs`` installed. Where the driver runs in a namespace, remap the service:
``--ros-args -r io_and_status_controller/set_payload:=left/io_and_status_controller/set_payload``.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import rclpy
from geometry_msgs.msg import Inertia, InertiaStamped
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from ur_msgs.srv import SetPayload

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SERVICE = "io_and_status_controller/set_payload"
LOOK_S = 0.2
WAIT_S = 10.0
"""Longest wait for the service, and for its answer, before the log says so, s. A driver may start later: it goes on."""


class UrPayload(Node):
    """Sends each change of ``<arm>/payload``, the tool with what it holds, to the driver.

    One call is under way at a time, so that the newest payload is the last one that the driver gets.

    Args:
        arm: Name of the arm.
        wait_s: See ``WAIT_S``.
        options: Options of ``rclpy.node.Node``.
    """

    def __init__(self, arm: str, wait_s: float = WAIT_S, **options: Any) -> None:
        super().__init__("ur_payload", **options)
        self._wait_s = wait_s
        self._wanted: Inertia | None = None
        self._sent: Inertia | None = None
        self._call: Future | None = None
        self._since_s = 0.0
        self._client, self._name = self.create_client(SetPayload, SERVICE), self.resolve_service_name(SERVICE)
        self.create_subscription(InertiaStamped, f"{arm}/payload", self._on_payload, LATCHED)
        self.create_timer(LOOK_S, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _on_payload(self, message: InertiaStamped) -> None:
        if self._wanted == message.inertia:
            return  # latched messages are repeated
        self._wanted = message.inertia
        if self._call is None:
            self._since_s = time.monotonic()

    def _look(self) -> None:
        """Send what is not sent yet; say what is missing when that takes too long."""
        if self._call is not None:
            if self._is_late():
                self._client.remove_pending_request(self._call)
                self._call = None
                self._complain(f"{self._name} did not answer; see the log of the driver")
        elif self._wanted is None or self._wanted == self._sent:
            return
        elif self._client.service_is_ready():
            self._since_s = time.monotonic()
            self._call, inertia = self._client.call_async(request_of(self._wanted)), self._wanted
            self._call.add_done_callback(lambda done: self._on_answer(inertia, done.result()))
        elif self._is_late():
            self._complain(f"no node serves {self._name}; start the driver, or remap the service")

    def _is_late(self) -> bool:
        return time.monotonic() - self._since_s > self._wait_s

    def _complain(self, text: str) -> None:
        self._since_s = time.monotonic()
        self.get_logger().error(f"the driver has no payload after {self._wait_s:g} s: {text}")

    def _on_answer(self, inertia: Inertia, answer: SetPayload.Response) -> None:
        self._call, self._sent = None, inertia  # a refused payload is not sent again, until it changes
        if answer.success:
            self.get_logger().info(f"payload of {inertia.m:.2f} kg is set")
        else:
            self.get_logger().error(f"the driver refused a payload of {inertia.m:.2f} kg")


def request_of(inertia: Inertia) -> SetPayload.Request:
    """Return the request of a payload; the releases after Lyrical take the inertia, too."""
    if hasattr(SetPayload.Request(), "payload"):
        return SetPayload.Request(payload=inertia)
    return SetPayload.Request(mass=inertia.m, center_of_gravity=inertia.com)


def main() -> None:
    """Forward payloads until Ctrl-C."""
    rclpy.init()
    arguments = rclpy.utilities.remove_ros_args(sys.argv)
    rclpy.spin(UrPayload(arguments[1] if len(arguments) > 1 else "ur_arm"))


if __name__ == "__main__":
    main()
