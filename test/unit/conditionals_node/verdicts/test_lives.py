"""The life of watched conditions: first true, longest, confirmed at rest."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conditionals_node.expressions.build import Builder, Condition
from conditionals_node.monitoring.monitor import ConditionMonitor
from conditionals_node.verdicts.life import Life, Lives
from support.records.tabletop import IN_BIN, ROBOT, Shown

BUILDER = Builder(ROBOT)
INSIDE, FAST = Shown({"cube": IN_BIN}), Shown({"cube": IN_BIN}, {"cube": 0.02})


def inside(hold_s: float = 0.0) -> Condition:
    return BUILDER.build("object_in_container", {"object": "cube", "container": "bin"}, hold_s)


class Watched:
    def __init__(self, *conditions: Condition) -> None:
        self.monitor, self.t = ConditionMonitor(max_age_s=1.0), 5.0
        for condition in conditions:
            self.monitor.watch(condition, self.t)

    def show(self, shown: Shown, times: int = 1) -> Life:
        for _ in range(times):
            self.t += 0.1
            self.monitor.update(shown.world(self.t), self.t)
        return self.monitor.shown()[0].life


def test_a_condition_is_confirmed_when_its_objects_have_rested_for_a_fifth_of_a_second() -> None:
    watched = Watched(inside())
    assert math.isnan(watched.show(Shown()).first_true_s)
    life = watched.show(FAST, times=5)
    assert (life.first_true_s, life.at_peak) == (pytest.approx(5.2), False)
    assert not watched.show(INSIDE, times=2).at_end
    life = watched.show(INSIDE)
    assert (life.at_end, life.confirmed_s, life.longest_s) == (True, watched.t, pytest.approx(0.7))
    life = watched.show(Shown())
    assert (life.at_peak, life.at_end, math.isnan(life.since_s)) == (True, False, True)
    life = watched.show(INSIDE)
    assert (life.first_true_s, life.since_s) == (pytest.approx(5.2), watched.t)


def test_a_life_stays_with_its_condition_when_others_come_and_go() -> None:
    watched = Watched(inside(), BUILDER.build("gripper_open", {}))
    watched.show(INSIDE, times=4)
    watched.monitor.watch(BUILDER.build("object_stationary", {"object": "can"}), watched.t)
    before = watched.monitor.find("gripper_open()")
    watched.monitor.unwatch(inside().key)
    after = watched.monitor.find("gripper_open()")
    assert before is not None and after is not None and before.life == after.life
    assert after.life.at_end
    young = watched.monitor.shown()[1].life
    assert not young.at_peak
    watched.show(INSIDE, times=3)
    assert watched.monitor.shown()[1].life.first_true_s == pytest.approx(watched.t - 0.2)


def test_lives_begin_again_when_time_jumps_back() -> None:
    watched = Watched(inside())
    watched.show(INSIDE, times=5)
    watched.t = 1.0
    assert not watched.show(INSIDE).at_peak


def test_a_value_that_did_not_last_its_hold_time_is_no_life() -> None:
    watched = Watched(inside(hold_s=0.25))
    watched.show(Shown())
    assert math.isnan(watched.show(INSIDE, times=2).first_true_s)
    assert not math.isnan(watched.show(INSIDE, times=2).first_true_s)


def test_rows_that_are_reset_begin_again_and_the_others_live_on() -> None:
    lives = Lives(2)
    for i in range(5):
        lives.update(np.full(2, 0.1 * i), np.array([2, 2], dtype=np.int8), np.array([True, True]))
    lives.reset(np.array([True, False]))
    assert lives.at_peak.tolist() == [False, True]
    assert lives.longest_s.tolist() == [0.0, 0.4]
