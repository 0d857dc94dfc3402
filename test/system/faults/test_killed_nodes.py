"""SIGKILL of a node that is started again, in mid-goal.

A goal outlives the planner. Else it ends and the arm rests within two seconds, and then the new process is used.
"""

from __future__ import annotations

import os
import signal
import time

from handiwork_msgs.action import Pick
from handiwork_msgs.msg import Conditions

from handiwork_core.model.outcome import Code
from handiwork_ros.rclpy_support.qos import LATCHED
from support.stack.rig import SLOW, TERMINAL_S, Rig, end_in_time, wait_for

RESTART_S = 90.0
"""The longest wait for a goal that needs a planner which is just being started again."""
LAUNCH_ARGUMENTS = {"real_time_factor": "1"}


def kill(rig: Rig, node: str) -> tuple[int, float]:
    """Kill a node at once; return the old process id and the time, s."""
    pid = rig.client.signs.pid(node)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return pid, time.monotonic()


def assert_others_kept(rig: Rig, before: dict[str, int | None], node: str) -> None:
    after = rig.pids()
    assert {n: p for n, p in after.items() if n != node} == {n: p for n, p in before.items() if n != node}


def test_a_goal_outlives_a_planner_killed_while_it_plans(rig: Rig) -> None:
    before = rig.pids()
    run = rig.send_until(Pick.Goal(object="cube"), "select")
    old, _ = kill(rig, "planner_node")
    report = run.result(RESTART_S)
    assert report.ok, report.outcome
    assert rig.pids()["planner_node"] != old
    assert_others_kept(rig, before, "planner_node")


def test_a_goal_outlives_a_planner_killed_while_the_arm_moves(rig: Rig) -> None:
    before = rig.pids()
    run = rig.send_until(SLOW, "approach")
    rig.joints.wait_moving(0.05)
    old, _ = kill(rig, "planner_node")
    report = run.result(RESTART_S)
    assert report.ok, report.outcome
    assert rig.pids()["planner_node"] != old
    assert_others_kept(rig, before, "planner_node")


def test_a_goal_that_waits_for_the_planner_is_cancelled_at_once(rig: Rig) -> None:
    run = rig.send_until(Pick.Goal(object="cube"), "select")
    old, _ = kill(rig, "planner_node")
    begun_s = time.monotonic()
    run.cancel()
    report = run.result(60.0)
    assert report.outcome.code is Code.CANCELED, report.outcome
    assert time.monotonic() - begun_s < TERMINAL_S
    rig.joints.assert_rests()
    rig.wait_restarted("planner_node", old)
    assert rig.client.pick("cube").ok


def test_skill_server_killed_while_the_arm_moves(rig: Rig) -> None:
    before = rig.pids()
    run = rig.send_until(SLOW, "approach")
    rig.joints.wait_moving(0.05)
    old, killed_s = kill(rig, "skill_server")
    outcome = end_in_time(run, killed_s)
    assert outcome.code is Code.UNRESPONSIVE, outcome
    assert "skill_server" in outcome.message
    rig.joints.wait_rest(killed_s)
    rig.wait_restarted("skill_server", old)
    assert rig.client.wait_ready(30.0)
    again = rig.client.pick("cube")
    assert again.ok, again.outcome
    assert_others_kept(rig, before, "skill_server")


def test_conditionals_node_killed_disturbs_no_other_node(rig: Rig) -> None:
    before = rig.pids()
    received: list[tuple[float, Conditions]] = []

    def note(message: Conditions) -> None:
        received.append((time.monotonic(), message))

    rig.client.node.create_subscription(Conditions, "conditions", note, LATCHED)
    wait_for("conditions", lambda: bool(received))
    watched = {item.key for item in received[-1][1].conditions}
    run = rig.send_until(Pick.Goal(object="cube"), "approach")
    old, _ = kill(rig, "conditionals_node")
    report = run.result()
    assert report.ok, report.outcome
    rig.wait_restarted("conditionals_node", old)
    active_s = time.monotonic()
    wait_for("the same conditions as before", lambda: received[-1][0] > active_s)
    assert {item.key for item in received[-1][1].conditions} == watched
    held, reason = rig.stack.settled("object_grabbed", "{object: cube}", 60.0)
    assert held, reason
    assert_others_kept(rig, before, "conditionals_node")
