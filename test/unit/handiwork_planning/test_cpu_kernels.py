"""Kernels against slow independent versions on random inputs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

from handiwork_core.contracts.planning import Engine, IkRequest, SceneQuery
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_core.robot import kinematics as slow
from handiwork_core.robot.robot import Robot
from handiwork_planning.distance import sphere_cover
from handiwork_planning.distance.shapes import to_shape
from handiwork_planning.kernels import kinematics
from handiwork_planning.kernels.rng import new_state, uniform
from handiwork_planning.scene.query import Reader
from handiwork_planning.scene.scene import CollisionScene
from handiwork_planning.validation import shape_distances
from support.planning.demo_world import world_of

RNG = np.random.default_rng(5)
CLOUD = RNG.normal(size=(20, 3)) * 0.1
SHAPES = [
    Shape(
        ShapeKind.BOX, np.array([0.1, 0.3, 0.2]), Pose.of((0.1, 0.0, 0.0), Rotation.from_rpy(0.3, 0.2, 0.1))
    ),
    Shape(ShapeKind.SPHERE, np.array([0.15]), Pose.of((0.0, 0.1, 0.0))),
    Shape(
        ShapeKind.CYLINDER, np.array([0.1, 0.3]), Pose.of((0.0, 0.0, 0.1), Rotation.from_rpy(1.0, 0.2, 0.1))
    ),
    Shape(
        ShapeKind.CAPSULE, np.array([0.1, 0.2]), Pose.of((0.0, 0.0, 0.1), Rotation.from_rpy(1.0, 0.2, 0.1))
    ),
    Shape(ShapeKind.CONVEX, np.zeros(0), Pose.of((0.1, 0.1, 0.1), Rotation.from_rpy(0.5, 0.2, 0.1)), CLOUD),
]


def project(shape: Shape, p: Array) -> Array:
    """Return the nearest point of the solid to one outside point, by constrained minimisation or clipping."""
    if shape.kind is ShapeKind.BOX:
        return np.clip(p, -0.5 * shape.size, 0.5 * shape.size)
    if shape.kind is ShapeKind.CONVEX:
        planes = ConvexHull(shape.vertices).equations
        fit = minimize(
            lambda x: float(np.sum((x - p) ** 2)),
            np.mean(CLOUD, axis=0),
            jac=lambda x: 2.0 * (x - p),
            method="SLSQP",
            constraints={
                "type": "ineq",
                "fun": lambda x: -planes[:, :3] @ x - planes[:, 3],
                "jac": lambda _x: -planes[:, :3],
            },
            options={"ftol": 1e-14, "maxiter": 300},
        )
        return np.asarray(fit.x)
    radius = float(shape.size[0])
    if shape.kind is ShapeKind.SPHERE:
        return p / np.linalg.norm(p) * radius
    half = 0.5 * float(shape.size[1])
    axis = np.array([0.0, 0.0, np.clip(p[2], -half, half)])
    if shape.kind is ShapeKind.CAPSULE:
        return axis + (p - axis) / np.linalg.norm(p - axis) * radius
    across = np.array([p[0], p[1], 0.0])
    return axis + across * min(1.0, radius / float(np.linalg.norm(across)))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.kind.name)
def test_distance_of_each_shape_matches_projection_and_the_referee(shape: Shape) -> None:
    scene, pose = CollisionScene(), Pose.of((0.3, -0.2, 0.1), Rotation.from_rpy(0.1, 1.2, -0.4))
    scene.update(world_of(("thing", (shape,), pose)))
    world_T_shape = pose @ shape.object_T_shape
    points = RNG.normal(size=(200, 3)) * 0.25
    fast = np.array([to_shape(scene.arrays, 0, *world_T_shape.apply(p)) for p in points])
    np.testing.assert_allclose(fast, shape_distances.distance(shape, points), atol=1e-9)
    assert (fast < 0.0).any() and (fast > 0.0).any()
    for p, d in zip(points, fast, strict=True):
        if d > 1e-6:
            assert d == pytest.approx(float(np.linalg.norm(p - project(shape, p))), abs=2e-5)


def test_moving_an_object_moves_its_shape_in_place() -> None:
    scene = CollisionScene()
    for x in (0.0, 1.0):
        scene.update(
            world_of(
                ("ball", (Shape(ShapeKind.SPHERE, np.array([0.1]), Pose.identity()),), Pose.of((x, 0, 0)))
            )
        )
        assert to_shape(scene.arrays, 0, x + 0.5, 0.0, 0.0) == pytest.approx(0.4)


SMALL = [
    *(Shape(s.kind, s.size * 0.4, s.object_T_shape) for s in SHAPES[:4]),
    Shape(ShapeKind.CONVEX, np.zeros(0), SHAPES[4].object_T_shape, CLOUD * 0.2),
]


@pytest.mark.parametrize("shape", SMALL, ids=lambda s: s.kind.name)
def test_cover_leaves_no_surface_point_out_and_stands_out_by_no_more_than_stated(shape: Shape) -> None:
    balls, points = sphere_cover.cover(shape), shape_distances.surface(shape)
    gaps = (
        np.linalg.norm(points[:, None, :3] - balls[None, :, :3], axis=2)
        + points[:, None, 3]
        - balls[None, :, 3]
    )
    if shape.kind is not ShapeKind.CAPSULE:
        assert gaps.min(axis=1).max() < 1e-4
    local = shape.object_T_shape.inverse().apply(balls[:, :3])
    assert (shape_distances.distance(shape, local) + balls[:, 3]).max() <= sphere_cover.PROTRUSION_M + 1e-4


def test_forward_kinematics_of_tool_and_spheres(robot: Robot) -> None:
    arm, base = robot.arm(""), Pose.of((0.2, 0.1, 0.3), Rotation.from_rpy(0.1, 0.2, 0.3))
    gripper = arm.gripper
    assert gripper is not None
    query = Reader(robot, base).read(arm, CollisionScene(), SceneQuery(gripper_m=((gripper.joint, 0.013),)))
    q = RNG.uniform(query.robot.lower, query.robot.upper)
    pose, frames = np.empty((1, 12)), query.frames
    kinematics.tool_poses(q[None], query.robot, pose)
    expected = base @ slow.forward(robot, arm.name, q)
    np.testing.assert_allclose(pose[0, :9].reshape(3, 3), expected.rotation.matrix(), atol=1e-9)
    np.testing.assert_allclose(pose[0, 9:], expected.translation_m, atol=1e-9)
    kinematics.forward(q, query.robot.chain, query.robot.joints, query.robot.ratio, frames)
    links = slow.link_poses(
        robot, dict(zip(arm.joint_names, q.tolist(), strict=True)) | {gripper.joint: 0.013}
    )
    for g, spheres in enumerate(s for s in robot.spheres if len(s.radii)):
        frame = frames[query.robot.group_body[g]]
        rows = query.robot.spheres[query.robot.group_start[g] : query.robot.group_start[g + 1]]
        placed = rows[:, :3] @ frame[:9].reshape(3, 3).T + frame[9:]
        np.testing.assert_allclose(placed, (base @ links[spheres.link]).apply(spheres.centers), atol=1e-9)


def test_no_sphere_moves_farther_than_its_reach_allows(robot: Robot) -> None:
    arm = robot.arm("")
    query = Reader(robot, Pose.identity()).read(arm, CollisionScene(), SceneQuery())
    arrays = query.robot
    for _ in range(200):
        a = RNG.uniform(arrays.lower, arrays.upper)
        b = a + RNG.uniform(-0.2, 0.2, len(a))
        bound = arrays.reach @ np.abs(b - a)
        places = []
        for q in (a, b):
            frames = query.frames
            kinematics.forward(q, arrays.chain, arrays.joints, arrays.ratio, frames)
            places.append(
                [
                    frames[body][:9].reshape(3, 3) @ c[:3] + frames[body][9:]
                    for g, body in enumerate(arrays.group_body)
                    for c in arrays.spheres[arrays.group_start[g] : arrays.group_start[g + 1]]
                ]
            )
        moved = np.linalg.norm(np.array(places[1]) - np.array(places[0]), axis=1)
        counts = np.diff(arrays.group_start)
        assert (moved <= np.repeat(bound, counts) + 1e-12).all()


def test_inverse_kinematics_round_trip(robot: Robot, bare_engine: Engine) -> None:
    arm = robot.arm("")
    low = np.array([robot.joints[n].lower for n in arm.joint_names])
    high = np.array([robot.joints[n].upper for n in arm.joint_names])
    poses = tuple(slow.forward(robot, arm.name, RNG.uniform(low, high)) for _ in range(100))
    result = bare_engine.solve_ik(
        IkRequest("", poses, np.array(arm.home_q), avoid_collision=False), lambda: False
    )
    found = [i for i in range(len(poses)) if not np.isnan(result.q[i]).any()]
    assert len(found) >= 99
    for i in found:
        assert slow.forward(robot, arm.name, result.q[i]).almost_equal(
            poses[i], within_m=1e-4, within_rad=1e-4
        )
        assert (result.q[i] >= low).all() and (result.q[i] <= high).all()


def test_random_numbers_repeat_and_are_even() -> None:
    a, b = new_state(-3), new_state(-3)
    first = [uniform(a) for _ in range(4000)]
    assert first == [uniform(b) for _ in range(4000)]
    assert min(first) >= 0.0 and max(first) < 1.0 and abs(np.mean(first) - 0.5) < 0.02
