"""The stacking and the sorting cell as processes: bins come into their places, also when the network is killed."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String

from handiwork_ros.rclpy_support.qos import LATCHED
from support.paths import ROOT
from support.stack.started import Started, launched

CONFIG = ROOT / "config"
LONGEST_S = 280.0
"""The longest run, s: ten times its duration on an idle machine."""


class Pictures:
    """The messages of ``decider/network``."""

    def __init__(self, executor: SingleThreadedExecutor, started: Started) -> None:
        self.all: list[str] = []
        self._executor, self._started = executor, started
        node = executor.get_nodes()[0]
        node.create_subscription(String, "decider/network", lambda m: self.all.append(m.data), LATCHED)

    def wait(self, what: str, leaf: str = "") -> None:
        """Wait for a message with ``what`` and the active path through ``leaf``."""
        end_s, seen = time.monotonic() + LONGEST_S, len(self.all)
        while not any(what in p and leaf in self.active(p) for p in self.all[seen:]):
            assert time.monotonic() < end_s, f"{self.all[-1:]}\n{self._started.output}"
            assert self._started.process.poll() is None, self._started.output
            self._executor.spin_once(timeout_sec=1.0)

    @staticmethod
    def active(picture: str) -> str:
        """Return the lines of the active path."""
        return "\n".join(line for line in picture.splitlines() if line.lstrip().startswith(">"))


@contextmanager
def started_cell(
    log: Path, launch_file: str = "stacking.launch.xml", **arguments: str
) -> Iterator[tuple[Started, Pictures]]:
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("stacking_listener", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        with launched(log, {"real_time_factor": "0.5", **arguments}, launch_file) as started:
            yield started, Pictures(executor, started)
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)


def pid_of(started: Started, node: str) -> int:
    (found,) = (p for p in started.children() if re.search(rf"__node:={node}\b", command_of(p)))
    return found


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


@pytest.mark.timeout(2 * LONGEST_S)
def test_bins_are_stacked_through_nodes_also_by_a_network_that_was_killed_with_one_in_the_cup(
    tmp_path: Path,
) -> None:
    with started_cell(tmp_path / "launch.log") as (started, pictures):
        pictures.wait("stacked 1 of 36")
        pictures.wait("stacked 1 of 36", "place_bin")
        killed = pid_of(started, "decider_node")
        os.kill(killed, signal.SIGKILL)
        pictures.wait("stacked 2 of 36")
        assert pid_of(started, "decider_node") != killed
    assert "holds its lock" not in started.output


@pytest.mark.timeout(2 * LONGEST_S)
def test_bins_that_wait_are_fed_and_stacked_by_a_layout_from_yaml(tmp_path: Path) -> None:
    scene, layout = CONFIG / "scenes/bin_stacking_fed.yaml", CONFIG / "stacking/small.yaml"
    arguments = {"feeds": "true", "scene_file": str(scene), "layout_file": str(layout)}
    with started_cell(tmp_path / "launch.log", **arguments) as (_, pictures):
        pictures.wait("stacked 1 of 12")


@pytest.mark.timeout(2 * LONGEST_S)
def test_a_cube_is_sorted_through_nodes(tmp_path: Path) -> None:
    with started_cell(tmp_path / "launch.log", "sorting.launch.xml") as (_, pictures):
        pictures.wait("sorted 1")
