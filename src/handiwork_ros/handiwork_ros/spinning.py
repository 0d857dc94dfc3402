"""The process of a node: signals, spinning, ordered end, exit code."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from handiwork_core.config import ConfigError

from .destroy import destroy_with_actions
from .managed_node import ManagedNode

STOP_LIMIT_S = 2.0
"""Longest time that running work gets to end at shutdown."""


def run(
    factory: Callable[[], ManagedNode],
    argv: Sequence[str] | None = None,
    make_executor: Callable[[], Executor] = SingleThreadedExecutor,
) -> int:
    """Make the node, spin it until SIGINT, SIGTERM or its own end, and return the exit code.

    ``node.extra_nodes`` are spun by the same executor.
    """
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    # rclpy's own handlers would end the context first, and with it the last results and stop commands.
    rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    previous = {s: signal.signal(s, on_signal) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        return _run(factory, stop, make_executor())
    except ConfigError as error:
        sys.stderr.write(f"fatal: {error}\n")
        return 2
    finally:
        rclpy.try_shutdown()
        for number, handler in previous.items():
            signal.signal(number, handler)


def _run(factory: Callable[[], ManagedNode], stop: threading.Event, executor: Executor) -> int:
    node = factory()
    executor.add_node(node)
    for extra in node.extra_nodes:
        executor.add_node(extra)
    try:
        while not stop.is_set() and node.exit_code is None:
            # Its status wakes the node often enough; a timeout would cost a timer for every callback.
            executor.spin_once()
        node.begin_shutdown()
        deadline = time.monotonic() + STOP_LIMIT_S
        while not node.is_idle() and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.02)
        # Results and the last status are still on their way.
        settle = time.monotonic() + 0.05
        while time.monotonic() < settle:
            executor.spin_once(timeout_sec=0.02)
    except ExternalShutdownException:
        pass
    node.end_shutdown()
    executor.shutdown()
    for extra in node.extra_nodes:
        destroy_with_actions(extra)
    destroy_with_actions(node)
    return node.exit_code or 0
