"""The process of a node: signals, spinning, ordered shutdown, exit code."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType

import rclpy
from rclpy.executors import Executor, ExternalShutdownException
from rclpy.signals import SignalHandlerOptions

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.process.dds_ports import fault_of
from handiwork_core.process.writable_folders import choose_log_folder
from handiwork_ros.rclpy_support.node_executor import NodeExecutor

from .loaded_objects import LoadedObjects
from .managed_node import ManagedNode, destroyed_if_refused
from .process_supervision import Supervision
from .succession import Succession, succession
from .unique_name import NameTakenError, unique_names_required

STOP_LIMIT_S = 2.0
"""The longest time that running work has to end at shutdown, s."""


def run(
    factory: Callable[[], ManagedNode],
    argv: Sequence[str] | None = None,
    make_executor: Callable[[], Executor] = NodeExecutor,
) -> int:
    """Make the node, spin it until SIGINT, SIGTERM or its own end, and return the exit code.

    ``node.extra_nodes`` are spun by the same executor. A node whose ``successor`` is set ends, and the factory makes
    the next one in the same process.

    Args:
        factory: Makes the node.
        argv: Arguments for ROS; None: those of the process.
        make_executor: Makes the executor.

    Returns:
        The exit code of the process: 0, that of the node, or that of a bad configuration.
    """
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    # A node that is started without launch is limited to this machine as well.
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    if fault := fault_of(os.environ):
        sys.stderr.write(f"fatal: {fault}\n")
        return NameTakenError.exit_code
    words = [*(sys.argv if argv is None else argv), *_log_words()]
    previous = {s: signal.signal(s, on_signal) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        outcome: int | Succession = Succession()
        while isinstance(outcome, Succession):
            # rclpy's own handlers would end the context first, and with it the last results and stop commands.
            rclpy.init(args=words, signal_handler_options=SignalHandlerOptions.NO)
            outcome = _run(factory, stop, make_executor(), outcome)
            rclpy.try_shutdown()
            # Cycles keep the node before in the graph, where others would take its writers for those of the next one.
            gc.collect()
        return outcome
    except ConfigError as error:
        sys.stderr.write(f"fatal: {error}\n")
        return error.exit_code
    finally:
        rclpy.try_shutdown()
        for number, handler in previous.items():
            signal.signal(number, handler)


def _log_words() -> list[str]:
    """Choose a writable folder for the logs of ROS 2, or switch log files off; print a notice in that case."""
    folder, text = choose_log_folder(os.environ)
    if text:
        sys.stderr.write(f"{text}\n")
        os.environ["ROS_LOG_DIR"] = str(folder or "")
    return [] if folder is not None else ["--ros-args", "--disable-external-lib-logs"]


def _run(
    factory: Callable[[], ManagedNode], stop: threading.Event, executor: Executor, received: Succession
) -> int | Succession:
    """Run one node to its end, and return the exit code of the process, or what the next node receives."""
    with unique_names_required(), destroyed_if_refused(), succession(received):
        node = factory()
    executor.add_node(node)
    for extra in node.extra_nodes:
        executor.add_node(extra)
    supervision, loaded = Supervision(node), LoadedObjects()
    node.on_state = lambda: loaded.follow(is_active=node.is_active)
    successor: Succession | None = None
    try:
        while not (stop.is_set() or node.exit_code is not None or node.successor is not None):
            # The status timer wakes the node often enough; a timeout would cost a timer for every callback.
            executor.spin_once()
            loaded.tidy(time.monotonic())
        successor = None if stop.is_set() or node.exit_code is not None else node.successor
        supervision.close(is_end=successor is None)
        node.begin_shutdown()
        deadline = time.monotonic() + STOP_LIMIT_S
        while not node.is_idle() and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.02)
        # The last results and the last status must still be sent.
        settle = time.monotonic() + 0.05
        while time.monotonic() < settle:
            executor.spin_once(timeout_sec=0.02)
    except ExternalShutdownException:
        successor = None
    node.end_shutdown()
    loaded.follow(is_active=False)
    executor.shutdown()
    node.destroy_all()
    return (node.exit_code or 0) if successor is None else successor
