"""Real processes: the loop, bad goals, cancel in every stage, and killed nodes."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest
from geometry_msgs.msg import PoseStamped
from handiwork_msgs.action import Pick
from handiwork_msgs.srv import ResetWorld

from handiwork_bringup.joint_watch import JointWatch
from handiwork_bringup.stack import Stack
from handiwork_core.outcome import Code
from handiwork_core.skill import Progress

PICK_STAGES = ("select", "open", "approach", "descend", "grasp", "lift")
TERMINAL_S = 2.0


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with Stack({"real_time_factor": "2"}) as running:
        running.wait_active()
        running.watch = JointWatch(running.client.node)  # type: ignore[attr-defined]
        yield running


@pytest.fixture
def fresh(stack: Stack) -> Stack:
    stack.wait_active(60.0)
    assert stack.call(ResetWorld, "sim/reset", ResetWorld.Request(seed=1, randomize=False)).outcome.code == 0
    return stack


def at_rest(stack: Stack) -> bool:
    return stack.watch.wait_still(TERMINAL_S) is not None  # type: ignore[attr-defined, no-any-return]


def pick_until(stack: Stack, stage: str):  # type: ignore[no-untyped-def]
    reached = threading.Event()

    def note(progress: Progress) -> None:
        if progress.stage == stage:
            reached.set()

    run = stack.client.send(Pick.Goal(object="cube"), note)
    assert reached.wait(30.0), f"stage {stage} was never reported"
    return run


def test_pick_and_place_ends_in_the_container(fresh: Stack) -> None:
    picked = fresh.client.pick("cube")
    assert picked.ok, picked.outcome
    placed = fresh.client.place("cube", "bin")
    assert placed.ok, placed.outcome
    assert fresh.settled("object_in_container", "{object: cube, container: bin}", 5.0)[0]


@pytest.mark.parametrize("stage", PICK_STAGES)
def test_cancel_in_each_stage_ends_at_rest(fresh: Stack, stage: str) -> None:
    run = pick_until(fresh, stage)
    run.cancel()
    assert run.result(20.0).outcome.code is Code.CANCELED
    assert at_rest(fresh)


def posed(frame: str, x: float, w: float) -> Pick.Goal:
    pose = PoseStamped()
    pose.header.frame_id, pose.pose.position.x, pose.pose.orientation.w = frame, x, w
    return Pick.Goal(object="cube", grasp_poses=[pose])


@pytest.mark.parametrize(
    ("goal", "code"),
    [
        (Pick.Goal(object="cuube"), Code.UNKNOWN_OBJECT),
        (posed("world", math.nan, 1.0), Code.BAD_NUMBER),
        (posed("world", 0.5, 0.0), Code.BAD_NUMBER),
        (posed("nowhere", 0.5, 1.0), Code.UNKNOWN_FRAME),
        (Pick.Goal(object=""), Code.BAD_GOAL),
        (Pick.Goal(object="cube", gripper_width=1.0), Code.BAD_NUMBER),
        (posed("world", 5.0, 1.0), Code.NO_CANDIDATE),
    ],
)
def test_bad_goal_is_refused_and_nothing_moves(fresh: Stack, goal: Pick.Goal, code: Code) -> None:
    outcome = fresh.client.send(goal).result(30.0).outcome
    assert outcome.code is code, outcome
    assert outcome.message
    assert at_rest(fresh)


@pytest.mark.parametrize("node", ["planner_node", "skill_server"])
def test_killed_node_ends_the_goal_and_comes_back(fresh: Stack, node: str) -> None:
    run = pick_until(fresh, "descend")
    old = fresh.runner.pid(node)
    assert old is not None
    os.kill(old, signal.SIGKILL)
    begin_s = time.monotonic()
    outcome = run.result(10.0).outcome
    assert not outcome.ok
    assert time.monotonic() - begin_s <= TERMINAL_S, outcome
    assert at_rest(fresh)
    end_s = time.monotonic() + 60.0
    while fresh.client.signs.pid(node) in (old, None) and time.monotonic() < end_s:
        threading.Event().wait(0.05)
    fresh.wait_active(60.0)
    assert fresh.call(ResetWorld, "sim/reset", ResetWorld.Request(randomize=False)).outcome.code == 0
    again = fresh.client.pick("cube")
    assert again.ok, again.outcome
