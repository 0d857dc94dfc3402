"""``handiwork conditions`` before the first table, and when the node whose table it shows has ended."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import rclpy
from handiwork_msgs.msg import Condition, Conditions, TaskProgress
from rclpy.node import Node

from handiwork_ros.rclpy_support.qos import LATCHED
from support.nodes.conditions_peer import playing

COMMAND = "import sys; from handiwork_cli.cli import main; sys.exit(main(sys.argv[1:]))"
LIMIT_S = 60.0


@pytest.fixture
def node() -> Iterator[Node]:
    rclpy.init()
    made = Node("conditionals_node")
    yield made
    made.destroy_node()
    rclpy.shutdown()


def test_progress_that_arrives_before_the_first_table_is_not_taken_for_it(node: Node) -> None:
    progress = node.create_publisher(TaskProgress, "conditions/progress", LATCHED)
    table = node.create_publisher(Conditions, "conditions", LATCHED)
    progress.publish(TaskProgress())
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, "conditions", "--once"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "160"},
    ) as run:
        assert run.stdout is not None
        until = time.monotonic() + LIMIT_S
        while not (progress.get_subscription_count() and table.get_subscription_count()):
            assert run.poll() is None
            assert time.monotonic() < until
            threading.Event().wait(0.02)
        # Long enough for the progress to be delivered.
        threading.Event().wait(1.0)
        table.publish(Conditions(conditions=[Condition(key="cube_held", predicate="object_grabbed")]))
        shown = run.stdout.read()
    assert "cube_held" in shown
    assert run.returncode == 0


def test_the_live_table_is_marked_when_the_node_has_ended(tmp_path: Path) -> None:
    file = tmp_path / "conditions.yaml"
    file.write_text("conditions: [{name: object_in_container, args: {object: cube, container: bin}}]")
    with playing(file):
        run = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "conditions"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "COLUMNS": "160"},
        )
        assert run.stdout is not None
        # The first tables may be of before the first message of the world.
        shown = next(line for line in run.stdout if line.startswith("TRUE"))
        assert "object_in_container" in shown
    try:
        marked = next(line for line in run.stdout if line.startswith("OLD:"))
        assert "conditionals_node has ended or does not run" in marked
    finally:
        run.kill()
        run.communicate()
