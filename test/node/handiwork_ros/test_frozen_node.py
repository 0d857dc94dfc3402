"""A node whose executor is blocked, without a supervisor, ends itself and prints its tracebacks."""

from __future__ import annotations

import subprocess
import sys

import pytest

from handiwork_ros.node.watchdog import EXIT_CODE

NODE = """
import sys, threading
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.node.main import run

class Freezing(ManagedNode):
    def __init__(self):
        super().__init__("freezing")

    def on_start(self):
        self.create_timer(0.2, self.freeze)

    def freeze(self):
        {freeze}

sys.exit(run(Freezing, sys.argv))
"""
BLOCKED, ENDLESS = "threading.Event().wait(600.0)", "import re; re.match('(a+)+$', 60 * 'a' + 'b')"


@pytest.mark.parametrize("freeze", [BLOCKED, ENDLESS])
def test_a_frozen_node_ends_itself_with_a_traceback(freeze: str) -> None:
    code = NODE.format(freeze=freeze)
    words = ["--ros-args", "-p", "watchdog_s:=1.0"]
    ended = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == EXIT_CODE if freeze == BLOCKED else ended.returncode > 0, ended.stderr
    assert "in freeze" in ended.stderr
    assert freeze == ENDLESS or "the executor of freezing has not turned for 1 s" in ended.stderr


def test_without_a_limit_a_frozen_node_is_left_to_its_debugger() -> None:
    code = NODE.format(freeze="threading.Event().wait(6.0); self.exit_code = 3")
    words = ["--ros-args", "-p", "watchdog_s:=0.0"]
    ended = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 3, ended.stderr


def test_a_node_that_hangs_while_it_ends_is_ended() -> None:
    code = NODE.format(freeze="self.exit_code = 3").replace(
        "def on_start", "def on_close(self):\n        threading.Event().wait(600.0)\n\n    def on_start"
    )
    words = ["--ros-args", "-p", "watchdog_s:=1.0"]
    ended = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1, ended.stderr
    assert "in on_close" in ended.stderr
