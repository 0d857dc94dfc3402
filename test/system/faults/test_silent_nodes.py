"""Nodes that fall silent are ended and started again, and messages of that time are not lost for others."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from support.stack.rig import Rig, wait_for

LAUNCH_ARGUMENTS = {"real_time_factor": "1", "watchdog_s": "6"}
STOPPED_S = 4.8
"""Longer than a node's own limits of silence; less than the watchdog's limit."""


def stop(rig: Rig, node: str) -> int:
    pid = rig.client.signs.pid(node)
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    return pid


@pytest.mark.parametrize("node", ["skill_server", "planner_node", "conditionals_node"])
def test_a_stopped_process_is_replaced_and_used_again(rig: Rig, node: str) -> None:
    before = rig.pids()
    old = stop(rig, node)
    rig.wait_restarted(node, old)
    assert rig.client.wait_ready(60.0)
    assert rig.client.pick("cube").ok
    assert {n: p for n, p in rig.pids().items() if n != node} == {
        n: p for n, p in before.items() if n != node
    }


def test_a_server_starts_again_after_the_publisher_of_frames_was_stopped(rig: Rig) -> None:
    stopped = stop(rig, "robot_description")
    threading.Event().wait(STOPPED_S)  # the fault under test: nothing else happens meanwhile
    os.kill(stopped, signal.SIGCONT)
    old = rig.client.signs.pid("skill_server")
    assert old is not None
    os.kill(old, signal.SIGKILL)
    rig.wait_restarted("skill_server", old)
    wait_for("the same publisher of frames", lambda: rig.client.signs.pid("robot_description") == stopped)
    assert rig.client.wait_ready(30.0)
    assert rig.client.pick("cube").ok
