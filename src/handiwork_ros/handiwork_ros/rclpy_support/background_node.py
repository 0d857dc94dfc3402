"""A node with a context, an executor and a thread of its own, for programs that are no ROS node themselves."""

from __future__ import annotations

import os
import threading
from types import TracebackType

import rclpy
from rclpy.signals import SignalHandlerOptions

from .destroy import destroy_with_actions
from .node_executor import NodeExecutor
from .relative_clock import clock_arguments

TURN_S = 0.1
NAMESPACE = "HANDIWORK_NAMESPACE"
"""The environment variable with the namespace of the stack that clients and commands use."""


class BackgroundNode:
    """Make the node's clients and subscriptions between the construction and ``start``.

    Args:
        name: Name of the node.
        domain_id: ROS domain; None: that of the environment.
        namespace: Namespace of the node; None: ``HANDIWORK_NAMESPACE`` of the environment, or the root.
    """

    def __init__(self, name: str, *, domain_id: int | None = None, namespace: str | None = None) -> None:
        if namespace is None:
            namespace = os.environ.get(NAMESPACE, "")
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain_id, signal_handler_options=SignalHandlerOptions.NO)
        self.node = rclpy.create_node(
            name, context=self.context, namespace=namespace, cli_args=clock_arguments()
        )
        self._executor = NodeExecutor(context=self.context)
        self._executor.add_node(self.node)
        self.closing = threading.Event()
        self._thread = threading.Thread(target=self._spin, name=name, daemon=True)

    def start(self) -> None:
        """Spin the node in its thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; the node stays."""
        self.closing.set()
        if self._thread.is_alive():
            self._thread.join()
        self._executor.shutdown()

    def destroy(self) -> None:
        """Leave the ROS graph, after ``stop``."""
        destroy_with_actions(self.node)
        rclpy.shutdown(context=self.context)

    def __enter__(self) -> BackgroundNode:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self.destroy()

    def _spin(self) -> None:
        while not self.closing.is_set():
            self._executor.spin_once(timeout_sec=TURN_S)
