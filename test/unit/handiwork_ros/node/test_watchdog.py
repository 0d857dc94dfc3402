"""A process whose executor is blocked ends itself and prints its tracebacks."""

from __future__ import annotations

import subprocess
import sys

from handiwork_ros.node.watchdog import EXIT_CODE

START = """
import re, threading, time
from handiwork_ros.node.watchdog import Watchdog
watchdog = Watchdog('some_node', lambda: 1.0)
watchdog.start()
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", START + code], capture_output=True, text=True, timeout=120)


def test_a_blocked_executor_ends_the_process_with_every_traceback() -> None:
    ended = run("def stuck():\n    time.sleep(600)\nstuck()")
    assert ended.returncode == EXIT_CODE
    assert "the executor of some_node has not turned for 1 s" in ended.stderr
    assert "in stuck" in ended.stderr


def test_code_that_never_gives_the_lock_of_python_back_is_ended_too() -> None:
    ended = run("def regular():\n    re.match('(a+)+$', 60 * 'a' + 'b')\nregular()")
    assert ended.returncode not in (0, None)
    assert "in regular" in ended.stderr


def test_a_turning_executor_lives_and_ends_as_it_likes() -> None:
    ended = run(
        "for _ in range(30):\n    watchdog.beat()\n    time.sleep(0.1)\nwatchdog.close()\nprint('well')"
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "well\n"
