"""The referee's distances are right, and it finds every fault that is planted."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from benchmarks.mbm.problems import load_problems
from benchmarks.mbm.referee import Referee, densified, hermite
from benchmarks.mbm.solids import distance, world_distance

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)

HERE = Pose.identity()
TILTED = Pose.of((0.2, -0.1, 0.4), Rotation.from_rpy(0.3, -0.8, 1.9))


def world_with(shape: Shape, place: Pose) -> World:
    """Return a world with one object.

    Args:
        shape: Shape of the object.
        place: world_T_object.
    """
    still = np.zeros(3)
    return World(
        0.0, 1, {"thing": WorldObject("thing", (shape,))}, {"thing": ObjectState(place, still, still, 0.0)}
    )


def surface(kind: ShapeKind, size: np.ndarray) -> np.ndarray:
    """Return points (m, 3) that cover the surface of a shape, about 5 mm apart.

    Args:
        kind: Kind of the shape.
        size: Its size, m.
    """
    if kind is ShapeKind.BOX:
        axes = [np.linspace(-0.5 * s, 0.5 * s, max(2, int(s / 0.004))) for s in size]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        return grid[(np.abs(np.abs(grid) - 0.5 * size) < 1e-9).any(axis=1)]
    turns = np.linspace(0.0, 2.0 * np.pi, 200)
    if kind is ShapeKind.CYLINDER:
        radii, heights = np.linspace(0.0, size[0], 40), np.linspace(-0.5 * size[1], 0.5 * size[1], 80)
        side = [(size[0], h) for h in heights]
        rings = side + [(r, s * 0.5 * size[1]) for r in radii for s in (-1.0, 1.0)]
    else:
        straight = 0.5 * size[1] if kind is ShapeKind.CAPSULE else 0.0
        lift = np.linspace(0.0, 0.5 * np.pi, 60)
        caps = [(size[0] * np.cos(a), s * (straight + size[0] * np.sin(a))) for a in lift for s in (-1, 1)]
        rings = caps + [(size[0], h) for h in np.linspace(-straight, straight, 60)]
    return np.array([(r * np.cos(t), r * np.sin(t), h) for r, h in rings for t in turns])


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (ShapeKind.BOX, [0.2, 0.1, 0.3]),
        (ShapeKind.CYLINDER, [0.08, 0.3]),
        (ShapeKind.CAPSULE, [0.08, 0.2]),
        (ShapeKind.SPHERE, [0.12]),
    ],
)
def test_distance_is_that_of_the_nearest_surface_point(kind, size):
    size = np.array(size)
    points = np.random.default_rng(1).uniform(-0.3, 0.3, (60, 3)) * np.repeat([0.3, 1.0], 30)[:, None]
    found = distance(Shape(kind, size, HERE), points)
    nearest = np.linalg.norm(points[:, None] - surface(kind, size), axis=-1).min(axis=1)
    np.testing.assert_allclose(np.abs(found), nearest, atol=3e-3)
    assert (found < 0.0).any()
    assert (found > 0.0).any()


def test_a_hull_of_a_boxs_corners_is_the_box():
    size = np.array([0.2, 0.1, 0.3])
    corners = 0.5 * size * [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    points = np.random.default_rng(2).uniform(-0.3, 0.3, (500, 3))
    hull = distance(Shape(ShapeKind.CONVEX, np.zeros(0), HERE, corners), points)
    np.testing.assert_allclose(hull, distance(Shape(ShapeKind.BOX, size, HERE), points), atol=1e-12)


def test_distance_in_the_world_minds_both_frames():
    shape = Shape(
        ShapeKind.BOX, np.array([0.2, 0.1, 0.3]), Pose.of((0.0, 0.3, 0.0), Rotation.from_rpy(0.5, 0, 0))
    )
    points = np.random.default_rng(3).uniform(-0.5, 0.5, (50, 3))
    placed = (TILTED @ shape.object_T_shape).apply(points)
    np.testing.assert_allclose(
        world_distance(world_with(shape, TILTED), placed), distance(shape, points), atol=1e-12
    )


@pytest.mark.parametrize(
    ("kind", "size", "half"),
    [
        (ShapeKind.BOX, [0.2, 0.1, 0.3], 0.05),
        (ShapeKind.CYLINDER, [0.04, 0.3], 0.04),
        (ShapeKind.SPHERE, [0.1], 0.1),
    ],
)
def test_a_body_put_into_the_arm_is_found_with_its_depth(panda, kind, size, half):
    referee, q = Referee(panda.robot, panda.world_T_root), panda.robot.arm("").home_q
    centres = referee.spheres(q[None])[0]
    radii = np.concatenate([s.radii for s in panda.robot.spheres])
    farthest = int(np.argmax(centres[:, 0] + radii))
    for depth in (0.0021, 0.0019, -0.01):
        # The narrow side of the body, local y, faces the sphere that reaches farthest to the front.
        beyond = centres[farthest] + [radii[farthest] - depth + half, 0.0, 0.0]
        place = Pose.of(beyond, Rotation.from_axis_angle((0, 0, 1), np.pi / 2))
        world = world_with(Shape(kind, np.array(size), HERE), place)
        ruling = referee.path(np.array([q, q]), q, q[None], world)
        assert ruling.depth_m == pytest.approx(depth, abs=1e-9)
        assert ruling.clean == (depth < 0.002)


def test_a_folded_arm_touches_itself(panda):
    referee = Referee(panda.robot, panda.world_T_root)
    folded = np.array([0.8, -0.8, -2.7, -3.1, 1.9, 3.5, 0.6])
    to_world, to_self = referee.clearance(folded[None], World(0.0))
    assert to_world == np.inf
    assert to_self < -0.002
    assert not referee.path(np.array([folded, folded]), folded, folded[None], World(0.0)).clean


def test_a_plate_between_two_way_points_is_found(panda):
    referee, q = Referee(panda.robot, panda.world_T_root), panda.robot.arm("").home_q
    a, b = q + [-1.2, 0, 0, 0, 0, 0, 0], q + [1.2, 0, 0, 0, 0, 0, 0]
    plate = Shape(ShapeKind.BOX, np.array([0.3, 0.005, 0.3]), HERE)
    world = world_with(plate, Pose.of((0.35, 0.0, 0.6)))
    assert min(referee.clearance(np.array([a, b]), world)) > 0.0
    assert referee.path(np.array([a, b]), a, b[None], world).world_m < -0.03


def test_wrong_ends_and_limits_are_found(panda):
    referee, q = Referee(panda.robot, panda.world_T_root), panda.robot.arm("").home_q
    path = np.array([q, q + 0.1])
    assert referee.path(path, q, path[1:], World(0.0)).clean
    assert not referee.path(path, q + 0.002, path[1:], World(0.0)).ends
    assert not referee.path(path, q, path[1:] + 0.002, World(0.0)).ends
    assert referee.path(path, q, np.array([q + 5.0, path[1]]), World(0.0)).ends
    beyond = np.array([q, q + [4.0, 0, 0, 0, 0, 0, 0]])
    assert not referee.path(beyond, q, beyond[1:], World(0.0)).limits


def quintic(a, b, duration):
    """Return a motion from rest to rest. Its largest rates are 1.875 / T, 5.774 / T^2 and 60 / T^3 times the distance.

    Args:
        a: Joint positions at the start, (n,), rad.
        b: Joint positions at the end, (n,), rad.
        duration: Duration T, s.
    """
    t = np.linspace(0.0, duration, 101)
    u = (t / duration)[:, None]
    shape = (u**3 * (10 - 15 * u + 6 * u**2), 30 * u**2 * (1 - u) ** 2, 60 * u * (1 - u) * (1 - 2 * u))
    rows = [(b - a) * s / duration**i for i, s in enumerate(shape)]
    return Trajectory(tuple("abcdefg"), t, a + rows[0], rows[1], rows[2])


def test_rates_are_measured_against_the_limits(panda):
    referee, q = Referee(panda.robot, panda.world_T_root), panda.robot.arm("").home_q
    goal = q + [0.5, 0, 0, 0, 0, 0, 0]
    motion = quintic(q, goal, 1.0)
    ruling = referee.timed(motion, q, goal[None], World(0.0))
    assert ruling.rates["velocity"] == pytest.approx(0.5 * 1.875 / 2.175, rel=1e-3)
    assert ruling.rates["acceleration"] == pytest.approx(0.5 * 5.7735 / 15.0, rel=1e-2)
    assert ruling.rates["jerk"] == pytest.approx(0.5 * 60.0 / 7500.0, rel=5e-2)
    assert ruling.clean
    assert ruling.in_rates
    assert not referee.timed(quintic(q, goal, 0.3), q, goal[None], World(0.0)).in_rates
    lying = dataclasses.replace(motion, qd=0.1 * motion.qd, t_s=0.2 * motion.t_s)
    assert not referee.timed(lying, q, goal[None], World(0.0)).in_rates
    moving = dataclasses.replace(motion, qd=motion.qd + 0.01)
    assert not referee.timed(moving, q, goal[None], World(0.0)).in_rates


def test_curves_are_followed_between_samples(panda):
    q = panda.robot.arm("").home_q
    ends = Trajectory(
        tuple("abcdefg"), np.array([0.0, 1.0]), np.array([q, q]), np.ones((2, 7)), np.zeros((2, 7))
    )
    curve = hermite(ends)
    expected = np.array([ends.sample(t)[0] for t in np.linspace(0.0, 1.0, len(curve))])
    np.testing.assert_allclose(curve, expected, atol=1e-12)
    assert np.abs(np.diff(curve, axis=0)).max() <= 0.011
    line = densified(np.array([q, q + 0.3, q]))
    assert np.abs(np.diff(line, axis=0)).max() <= 0.01 + 1e-12
    assert np.abs(line - (q + 0.3)).max(axis=1).min() < 1e-12


def test_straight_motions_of_published_problems_touch_what_the_definition_says(sphere_robot):
    """Compare with one sample at a time, one sphere at a time."""
    referee = Referee(sphere_robot.robot, sphere_robot.world_T_root)
    problem = load_problems(sphere_robot.robot.name, ["cage"], per_scene=1)[0]
    line = densified(np.array([problem.start, problem.goals[0]]))[::25]
    radii = np.concatenate([s.radii for s in sphere_robot.robot.spheres])
    slow = min(
        float(world_distance(problem.world, centre[None])[0] - radius)
        for q in line
        for centre, radius in zip(referee.spheres(q[None])[0], radii, strict=True)
    )
    assert referee.clearance(line, problem.world)[0] == pytest.approx(slow, abs=1e-12)
