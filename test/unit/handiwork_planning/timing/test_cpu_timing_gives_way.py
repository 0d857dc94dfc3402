"""Timing of corners whose rounding would touch: rules about the path take the place of obstacles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import Robot
from handiwork_planning import postprocessing
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.scene.query import Query, Reader
from handiwork_planning.scene.scene import CollisionScene
from handiwork_planning.search.requests import Deadline, Failed, limits_of

from .test_cpu_timing import to_polyline

Rule = Callable[[Array, bool], Array]
"""Returns which configurations (m, n) touch; the second argument selects the lenient test."""


@pytest.fixture
def query(robot: Robot) -> Query:
    return Reader(robot, Pose.identity()).read(robot.arm(""), CollisionScene(), SceneQuery())


@pytest.fixture
def path(robot: Robot) -> Array:
    turns = np.zeros((5, 7))
    turns[1:, 0], turns[2:, 3], turns[3:, 5], turns[4:, 0] = 0.5, 0.4, 0.6, -0.3
    return np.array(robot.arm("").home_q) + turns


def timed(
    robot: Robot, query: Query, path: Array, rule: Rule, monkeypatch: pytest.MonkeyPatch, never: bool = False
) -> tuple[Array, float]:
    """Return positions and duration when ``rule`` takes the place of collision checks."""

    def first(q: Array, asked: Query, hit: Ints) -> int:
        hit[:] = 0
        bad = np.flatnonzero(rule(q[1:], asked is not query))
        return int(bad[0]) + 1 if len(bad) else -1

    monkeypatch.setattr(postprocessing, "_first_blocked", first)
    arm = robot.arm("")
    limits = limits_of(robot, arm, 1.0, 1.0)
    deadline = Deadline.start(lambda: never, 60.0)
    t = postprocessing.timed_free(path, query, limits, arm.joint_names, deadline)
    return t.q, t.duration_s


def test_corners_get_as_narrow_as_there_is_room(
    robot: Robot, query: Query, path: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    took = []
    for room in (np.inf, 0.03, 0.003, 1e-6):
        q, seconds = timed(robot, query, path, lambda q, _, r=room: to_polyline(q, path) > r, monkeypatch)  # type: ignore[misc]
        assert to_polyline(q, path).max() <= room
        took.append(seconds)
    assert took == sorted(took)
    assert took[0] < took[1] < took[-1]


def test_only_the_corner_that_touches_gets_narrower(
    robot: Robot, query: Query, path: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rule(q: Array, _lenient: bool) -> Array:
        near_third = np.linalg.norm(q - path[3], axis=1) < 0.2
        return near_third & (to_polyline(q, path) > 1e-6)

    free, free_s = timed(robot, query, path, lambda q, _: np.zeros(len(q), bool), monkeypatch)
    narrow, narrow_s = timed(robot, query, path, rule, monkeypatch)
    everywhere_s = timed(robot, query, path, lambda q, _: to_polyline(q, path) > 1e-6, monkeypatch)[1]
    early = np.linalg.norm(narrow - path[1], axis=1) < 0.1
    assert to_polyline(narrow[early], path).max() > 1e-3
    assert free_s < narrow_s < everywhere_s
    assert len(free) < len(narrow)


def test_a_second_look_at_the_path_itself_is_lenient(
    robot: Robot, query: Query, path: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    middle = 0.5 * (path[1] + path[2])
    for lenient_too in (False, True):

        def rule(q: Array, lenient: bool, too: bool = lenient_too) -> Array:
            return (np.linalg.norm(q - middle, axis=1) < 0.05) & (too or not lenient)

        if not lenient_too:
            assert timed(robot, query, path, rule, monkeypatch)[1] > 0.0
            continue
        with pytest.raises(Failed) as failed:
            timed(robot, query, path, rule, monkeypatch)
        assert failed.value.outcome.code is Code.PLAN_FAILED
        assert failed.value.outcome.blocking is not None


def test_a_stop_is_heeded(robot: Robot, query: Query, path: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failed) as failed:
        timed(robot, query, path, lambda q, _: np.zeros(len(q), bool), monkeypatch, never=True)
    assert failed.value.outcome.code is Code.CANCELED
