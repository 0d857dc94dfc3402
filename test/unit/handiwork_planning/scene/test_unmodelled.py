"""The CPU engine and its referee among obstacles that are known as occupied cells alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.planning import (
    JointGoals,
    PathRest,
    PlanRequest,
    SceneQuery,
    never_stop,
)
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_core.voxels.voxel_map import UNMODELLED, VoxelGrid, VoxelMap
from handiwork_planning.cpu_engine import CpuEngine
from handiwork_planning.planner import Core
from handiwork_planning.scene.query import ROUND_OFF_M
from support.planning.demo_world import box, world_of

ARM = "fr3_arm"
GRID = VoxelGrid.over((0.45, 0.0, 0.4), (0.9, 1.2, 1.0), 0.02)
SIZE, PLACE = (0.3, 0.04, 0.5), (0.5, 0.0, 0.25)
"""A wall between the left and the right of the robot, m."""
LEFT = np.array([0.6, 0.5, 0.0, -1.9, 0.0, 2.4, 0.8])
RIGHT = np.array([-0.6, 0.5, 0.0, -1.9, 0.0, 2.4, 0.8])


def surface(size: tuple[float, float, float], place: tuple[float, float, float]) -> Array:
    """Return points on a box, (n, 3), 5 mm apart."""
    axes = [np.linspace(-0.5 * edge, 0.5 * edge, int(edge / 0.005) + 2) for edge in size]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    on = (np.abs(np.abs(x) - 0.5 * np.array(size)) < 1.0e-9).any(axis=1)
    return x[on] + np.array(place)


WALL = VoxelMap.of_points(GRID, surface(SIZE, PLACE), version=3)
EMPTY = World(0.0, 1)
SEEN = replace(EMPTY, version=2, voxels=WALL)
TRUE = world_of(("wall", (box(SIZE),), Pose.of(PLACE)))
ACROSS = PlanRequest(ARM, LEFT, JointGoals(RIGHT[None]), seed=4)


def test_the_motion_goes_around_what_only_a_camera_sees(bare_engine: CpuEngine) -> None:
    bare_engine.update_world(EMPTY)
    straight = bare_engine.plan(ACROSS, never_stop).trajectory
    assert straight is not None
    bare_engine.update_world(SEEN)
    refused = bare_engine.validate(ARM, straight, SceneQuery(), LEFT)
    assert refused.code is Code.TRAJECTORY_REFUSED
    assert refused.blocking is not None
    assert refused.blocking.b == UNMODELLED
    around = bare_engine.plan(ACROSS, never_stop)
    assert around.code is Code.OK, around.message
    assert around.world_version == 2
    assert around.trajectory is not None
    assert bare_engine.validate(ARM, around.trajectory, SceneQuery(), LEFT).code is Code.OK
    bare_engine.update_world(TRUE)
    verdict = bare_engine.validate(ARM, around.trajectory, SceneQuery(), LEFT)
    assert verdict.code is Code.OK, verdict.message


def test_blocks_agree_with_distances(robot: Robot) -> None:
    core = Core(robot, Pose.identity())
    core.scene.update(SEEN)
    arm = core.arm(ARM)
    query = core.read(arm, SceneQuery())
    rng = np.random.default_rng(2)
    column = query.columns.index(UNMODELLED)
    found = set()
    for _ in range(150):
        q = rng.uniform(query.robot.lower, query.robot.upper)
        gaps = query.distances(q) - query.margins
        if (np.abs(gaps) < ROUND_OFF_M).any():
            continue
        assert query.touches(q) == bool((gaps < 0.0).any())
        found.add(bool((gaps[:, column] < 0.0).any()))
    assert found == {True, False}


def test_the_wall_is_named_and_can_be_ignored_or_allowed(bare_engine: CpuEngine, robot: Robot) -> None:
    bare_engine.update_world(SEEN)
    q = 0.5 * (LEFT + RIGHT)
    found = bare_engine.explain(ARM, q, SceneQuery())
    assert found.code is Code.START_IN_COLLISION
    assert found.blocking is not None
    assert UNMODELLED in found.message
    ignored = bare_engine.explain(ARM, q, SceneQuery(ignored=frozenset({UNMODELLED})))
    assert ignored.code is Code.OK, ignored.message
    links = [f"{robot.name}/{link}" for link in robot.links]
    every = frozenset(BodyPair(link, UNMODELLED) for link in links)
    assert bare_engine.explain(ARM, q, SceneQuery(allowed=every)).code is Code.OK


@pytest.mark.parametrize("changed", [frozenset({"other"}), frozenset()])
def test_an_obstacle_that_appears_in_the_way_stops_a_motion(
    bare_engine: CpuEngine, changed: frozenset[str]
) -> None:
    bare_engine.update_world(EMPTY)
    motion = bare_engine.plan(ACROSS, never_stop).trajectory
    assert motion is not None
    rest = PathRest(0.0, changed)
    assert bare_engine.validate(ARM, motion, SceneQuery(), LEFT, rest).code is Code.OK
    bare_engine.update_world(SEEN)
    refused = bare_engine.validate(ARM, motion, SceneQuery(), LEFT, rest)
    assert refused.code is Code.TRAJECTORY_REFUSED
    assert UNMODELLED in refused.message
    passed = PathRest(motion.duration_s - 0.02, changed)
    assert bare_engine.validate(ARM, motion, SceneQuery(), LEFT, passed).code is Code.OK


def test_a_world_without_cells_has_none(bare_engine: CpuEngine) -> None:
    bare_engine.update_world(SEEN)
    bare_engine.update_world(replace(EMPTY, version=5))
    middle = 0.5 * (LEFT + RIGHT)
    assert bare_engine.explain(ARM, middle, SceneQuery()).code is Code.OK
