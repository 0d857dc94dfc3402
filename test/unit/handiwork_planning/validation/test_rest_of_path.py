"""The rest of a motion in progress, judged by the CPU engine against changes of the world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    JointGoals,
    PathRest,
    PlanRequest,
    SceneQuery,
    Verdict,
)
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine
from support.paths import ROBOTS

FR3 = ROBOTS / "fr3"
ARM = "fr3_arm"
NOWHERE: Array = np.zeros(0)


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(FR3)


@pytest.fixture(scope="module")
def engine(robot: Robot) -> Iterator[CpuEngine]:
    made = CpuEngine(robot, Pose.identity(), lambda _part, _what: None)
    yield made
    made.close()


def world(**places: Array) -> World:
    zero, shape = np.zeros(3), Shape(ShapeKind.BOX, np.full(3, 0.1), Pose.identity())
    objects = {name: WorldObject(name, (shape,)) for name in places}
    states = {name: ObjectState(Pose.of(p), zero, zero, 1.0) for name, p in places.items()}
    return World(1.0, len(places), objects, states)


@pytest.fixture(scope="module")
def sweep(engine: CpuEngine, robot: Robot) -> Trajectory:
    engine.update_world(world())
    start = robot.arm(ARM).home_q.copy()
    end = start.copy()
    end[0] += 1.5
    found = engine.plan(PlanRequest(ARM, start, JointGoals(end[None]), velocity_scaling=0.5), lambda: False)
    assert found.trajectory is not None
    return found.trajectory


def hand_at(robot: Robot, sweep: Trajectory, share: float) -> Array:
    q = sweep.sample(share * sweep.duration_s)[0]
    return np.asarray(forward(robot, ARM, q).translation_m)


def judge(engine: CpuEngine, sweep: Trajectory, from_share: float, *changed: str, **scene: object) -> Verdict:
    rest = PathRest(from_share * sweep.duration_s, frozenset(changed))
    return engine.validate(ARM, sweep, SceneQuery(**scene), NOWHERE, rest)  # type: ignore[arg-type]


def test_a_box_on_the_rest_of_the_path_is_named(engine: CpuEngine, robot: Robot, sweep: Trajectory) -> None:
    engine.update_world(world(box=hand_at(robot, sweep, 0.8)))
    verdict = judge(engine, sweep, 0.3, "box")
    assert verdict.code is Code.TRAJECTORY_REFUSED
    assert verdict.blocking is not None and "box" in verdict.blocking
    assert verdict.clearance_m < 0.0
    assert judge(engine, sweep, 0.3).code is Code.TRAJECTORY_REFUSED, "without names everything counts"


def test_a_box_on_the_part_that_lies_behind_is_no_obstacle(
    engine: CpuEngine, robot: Robot, sweep: Trajectory
) -> None:
    engine.update_world(world(box=hand_at(robot, sweep, 0.05)))
    assert judge(engine, sweep, 0.02, "box").code is Code.TRAJECTORY_REFUSED
    assert judge(engine, sweep, 0.75, "box").code is Code.OK
    assert judge(engine, sweep, 0.75).code is Code.OK


def test_only_what_changed_is_judged_and_what_the_scene_allows_is_not(
    engine: CpuEngine, robot: Robot, sweep: Trajectory
) -> None:
    there = hand_at(robot, sweep, 0.8)
    engine.update_world(world(box=there, other=there + (0.0, 0.0, 2.0)))
    assert judge(engine, sweep, 0.3, "other").code is Code.OK
    assert judge(engine, sweep, 0.3, "other", "box").code is Code.TRAJECTORY_REFUSED
    assert judge(engine, sweep, 0.3, "box", ignored=frozenset({"box"})).code is Code.OK


def test_the_rough_look_never_calls_clear_what_the_fine_one_refuses(
    engine: CpuEngine, robot: Robot, sweep: Trajectory
) -> None:
    rng, refused = np.random.default_rng(4), 0
    for _ in range(60):
        engine.update_world(
            world(box=hand_at(robot, sweep, rng.uniform(0.3, 1.0)) + rng.normal(0.0, 0.12, 3))
        )
        rough, fine = judge(engine, sweep, 0.2, "box"), judge(engine, sweep, 0.2)
        assert (rough.code is Code.OK) == (fine.code is Code.OK), (rough, fine)
        refused += fine.code is not Code.OK
    assert 10 < refused < 50, "both answers were met"


def test_a_trajectory_that_cannot_be_read_is_refused(engine: CpuEngine, sweep: Trajectory) -> None:
    engine.update_world(world())
    broken = replace(sweep, q=sweep.q[:-1])
    verdict = engine.validate(ARM, broken, SceneQuery(), NOWHERE, PathRest(0.0, frozenset({"box"})))
    assert verdict.code is Code.TRAJECTORY_REFUSED and "samples" in verdict.message
