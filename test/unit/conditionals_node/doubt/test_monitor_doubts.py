"""The monitor's conditions on noisy poses: what is left open, for how long, and how old each measurement is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conditionals_node.expressions.build import Builder
from conditionals_node.expressions.definitions import Definitions
from conditionals_node.monitoring.monitor import ConditionMonitor, ConditionStatus
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import ObjectState, Shape, ShapeKind, World, WorldObject
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

BUILDER = Builder(load_robot(ROBOTS / "fr3"))


def only(monitor: ConditionMonitor) -> ConditionStatus:
    (shown,) = monitor.shown()
    return shown


def seen_at(x: float, stamp_s: float, sigma_m: float = 0.005, measured_s: float | None = None) -> World:
    noise = frozen(np.diag([sigma_m**2] * 3 + [0.0] * 3))
    zero, at_s = frozen(np.zeros(3)), stamp_s if measured_s is None else measured_s
    state = ObjectState(Pose.of((x, 0.0, 0.0)), zero, zero, at_s, noise)
    return World(stamp_s, states={"cube": state}, contacts=(), contacts_stamp_s=stamp_s)


def near_origin(hold_s: float = 0.0, max_flip: float | None = None) -> ConditionMonitor:
    """Return a monitor of a condition that is TRUE up to x = 0.5."""
    monitor = ConditionMonitor(max_age_s=1.0)
    condition = BUILDER.build(
        "object_at", {"object": "cube", "position": [0, 0, 0], "tolerance": 0.5}, hold_s
    )
    monitor.watch(replace(condition, max_flip=max_flip), 0.0)
    return monitor


def values(monitor: ConditionMonitor, places: list[float], period_s: float = 0.1) -> list[str]:
    """Return the values after each of the places; the first snapshot comes at 1 s."""
    found = []
    for i, x in enumerate(places):
        now_s = 1.0 + i * period_s
        monitor.update(seen_at(x, now_s), now_s)
        found.append(only(monitor).finding.truth.name)
    return found


def test_what_noise_may_turn_is_unknown_at_once_and_known_again_when_it_is_clear() -> None:
    monitor = near_origin()
    assert values(monitor, [0.4, 0.497, 0.4, 0.6]) == ["TRUE", "UNKNOWN", "TRUE", "FALSE"]
    assert only(monitor).finding.flip_probability == 0.0


def test_a_condition_may_allow_more_noise_than_the_monitor() -> None:
    assert values(near_origin(max_flip=0.4), [0.4, 0.497]) == ["TRUE", "TRUE"]
    assert values(near_origin(max_flip=1.0), [0.4, 0.5001]) == ["TRUE", "FALSE"]


def test_a_doubt_is_no_way_around_the_hold_time() -> None:
    passing = [0.4, 0.5, 0.6, 0.5, 0.6, 0.6, 0.6]
    wanted = ["TRUE", "UNKNOWN", "UNKNOWN", "UNKNOWN", "UNKNOWN", "UNKNOWN", "FALSE"]
    assert values(near_origin(hold_s=0.15), passing) == wanted
    assert values(near_origin(hold_s=0.15), [0.4, 0.5, 0.4]) == ["TRUE", "UNKNOWN", "TRUE"]


def test_a_doubt_ends_when_poses_become_exact() -> None:
    monitor, names = ConditionMonitor(max_age_s=1.0), [f"cube{i}" for i in range(8)]
    for name in names:  # so many that they are decided together, as rows
        monitor.watch(
            BUILDER.build("object_at", {"object": name, "position": [0, 0, 0], "tolerance": 0.5}), 0.0
        )
    shape = Shape(ShapeKind.BOX, frozen((0.04, 0.04, 0.04)), Pose.identity())
    objects = {name: WorldObject(name, (shape,)) for name in names}
    for stamp_s, noise in ((1.0, 0.005), (1.1, 0.005), (1.2, None)):
        seen = seen_at(0.497, stamp_s, noise or 0.0)
        state = replace(
            seen.states["cube"],
            pose_covariance=seen.states["cube"].pose_covariance if noise else None,
        )
        monitor.update(replace(seen, objects=objects, states=dict.fromkeys(names, state)), stamp_s)
        wanted = Truth.UNKNOWN if noise else Truth.TRUE
        assert {one.finding.truth for one in monitor.shown()} == {wanted}
    assert {one.finding.flip_probability for one in monitor.shown()} == {0.0}


def test_the_age_of_each_objects_own_measurement_counts() -> None:
    monitor = near_origin()
    monitor.update(seen_at(0.0, 5.0, measured_s=4.5), 5.0)
    assert only(monitor).finding.truth is Truth.TRUE
    monitor.update(seen_at(0.0, 5.1, measured_s=3.0), 5.1)
    assert only(monitor).finding.truth is Truth.UNKNOWN
    assert "pose of cube is 2.1 s old" in only(monitor).finding.reason


def test_another_limit_for_noise_of_what_is_watched_is_refused() -> None:
    monitor = near_origin(max_flip=0.2)
    condition = BUILDER.build("object_at", {"object": "cube", "position": [0, 0, 0], "tolerance": 0.5})
    monitor.watch(condition, 0.0)
    with pytest.raises(ConfigError, match=r"max_flip: is 0.3, .* unwatch it first"):
        monitor.watch(replace(condition, max_flip=0.3), 0.0)


@pytest.mark.parametrize("limit", [0.0, -0.1, 1.5, float("nan")])
def test_a_limit_for_noise_that_is_no_probability_is_refused(limit: float) -> None:
    with pytest.raises(ConfigError, match=r"max_flip: is .* write more than 0 and at most 1"):
        Definitions(BUILDER).make("object_stationary", "{object: cube}", "", 0.0, limit)
