"""A robot that falls silent ends the goal as ROBOT_LOST within a bound, in every stage; a paused world does not."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from handiwork_msgs.action import Pick, Place, RunSkill
from handiwork_msgs.srv import SetPaused
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState

from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.thresholds import JOINT_REST
from handiwork_ros.clients.skill_client import GoalHandle, SkillReport
from support.nightly import mostly_nightly
from support.stack.rig import EVENT_S, PICK_STAGES, PLACE_STAGES, REST_S, SLOW, Rig

LAUNCH_ARGUMENTS = {"real_time_factor": "1"}
BOUND_S = 3.0
"""The longest time from the last joint_states to the result, s, as docs/explanation/architecture.md states it."""
PAUSED_S = 5.0
PICK, PLACE = Pick.Goal(object="cube"), Place.Goal(container="bin")
LONG_WAIT = RunSkill.Goal(skill="wait", parameters="{wait_steps: 1800}")


class Lateness(threading.Thread):
    """Sums up the scheduling delay of this process: on a loaded machine the bound is longer by it."""

    PERIOD_S = 0.01

    def __init__(self) -> None:
        super().__init__(name="lateness")
        self.total_s, self._over = 0.0, threading.Event()

    def run(self) -> None:
        before_s = time.monotonic()
        while not self._over.wait(self.PERIOD_S):
            now_s = time.monotonic()
            self.total_s += max(0.0, now_s - before_s - self.PERIOD_S)
            before_s = now_s

    def stop(self) -> None:
        self._over.set()
        self.join()


def ended(rig: Rig, run: GoalHandle[SkillReport], lateness: Lateness) -> Outcome:
    """Return the outcome, which must come in time."""
    late_s = lateness.total_s
    outcome = run.result(30.0).outcome
    took_s = time.monotonic() - rig.joints.last_s
    assert took_s <= BOUND_S + 2.0 * (lateness.total_s - late_s), f"after {took_s:.2f} s: {outcome}"
    return outcome


def lost(rig: Rig, run: GoalHandle[SkillReport], lateness: Lateness) -> None:
    """Check that the goal ends in time, with the cause and the known state of the arm."""
    outcome = ended(rig, run, lateness)
    assert outcome.code is Code.ROBOT_LOST, outcome
    assert "joint_states" in outcome.message
    assert "s ago" in outcome.message, "nothing is said of the arm"


def assert_comes_to_rest(rig: Rig) -> None:
    """The joints kept their speed while the world was paused; they brake as soon as it continues.

    A motion that the robot had received before may begin in the first moments, and is braked as well.
    """
    rig.joints.clear()
    since_s = time.monotonic()
    while max(sample.speed for sample in rig.joints.over(REST_S)) >= JOINT_REST:
        assert time.monotonic() - since_s < EVENT_S, "the arm moves on"
    rig.joints.wait_rest(time.monotonic())


@contextmanager
def suspended(rig: Rig) -> Iterator[None]:
    pid = rig.client.signs.pid("sim_bridge")
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def deactivated(rig: Rig) -> Iterator[None]:
    def ask(transition: int) -> None:
        request = ChangeState.Request(transition=Transition(id=transition))
        assert rig.stack.call(ChangeState, "sim_bridge/change_state", request).success

    ask(Transition.TRANSITION_DEACTIVATE)
    try:
        yield
    finally:
        ask(Transition.TRANSITION_ACTIVATE)


@pytest.fixture
def lateness() -> Iterator[Lateness]:
    probe = Lateness()
    probe.start()
    yield probe
    probe.stop()


@pytest.mark.parametrize("stage", mostly_nightly(PICK_STAGES, "approach", "grasp"))
def test_a_suspended_simulation_ends_a_pick_in_every_stage(rig: Rig, lateness: Lateness, stage: str) -> None:
    run = rig.send_until(PICK, stage)
    with suspended(rig):
        lost(rig, run, lateness)
    assert_comes_to_rest(rig)


@pytest.mark.parametrize("stage", mostly_nightly(PLACE_STAGES, "transit"))
def test_a_suspended_simulation_ends_a_place_in_every_stage(rig: Rig, lateness: Lateness, stage: str) -> None:
    assert rig.client.pick("cube").ok
    run = rig.send_until(PLACE, stage)
    with suspended(rig):
        lost(rig, run, lateness)
    assert_comes_to_rest(rig)


@pytest.mark.parametrize(
    "stage", mostly_nightly(["select", "approach", "descend", "grasp", "lift"], "approach")
)
def test_a_deactivated_simulation_ends_the_goal(rig: Rig, lateness: Lateness, stage: str) -> None:
    run = rig.send_until(PICK, stage)
    with deactivated(rig):
        outcome = ended(rig, run, lateness)
    # A controller that is not active refuses what the skill sends before the silence is long enough.
    assert outcome.code in (Code.ROBOT_LOST, Code.CONTROLLER_REFUSED, Code.GRIPPER_FAILED), outcome
    assert_comes_to_rest(rig)


def test_a_wait_in_simulated_time_ends_without_a_clock(rig: Rig, lateness: Lateness) -> None:
    run = rig.send_until(LONG_WAIT, "wait")
    with suspended(rig):
        lost(rig, run, lateness)


def test_the_next_goal_after_a_lost_robot_runs(rig: Rig, lateness: Lateness) -> None:
    run = rig.send_until(PICK, "approach")
    with suspended(rig):
        lost(rig, run, lateness)
    rig.reset()
    again = rig.client.pick("cube")
    assert again.ok, again.outcome


def test_a_goal_waits_in_a_paused_world_and_can_be_cancelled(rig: Rig) -> None:
    def pause(*, paused: bool) -> None:
        answer = rig.stack.call(SetPaused, "sim/set_paused", SetPaused.Request(paused=paused))
        assert answer.outcome.code == Code.OK

    run = rig.send_until(SLOW, "approach")
    rig.joints.wait_moving(0.05)
    pause(paused=True)
    try:
        assert not threading.Event().wait(PAUSED_S) and not run.done, "a paused world is no lost robot"
        pause(paused=False)
        rig.joints.wait_moving(0.05)
        pause(paused=True)
        run.cancel()
        report = run.result(30.0)
        assert report.outcome.code is Code.CANCELED, report.outcome
    finally:
        pause(paused=False)
    assert_comes_to_rest(rig)
