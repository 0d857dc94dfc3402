"""Checks of goals that hang, and the work that must continue meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from handiwork_core.model.outcome import Code
from handiwork_ros.actions.arm_lease import Policy

from .test_skill_action_server import DONE, Rig, lend, until


class Hanging:
    """Goals ``hang`` wait in their check until they are freed; all others are the toy's."""

    def __init__(self, rig: Rig) -> None:
        self.freed = threading.Event()
        self.checking = 0
        self._admit = rig.toy.admit
        rig.toy.admit = self.admit

    def admit(self, goal):
        if goal.object == "hang":
            self.checking += 1
            self.freed.wait(60.0)
            goal.object = "run 1"
        return self._admit(goal)


@pytest.fixture(params=list(Policy), ids=lambda policy: policy.name)
def rig(request):
    with lend(Rig(request.param)) as made:
        yield made


@pytest.fixture
def hanging(rig):
    made = Hanging(rig)
    yield made
    made.freed.set()
    until(lambda: not rig.admission.abandoned)


def test_feedback_and_cancels_go_on_while_a_check_hangs(rig, hanging):
    running = rig.send("run 3000")
    until(lambda: rig.toy.running == 1)
    rig.send("hang")
    until(lambda: hanging.checking == 1)
    seen = len(rig.feedback)
    until(lambda: len(rig.feedback) > seen + 5)
    rig.on_client(running.cancel_goal_async)
    assert rig.end(running) == ("CANCELED", Code.CANCELED)
    assert not hanging.freed.is_set()


def test_a_check_that_hangs_is_abandoned_and_the_next_goal_is_served(rig, hanging):
    first = rig.send("hang")
    assert rig.end(first) == ("ABORTED", Code.UNRESPONSIVE)
    assert "checking the goal took longer than 0.5 s" in rig.last.message
    assert rig.toy.started == 0
    assert rig.run("run 1") == DONE
    assert not hanging.freed.is_set() and not rig.changes


@pytest.fixture
def one_core():
    """Yield a core that six processes keep busy."""
    core = min(os.sched_getaffinity(0))
    text = f"import os; os.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    others = [subprocess.Popen([sys.executable, "-c", text]) for _ in range(6)]
    yield core
    for other in others:
        other.kill()
        other.wait()


def test_a_check_that_waits_for_a_processor_is_not_abandoned(rig, one_core):
    admit = rig.toy.admit

    def compute(goal):
        os.sched_setaffinity(0, {one_core})
        until_s = time.thread_time() + 0.3
        while time.thread_time() < until_s:
            pass
        os.sched_setaffinity(0, os.sched_getaffinity(os.getpid()))
        return admit(goal)

    rig.toy.admit = compute
    assert rig.run("run 1") == DONE


def test_too_many_that_hang_close_the_server_until_one_returns(rig, hanging):
    handles = [rig.send(word) for word in ("hang", "hang", "run 1")]
    assert [rig.end(handle) for handle in handles] == [("ABORTED", Code.UNRESPONSIVE)] * 3
    assert rig.run("run 1") == ("ABORTED", Code.UNRESPONSIVE)
    text = "2 checks of goals hang (goal-check-1, goal-check-2); restart the node"
    assert (rig.last.message, rig.changes) == (text, [text])
    assert rig.toy.started == 0
    hanging.freed.set()
    until(lambda: len(rig.changes) == 3)
    assert rig.changes[1:] == ["", ""]
    assert rig.run("run 1") == DONE


def test_a_cancel_is_answered_while_the_goal_is_checked(rig, hanging):
    checking, waiting = rig.send("hang"), rig.send("run 1")
    until(lambda: hanging.checking == 1)
    for handle in (waiting, checking):
        rig.on_client(handle.cancel_goal_async)
        assert rig.end(handle) == ("CANCELED", Code.CANCELED)
    hanging.freed.set()
    assert rig.run("run 1") == DONE
    assert rig.toy.started == 1


def test_goals_get_the_arm_in_the_order_in_which_they_came():
    with lend(Rig(Policy.REJECT)) as rig:
        hanging = Hanging(rig)
        first, second = rig.send("hang", "pick"), rig.send("run 1", "place")
        until(lambda: hanging.checking == 1)
        rig.toy.freed.clear()
        body = rig.toy.body
        rig.toy.body = lambda _word, _count, token, report: body("deaf", 0, token, report)
        hanging.freed.set()
        assert rig.end(second) == ("ABORTED", Code.BUSY)
        assert "'pick'" in rig.last.message
        rig.toy.freed.set()
        assert rig.end(first) == DONE


def test_a_server_that_stops_answers_goals_that_wait_for_their_check(rig, hanging):
    handles = [rig.send("hang"), rig.send("run 1")]
    until(lambda: hanging.checking == 1)
    rig.server_spin()
    rig.close_lease()
    rig.server_spin = rig.spin(rig.executor)
    assert [rig.end(handle) for handle in handles] == [("ABORTED", Code.SHUTDOWN)] * 2
    assert rig.toy.started == 0
