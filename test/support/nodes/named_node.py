"""A managed node without work in a process of its own, as every node of Handiwork is run; prints its events."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_ros.node.main import run
from handiwork_ros.node.managed_node import ManagedNode

NAME = "named_node"


class NamedNode(ManagedNode):
    """Prints when it is active."""

    def __init__(self) -> None:
        super().__init__(NAME)
        show("made" if self.executor is None else "left in the executor of the search")

    def on_start(self) -> None:
        show("active")


class RefusedNode(NamedNode):
    """Refuses its configuration when it is half made, and prints when it is destroyed."""

    def __init__(self) -> None:
        super().__init__()
        raise ConfigError("cell.yaml", ["limit: is -1; give a positive number"])

    def destroy_all(self) -> None:
        super().destroy_all()
        show("destroyed")


def show(event: str) -> None:
    """Print an event at once."""
    sys.stdout.write(f"{event}\n")
    sys.stdout.flush()


def run_unchecked(arguments: Sequence[str]) -> int:
    """Run the node without the check for another node of its name."""
    rclpy.init(args=list(arguments), signal_handler_options=SignalHandlerOptions.NO)
    executor = SingleThreadedExecutor()
    executor.add_node(NamedNode())
    executor.spin()
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--unchecked", action="store_true")
    parser.add_argument("--refused", action="store_true")
    options, rest = parser.parse_known_args()
    show("ready")
    sys.exit(
        run_unchecked(rest) if options.unchecked else run(RefusedNode if options.refused else NamedNode, rest)
    )
