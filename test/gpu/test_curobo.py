"""Tests that need a GPU: both engines judge alike, and a GPU without memory ends the goal, not the planner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from handiwork_core.contracts.planning import JointGoals, PlanRequest, SceneQuery
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
from handiwork_planning.fallback_engine import FallbackEngine
from handiwork_planning.kernels.kinematics import tool_poses
from planner_node.engines import CuroboEngine
from planner_node.engines.curobo.model.spheres import INFLATE_M
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


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(ROBOTS / "fr3")


@pytest.fixture(scope="module")
def engine(robot: Robot) -> Iterator[CuroboEngine]:
    made = CuroboEngine(robot, Pose.identity(), lambda _share, _text: None)
    made.update_world(round_world())
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
    (solvers,) = engine._gpu._solvers.values()
    q = configurations(engine, 500)
    poses, _ = solvers.look(q)
    for row, pose in zip(q, poses, strict=True):
        there = forward(robot, "", row)
        np.testing.assert_allclose(pose[:3], there.translation_m, atol=1e-5)
        turned = there.rotation.wxyz * np.sign(pose[3:] @ there.rotation.wxyz)
        np.testing.assert_allclose(pose[3:], turned, atol=1e-5)


def test_both_engines_see_the_same_collisions(engine: CuroboEngine) -> None:
    (solvers,) = engine._gpu._solvers.values()
    query = engine._core.read(engine._gpu.robot.arm(""), SceneQuery())
    q, shapes = configurations(engine, 10_000), len(query.scene.kind)
    _, touches = solvers.look(q)
    distances = [query.distances(row, 0.1) for row in q]
    border = np.array([min(d[:, :shapes].min() - INFLATE_M, d[:, shapes:].min()) for d in distances])
    assert 0.02 < touches.mean() < 0.98, "both kinds have to be there"
    differ = touches != (border < 0.0)
    assert np.abs(border[differ]).max(initial=0.0) < ACTIVATION_M
    assert differ.mean() < 0.01, "meshes are not exactly round, but nearly"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_every_robot_is_seen_alike(folder: Path) -> None:
    robot = load_robot(folder)
    engine = CuroboEngine(robot, Pose.identity(), lambda _share, _text: None)
    try:
        engine.update_world(round_world())
        for name, solvers in engine._gpu._solvers.items():
            query = engine._core.read(robot.arm(name), SceneQuery())
            low, high = query.robot.lower, query.robot.upper
            q = np.random.default_rng(5).uniform(low, high, (300, len(low)))
            poses, touches = solvers.look(q)
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
    made: list[CuroboEngine] = []

    def make() -> CuroboEngine:
        made.append(CuroboEngine(robot, Pose.identity(), lambda _share, _text: None))
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
