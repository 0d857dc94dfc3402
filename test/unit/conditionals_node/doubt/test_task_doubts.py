"""A task on noisy poses: what is in doubt is not done yet, and what was done is not confirmed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import frozen
from handiwork_core.model.world import World
from support.records.tabletop import IN_BIN, Episode, Shown

NEAR = "object_at(object=cube, position=[0, 0, 0], tolerance=0.5)"
TASK = "{name: near, SUCCESS, subtasks: [{name: go, groups: {cube: [{expression: '" + NEAR + "'}]}}]}"
RULES = "success: {settle_s: 0, by_robot: false}"


@dataclass
class Noisy(Shown):
    """An instant that is seen with noise of 5 mm."""

    def world(self, t: float) -> World:
        exact = super().world(t)
        noise = frozen(np.diag([0.005**2] * 3 + [0.0] * 3))
        states = {name: replace(state, pose_covariance=noise) for name, state in exact.states.items()}
        return replace(exact, states=states)


def at(x: float) -> Noisy:
    return Noisy({"cube": (x, 0.0, 0.0)})


def episode(options: str = RULES) -> Episode:
    return Episode(TASK.replace("SUCCESS", options), start=at(1.0))


def test_a_condition_in_doubt_is_not_done_yet() -> None:
    watched = episode()
    watched.show(at(0.499), times=3)
    assert (watched.watch.score, watched.watch.refusals) == (0.0, [])
    watched.show(at(0.4))
    assert watched.watch.score == 1.0


def test_a_done_task_in_doubt_is_not_confirmed_and_says_why() -> None:
    watched = episode()
    watched.show(at(0.4))
    watched.show(at(0.499), times=5)
    assert watched.watch.judge.run.done[0]
    assert not watched.watch.life.at_peak
    (why,) = watched.watch.refusals
    assert " is open: noise turns TRUE with probability" in why
    assert "cube is measured to 5 mm" in why
    watched.show(at(0.4), times=4)
    assert (watched.watch.life.at_end, watched.watch.refusals) == (True, [])


def test_a_task_may_allow_more_noise() -> None:
    watched = episode(f"max_flip: 0.49, {RULES}")
    watched.show(at(0.497))
    assert watched.watch.score == 1.0


PUT = (
    "{name: put, success: {settle_s: 0, by_robot: false}, subtasks: [{name: go, groups: {cube: "
    "[{expression: 'object_in_container(object=cube, container=bin)'}]}}]}"
)
EDGE_M = 0.352
"""x at which the measured can is just outside of the bin."""


def put(can_x: float) -> Noisy:
    return Noisy({"cube": IN_BIN, "can": (can_x, 0.0, 0.05)})


def test_another_object_that_noise_does_not_exclude_is_not_confirmed() -> None:
    watched = Episode(PUT, start=Noisy())
    watched.show(put(EDGE_M), times=5)
    assert watched.watch.judge.run.done[0]
    assert not watched.watch.life.at_peak
    (why,) = watched.watch.refusals
    assert "can may be there too: noise turns" in why
    watched.show(put(0.5))
    assert watched.watch.refusals == ["can was put there too"]
    watched.show(put(0.0), times=5)
    assert (watched.watch.life.at_end, watched.watch.refusals) == (True, [])


def test_another_object_that_may_have_been_there_from_the_start_is_no_fault() -> None:
    watched = Episode(PUT, start=Noisy({"can": (EDGE_M, 0.0, 0.05)}))
    watched.show(put(EDGE_M), times=5)
    assert (watched.watch.life.at_end, watched.watch.refusals) == (True, [])


def test_a_limit_that_is_no_probability_is_refused() -> None:
    with pytest.raises(ConfigError, match="max_flip: is 2; write more than 0"):
        episode(f"max_flip: 2, {RULES}")
