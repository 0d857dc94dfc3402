"""The end of a process of this machine is known at once; ends on other machines are not known."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from handiwork_ros.liveness.process_identity import ProcessEndWatch, process_space

pytestmark = pytest.mark.processes


def test_the_end_of_a_child_is_seen_before_it_is_waited_for() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    watch = ProcessEndWatch(child.pid, process_space())
    try:
        assert watch.is_known
        assert not watch.has_ended
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert watch.has_ended
    finally:
        child.kill()
        child.communicate()
        watch.close()
    assert watch.has_ended, "the answer outlives the descriptor"


def test_a_process_that_ended_before_is_known_to_have_ended() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert ProcessEndWatch(child.pid, process_space()).has_ended


def test_nothing_is_known_of_another_machine() -> None:
    for space in ("", "another-boot pid:[1]"):
        watch = ProcessEndWatch(os.getpid(), space)
        assert not watch.is_known
        assert not watch.has_ended
