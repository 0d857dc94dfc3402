"""The watchdog reports a lost robot by observed silence, never by time in which the observer did not run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from handiwork_core.intake.robot_watchdog import (
    LONGEST_SILENCE_S,
    SILENCE_S,
    STALL_S,
    STEP_S,
    Feedback,
    RobotWatchdog,
)

TICK_S = 0.1
BOUND_S = 3.0
"""The bound that architecture.md states."""


@dataclass
class Plant:
    """A robot and its clock; a test can switch off either."""

    now_s: float = 100.0
    received_s: float = 100.0
    stamp_s: float = 5.0
    clock_s: float = 5.0
    publishes: bool = True
    moves_on: bool = True
    has_clock: bool = True

    def after(self, span_s: float) -> Feedback:
        self.now_s += span_s
        if self.publishes:
            self.received_s = self.now_s
            self.stamp_s += span_s * self.moves_on
            self.clock_s += span_s * (self.moves_on and self.has_clock)
        return Feedback(self.now_s, self.received_s, self.stamp_s, self.clock_s)


def lost_after(watchdog: RobotWatchdog, plant: Plant, tick_s: float = TICK_S, limit_s: float = 60.0) -> float:
    """Return the steady time until the robot is lost, infinite if it is not lost within the limit."""
    begun_s = plant.now_s
    while plant.now_s < begun_s + limit_s:
        if watchdog.observe(plant.after(tick_s)):
            return plant.now_s - begun_s
    return math.inf


def running() -> tuple[RobotWatchdog, Plant]:
    watchdog, plant = RobotWatchdog(), Plant()
    assert lost_after(watchdog, plant, limit_s=5.0) == math.inf
    return watchdog, plant


def test_silence_ends_within_the_bound() -> None:
    watchdog, plant = running()
    plant.publishes = False
    assert SILENCE_S < lost_after(watchdog, plant) <= SILENCE_S + 2 * TICK_S < BOUND_S


def test_a_simulation_that_reports_a_delay_may_be_silent_for_longer() -> None:
    watchdog, plant = running()
    plant.publishes = False
    begun_s = plant.now_s
    while plant.now_s < begun_s + 1.8 - TICK_S:
        assert not watchdog.observe(plant.after(TICK_S), 1.8)
        assert not watchdog.is_silent
    while not (why := watchdog.observe(plant.after(TICK_S), 1.8)):
        assert plant.now_s < begun_s + 1.8 + 3 * TICK_S
    assert "no joint_states for 1.9" in why and watchdog.is_silent


def test_no_delay_makes_the_limit_longer_than_the_longest() -> None:
    watchdog, plant = running()
    plant.publishes = False
    begun_s = plant.now_s
    while not watchdog.observe(plant.after(TICK_S), 60.0):
        assert plant.now_s < begun_s + LONGEST_SILENCE_S + 3 * TICK_S


def test_a_dead_clock_under_live_joints_is_lost() -> None:
    watchdog, plant = running()
    plant.has_clock = False
    assert STALL_S < lost_after(watchdog, plant) <= STALL_S + 2 * TICK_S < BOUND_S
    assert "/clock" in watchdog.observe(plant.after(TICK_S))


def test_stamps_that_stand_still_under_a_running_clock_are_lost() -> None:
    watchdog, plant = running()
    plant.moves_on = False
    begun_s, plant_clock = plant.now_s, plant.clock_s
    why = ""
    while not why and plant.now_s < begun_s + BOUND_S:
        one = plant.after(TICK_S)
        why = watchdog.observe(
            Feedback(one.now_s, one.received_s, one.stamp_s, plant_clock + one.now_s - begun_s)
        )
    assert "repeats the stamp" in why


def test_a_paused_world_that_goes_on_publishing_is_not_lost() -> None:
    watchdog, plant = running()
    plant.moves_on = False
    assert lost_after(watchdog, plant, tick_s=0.05, limit_s=600.0) == math.inf
    plant.moves_on = True
    assert lost_after(watchdog, plant, limit_s=10.0) == math.inf


def test_a_world_paused_between_two_messages_is_not_lost() -> None:
    """The clock may be one message ahead of the joints when both stop."""
    watchdog, plant = running()
    plant.clock_s += 0.4
    plant.moves_on = False
    assert lost_after(watchdog, plant, limit_s=600.0) == math.inf


@pytest.mark.parametrize("ahead", ["clock_s", "stamp_s"])
def test_a_paused_world_in_which_one_message_comes_late_is_not_lost(ahead: str) -> None:
    """On a busy machine the last message of before the pause comes seconds late, and so does the first one after it."""
    watchdog, plant = running()
    plant.moves_on = False
    assert lost_after(watchdog, plant, tick_s=0.05, limit_s=10.0) == math.inf
    setattr(plant, ahead, getattr(plant, ahead) + 0.004)
    assert lost_after(watchdog, plant, tick_s=0.05, limit_s=10.0) == math.inf


@pytest.mark.parametrize("is_alone", [False, True])
def test_a_clock_that_goes_on_after_a_pause_is_ahead_of_the_joints_for_a_while(is_alone: bool) -> None:
    watchdog, plant = running()
    plant.moves_on = False
    assert lost_after(watchdog, plant, limit_s=10.0) == math.inf
    why, begun_s = "", plant.now_s
    while not why and plant.now_s < begun_s + (BOUND_S if is_alone else 1.0):
        plant.clock_s += TICK_S
        why = watchdog.observe(plant.after(TICK_S))
    assert ("repeats the stamp" in why) == is_alone


@pytest.mark.parametrize("held_up_s", [1.0, 5.0, 100.0])
def test_a_suspended_observer_blames_nobody(held_up_s: float) -> None:
    watchdog, plant = running()
    plant.publishes = False
    assert watchdog.observe(plant.after(held_up_s)) == ""
    assert watchdog.observe(plant.after(TICK_S)) == ""
    plant.publishes = True
    assert lost_after(watchdog, plant, limit_s=10.0) == math.inf


def test_a_suspended_observer_still_finds_a_robot_that_is_gone() -> None:
    watchdog, plant = running()
    plant.publishes = False
    watchdog.observe(plant.after(100.0))
    assert lost_after(watchdog, plant) <= SILENCE_S - STEP_S + 2 * TICK_S


def test_an_observer_at_a_tenth_of_its_rate_needs_longer_and_blames_nobody_wrongly() -> None:
    watchdog, plant = running()
    assert lost_after(watchdog, plant, tick_s=1.0, limit_s=60.0) == math.inf
    plant.publishes = False
    assert lost_after(watchdog, plant, tick_s=1.0) == pytest.approx(math.ceil(SILENCE_S / STEP_S), abs=1.0)


def test_joints_forgotten_in_a_jump_of_time_get_time_to_return() -> None:
    watchdog, plant = running()
    plant.publishes = False
    plant.received_s = -math.inf
    assert lost_after(watchdog, plant) > SILENCE_S
    plant.publishes = True
    assert watchdog.observe(plant.after(TICK_S)) == ""


def test_a_robot_that_was_never_there_is_lost() -> None:
    plant = Plant(received_s=-math.inf, publishes=False)
    assert lost_after(RobotWatchdog(), plant) <= SILENCE_S + 3 * TICK_S
