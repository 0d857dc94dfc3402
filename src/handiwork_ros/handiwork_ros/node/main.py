"""The process of a node: signals, spinning, ordered end, exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.process.dds_ports import fault_of
from handiwork_core.process.writable_folders import choose_log_folder
from handiwork_ros.rclpy_support.destroy import destroy_with_actions

from .managed_node import ManagedNode
from .process_supervision import Supervision
from .unique_name import unique_names_required

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

    # A node that is started alone stays on this machine as well.
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    # rclpy's own handlers would end the context first, and with it the last results and stop commands.
    if fault := fault_of(os.environ):
        sys.stderr.write(f"fatal: {fault}\n")
        return 2
    words = [*(sys.argv if argv is None else argv), *_log_words()]
    rclpy.init(args=words, signal_handler_options=SignalHandlerOptions.NO)
    previous = {s: signal.signal(s, on_signal) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        return _run(factory, stop, make_executor())
    except ConfigError as error:
        sys.stderr.write(f"fatal: {error}\n")
        return error.exit_code
    finally:
        rclpy.try_shutdown()
        for number, handler in previous.items():
            signal.signal(number, handler)


def _log_words() -> list[str]:
    """Let ROS 2 write its logs where it can, or not at all; say so once."""
    folder, text = choose_log_folder(os.environ)
    if text:
        sys.stderr.write(f"{text}\n")
        os.environ["ROS_LOG_DIR"] = str(folder or "")
    return [] if folder is not None else ["--ros-args", "--disable-external-lib-logs"]


def _run(factory: Callable[[], ManagedNode], stop: threading.Event, executor: Executor) -> int:
    with unique_names_required():
        node = factory()
    executor.add_node(node)
    for extra in node.extra_nodes:
        executor.add_node(extra)
    supervision = Supervision(node)
    try:
        while not stop.is_set() and node.exit_code is None:
            # Its status wakes the node often enough; a timeout would cost a timer for every callback.
            executor.spin_once()
        supervision.close()
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
