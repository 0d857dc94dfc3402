"""Tests that need a GPU: both engines judge alike, and a GPU without memory ends the goal, not the planner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.contracts.planning import IkRequest, JointGoals, PlanRequest, SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
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
from handiwork_core.voxels.voxel_map import UNMODELLED, VoxelGrid, VoxelMap
from handiwork_planning.fallback_engine import FallbackEngine
from handiwork_planning.kernels.kinematics import tool_poses
from planner_node.engines import CpuEngine, CuroboEngine
from planner_node.engines.curobo.batch_configurations import solve_many
from planner_node.engines.curobo.model.spheres import INFLATE_M
from planner_node.engines.curobo.solvers.configurations import POSES, STARTS
from support.paths import ROBOTS

pytestmark = pytest.mark.skipif(
    bool(CuroboEngine.why_not()), reason=f"no cuRobo here: {CuroboEngine.why_not()}"
)

ACTIVATION_M = 0.01
FOLDERS = sorted(path.parent for path in ROBOTS.glob("*/robot.yaml"))
SHAPES = (
    (ShapeKind.BOX, (0.3, 0.2, 0.4), (0.5, 0.3, 0.2)),
    (ShapeKind.SPHERE, (0.12,), (0.4, -0.4, 0.5)),
    (ShapeKind.CYLINDER, (0.1, 0.5), (-0.4, 0.2, 0.4)),
    (ShapeKind.CAPSULE, (0.08, 0.3), (0.0, 0.5, 0.6)),
)


class WaitingEngine(CuroboEngine):
    """Requests wait for builds, so that an error in one ends the request that caused it."""

    waits_for_builds = True


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(ROBOTS / "fr3")


@pytest.fixture(scope="module")
def engine(robot: Robot) -> Iterator[CuroboEngine]:
    made = CuroboEngine(robot, Pose.identity(), lambda _share, _text: None)
    made.update_world(round_world())
    made._gpu.wait_for_builds()
    yield made
    made.close()


def round_world() -> World:
    still = np.zeros(3)
    objects = {
        kind.name: WorldObject(kind.name, (Shape(kind, np.array(size), Pose.identity()),))
        for kind, size, _ in SHAPES
    }
    states = {kind.name: ObjectState(Pose.of(place), still, still, 0.0) for kind, _, place in SHAPES}
    return World(0.0, 1, objects, states)


def configurations(engine: CuroboEngine, count: int) -> Array:
    """Return random configurations within the joint limits, (count, n), rad.

    Args:
        engine: The engine with the robot.
        count: Number of configurations.
    """
    query = engine._core.read(engine._gpu.robot.arm(""), SceneQuery())
    return np.random.default_rng(3).uniform(
        query.robot.lower, query.robot.upper, (count, len(query.robot.lower))
    )


def test_both_engines_have_the_same_kinematics(engine: CuroboEngine, robot: Robot) -> None:
    q = configurations(engine, 500)
    poses = engine._batches.configurations("", SceneQuery()).tool_poses(q)
    for row, pose in zip(q, poses, strict=True):
        there = forward(robot, "", row)
        np.testing.assert_allclose(pose[:3], there.translation_m, atol=1e-5)
        turned = there.rotation.wxyz * np.sign(pose[3:] @ there.rotation.wxyz)
        np.testing.assert_allclose(pose[3:], turned, atol=1e-5)


def test_both_engines_see_the_same_collisions(engine: CuroboEngine) -> None:
    query = engine._core.read(engine._gpu.robot.arm(""), SceneQuery())
    q, shapes = configurations(engine, 10_000), len(query.scene.kind)
    touches = ~engine.free("", q, SceneQuery())
    distances = [query.distances(row, 0.1) for row in q]
    border = np.array([min(d[:, :shapes].min() - INFLATE_M, d[:, shapes:].min()) for d in distances])
    assert 0.02 < touches.mean() < 0.98, "both kinds have to be there"
    differ = touches != (border < 0.0)
    assert np.abs(border[differ]).max(initial=0.0) < ACTIVATION_M
    assert differ.mean() < 0.01, "meshes are not exactly round, but nearly"


def measured(points: Array, cell_m: float = 0.02) -> World:
    """Return a world of which nothing is known but the cells that points occupy, (n, 3), m."""
    grid = VoxelGrid.over((0.5, 0.0, 0.4), (0.8, 1.2, 0.8), cell_m)
    return World(0.0, 5, voxels=VoxelMap.of_points(grid, points, grain_m=0.004))


def test_both_engines_see_the_same_obstacles_that_nobody_modelled(robot: Robot) -> None:
    engine = WaitingEngine(robot, Pose.identity(), lambda _share, _text: None, builds_planners=False)
    try:
        rng = np.random.default_rng(8)
        corners = rng.uniform((0.2, -0.5, 0.1), (0.8, 0.5, 0.7), (12, 3))
        clumps = [corner + rng.uniform(0.0, 0.08, (400, 3)) for corner in corners]
        engine.update_world(measured(np.concatenate(clumps)))
        q = configurations(engine, 4_000)
        touches = ~engine.free("", q, SceneQuery())
        query = engine._core.read(robot.arm(""), SceneQuery())
        shapes, border = len(query.scene.kind), np.empty(len(q))
        for i, row in enumerate(q):
            d = query.distances(row, 0.1)
            border[i] = min(d[:, :shapes].min() - INFLATE_M, d[:, shapes:].min(initial=1.0))
        assert 0.02 < touches.mean() < 0.98, "both kinds have to be there"
        assert not (~touches & (border < -INFLATE_M)).any(), "what touches a cell is not free"
        assert np.abs(border[touches != (border < 0.0)]).max(initial=0.0) < 0.02
        ignoring = SceneQuery(ignored=frozenset({UNMODELLED}))
        assert engine.free("", q, ignoring).mean() > (~touches).mean()
    finally:
        engine.close()


def test_motions_keep_clear_of_what_nobody_modelled(robot: Robot) -> None:
    """A wall of cells stands between start and goal; cuRobo has to go around it, and does it itself."""
    engine = WaitingEngine(robot, Pose.identity(), lambda _share, _text: None)
    referee = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    start = np.array(robot.arm("").home_q)
    start[0] = -0.8
    end = start.copy()
    end[0] = 0.8
    y, z = (part.ravel() for part in np.meshgrid(np.arange(0.3, 0.8, 0.01), np.arange(0.0, 0.45, 0.01)))
    wall = measured(np.column_stack([y, np.zeros(len(y)), z]))
    try:
        for one in (engine, referee):
            one.update_world(wall)
        for seed in range(5):
            request = PlanRequest("", start, JointGoals(end[None]), seed=seed, budget_s=5.0)
            found = engine.plan(request, lambda: False)
            assert found.code is Code.OK and found.trajectory is not None, found.message
            verdict = referee.validate("", found.trajectory, SceneQuery(), start)
            assert verdict.code is Code.OK, verdict.message
        assert engine._gpu.handed_over < 5, "cuRobo has to see the wall"
        batch = [PlanRequest("", start, JointGoals(end[None]), seed=i, budget_s=20.0) for i in range(32)]
        results = engine.plan_batch(batch, lambda: False)
        assert all(one.code is Code.OK for one in results)
    finally:
        engine.close()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_every_robot_is_seen_alike(folder: Path) -> None:
    robot = load_robot(folder)
    engine = CuroboEngine(robot, Pose.identity(), lambda _share, _text: None)
    try:
        engine.update_world(round_world())
        engine._gpu.wait_for_builds()
        for name in robot.arms:
            solvers = engine._batches.configurations(name, SceneQuery())
            query = engine._core.read(robot.arm(name), SceneQuery())
            low, high = query.robot.lower, query.robot.upper
            q = np.random.default_rng(5).uniform(low, high, (300, len(low)))
            poses, touches = solvers.tool_poses(q), ~solvers.free(q)
            places = np.empty((len(q), 12))
            tool_poses(q, query.robot, places)
            np.testing.assert_allclose(poses[:, :3], places[:, 9:], atol=1e-5)
            for row, touch in zip(q, touches, strict=True):
                d, shapes = query.distances(row, 0.1), len(query.scene.kind)
                border = min(d[:, :shapes].min() - INFLATE_M, d[:, shapes:].min(initial=1.0))
                assert touch == (border < 0.0) or abs(border) < ACTIVATION_M, name
    finally:
        engine.close()


def test_no_memory_ends_the_goal_and_the_next_one_is_planned(robot: Robot) -> None:
    import torch

    home, said = np.array(robot.arm("").home_q), []
    made: list[WaitingEngine] = []

    def make() -> CuroboEngine:
        made.append(WaitingEngine(robot, Pose.identity(), lambda _share, _text: None))
        return made[-1]

    guarded = FallbackEngine(make, None, said.append, said.append)
    guarded.update_world(round_world())
    request = PlanRequest("", home, JointGoals(home[None] + 0.1))
    assert guarded.plan(request, lambda: False).code is Code.OK
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(1e-6)
    try:
        lost = guarded.plan(request, lambda: False)
        # Small tensors may still fit into reserved memory; a world that has to grow does not.
        crowd = round_world()
        many = {f"box{i}": WorldObject(f"box{i}", (crowd.objects["BOX"].shapes)) for i in range(200)}
        states = dict.fromkeys(many, crowd.states["BOX"])
        if lost.code is Code.OK:
            guarded.update_world(World(0.0, 2, many, states))
            lost = guarded.plan(request, lambda: False)
        assert lost.code is Code.PLANNER_LOST and "out of memory" in lost.message, lost
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    guarded.update_world(round_world())
    assert guarded.plan(request, lambda: False).code is Code.OK
    assert len(made) == 2 and len(said) == 1
    guarded.close()


def test_inverse_kinematics_of_many_poses_is_finished_by_the_cpu(engine: CuroboEngine, robot: Robot) -> None:
    q = configurations(engine, 3 * POSES // 2)
    poses = tuple(forward(robot, "", row) for row in q)
    request = IkRequest("", poses, np.array(robot.arm("").home_q))
    found = solve_many(
        engine._gpu, request, lambda: engine._batches.configurations("", SceneQuery()), lambda: False
    )
    again = solve_many(
        engine._gpu, request, lambda: engine._batches.configurations("", SceneQuery()), lambda: False
    )
    assert found.codes == again.codes
    query = engine._core.read(robot.arm(""), SceneQuery())
    solved = [i for i, code in enumerate(found.codes) if code is Code.OK]
    assert len(solved) > 0.5 * len(poses) and set(found.codes) <= {
        Code.OK,
        Code.NO_IK,
        Code.GOAL_IN_COLLISION,
    }
    for i in solved[::40]:
        assert forward(robot, "", found.q[i]).almost_equal(poses[i], within_m=1e-4, within_rad=1e-3)
        assert not query.touches(found.q[i])


def test_more_starts_than_curobo_takes_are_refused_before_the_device_is_lost(
    engine: CuroboEngine, robot: Robot
) -> None:
    solvers = engine._batches.configurations("", SceneQuery())
    dof = len(robot.arm("").joint_names)
    with pytest.raises(ValueError, match="give at most"):
        solvers.solve(np.zeros((POSES + 1, 7)), np.zeros((STARTS, dof)), is_free=True)
    assert len(engine.free("", configurations(engine, 10), SceneQuery())) == 10, "the device still works"


def test_no_memory_for_a_batch_ends_it_and_the_next_one_is_planned(robot: Robot) -> None:
    import torch

    home = np.array(robot.arm("").home_q)
    guarded = FallbackEngine(
        lambda: WaitingEngine(robot, Pose.identity(), lambda _share, _text: None), None, print, print
    )
    guarded.update_world(round_world())
    requests = [PlanRequest("", home, JointGoals(home[None] + 0.001 * i), seed=i) for i in range(100)]
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(1e-6)
    try:
        lost = guarded.plan_batch(requests, lambda: False)
        assert {r.code for r in lost} == {Code.PLANNER_LOST} and "out of memory" in lost[0].message, lost[0]
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    found = guarded.plan_batch(requests, lambda: False)
    assert sum(r.code is Code.OK for r in found) > 90
    guarded.close()


def test_a_world_that_outgrows_the_room_is_planned_by_the_cpu_until_there_is_more(robot: Robot) -> None:
    engine = CuroboEngine(robot, Pose.identity(), lambda _share, _text: None)
    crowd, still = round_world(), np.zeros(3)
    many = {f"box{i}": WorldObject(f"box{i}", crowd.objects["BOX"].shapes) for i in range(30)}
    states = {
        name: ObjectState(Pose.of((-1.0, 0.1 * i, 0.1)), still, still, 0.0) for i, name in enumerate(many)
    }
    home = np.array(robot.arm("").home_q)
    request = PlanRequest("", home, JointGoals(home[None] + 0.1))
    try:
        engine.update_world(World(0.0, 2, many, states))
        assert engine._gpu.is_building
        assert engine.plan(request, lambda: False).code is Code.OK
        engine._gpu.wait_for_builds()
        assert engine.plan(request, lambda: False).code is Code.OK
        (solvers,) = engine._gpu._solvers.values()
        assert solvers.room.boxes == 31 and engine._gpu.handed_over == 0
    finally:
        engine.close()


def test_motions_that_the_checks_refuse_are_planned_again_with_the_fine_spheres(robot: Robot) -> None:
    """Spheres that are much too small let cuRobo pass through posts; only the fine set finds good motions then."""
    small = tuple(replace(item, radii=0.2 * item.radii) for item in robot.coarse_spheres)
    engine = WaitingEngine(replace(robot, coarse_spheres=small), Pose.identity(), lambda _share, _text: None)
    referee = CpuEngine(robot, Pose.identity(), lambda _share, _text: None)
    start, still = np.array(robot.arm("").home_q), np.zeros(3)
    start[0] = -0.8
    end = start.copy()
    end[0] = 0.8
    post = WorldObject(
        "post", (Shape(ShapeKind.BOX, np.array((0.05, 0.05, 0.9)), Pose.identity()),), is_static=True
    )
    try:
        for i in range(6):
            angle = 0.1 * i - 0.25
            place = (0.36 * np.cos(angle), 0.36 * np.sin(angle), 0.45)
            state = ObjectState(Pose.of(place), still, still, 0.0)
            world = World(0.0, i + 1, {"post": post}, {"post": state})
            # The fine solvers take longer to build than a request has: its time must not pass in the meantime.
            request = PlanRequest("", start, JointGoals(end[None]), seed=i, budget_s=2.0)
            for one in (engine, referee):
                one.update_world(world)
            found = engine.plan(request, lambda: False)
            assert found.code is Code.OK and found.trajectory is not None, found.message
            verdict = referee.validate("", found.trajectory, SceneQuery(), start)
            assert verdict.code is Code.OK, verdict.message
        assert engine._gpu.planned_again > 0, "some motions have to be refused"
        assert engine._gpu.handed_over < engine._gpu.planned_again, "the fine set has to find some of them"
    finally:
        engine.close()
