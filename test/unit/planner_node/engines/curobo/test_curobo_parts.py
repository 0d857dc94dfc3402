"""Parts of the cuRobo engine that need no GPU: splines, solids, rows of the scene, spheres, pose criteria, choices."""

from __future__ import annotations

import gc
from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import BSpline

from handiwork_core.contracts.planning import Attachment, SceneQuery
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import BodyPair
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.robot.robot import Robot
from handiwork_planning.timing.parameterization import Limits
from planner_node.engines import CpuEngine
from planner_node.engines.curobo.model.buffers import BufferSizes
from planner_node.engines.curobo.model.scene_rows import SceneRows
from planner_node.engines.curobo.model.solids import mesh_of
from planner_node.engines.curobo.model.spheres import (
    DEEP_M,
    HELD_SPHERES,
    INFLATE_M,
    SphereSheet,
    coarse,
    objects_off,
    self_offsets,
)
from planner_node.engines.curobo.solvers.criteria import path_weights
from planner_node.engines.curobo.solvers.spline import resampled, timed
from support.planning.demo_world import box, demo_items, world_of

NAMES = ("a", "b")
LIMITS = Limits(np.array([2.0, 1.5]), np.array([10.0, 8.0]), np.array([500.0, 400.0]))


def knot_values(seed: int) -> tuple[Array, BSpline]:
    """Return a cubic B-spline at rest at both ends, and its values at the knots, with cuRobo's rest before it.

    Args:
        seed: Seed of the control points.
    """
    inner = np.random.default_rng(seed).uniform(-1.0, 1.0, (12, 2))
    control = np.concatenate([np.repeat([[0.0, 0.0]], 4, axis=0), inner, np.repeat([[1.0, -0.5]], 4, axis=0)])
    spline = BSpline(np.arange(-3.0, len(control) + 1.0), control, 3)
    return spline(np.arange(len(control) - 2)), spline


@pytest.mark.parametrize("seed", range(3))
def test_a_b_spline_is_found_again_and_is_as_fast_as_the_limits_allow(seed: int) -> None:
    values, spline = knot_values(seed)
    t = timed(values, LIMITS, NAMES)
    jerk = np.diff(t.qdd, axis=0) / np.diff(t.t_s)[:, None]
    shares = [
        float((np.abs(x) / limit).max())
        for x, limit in (
            (t.qd, LIMITS.velocity),
            (t.qdd, LIMITS.acceleration),
            (jerk, LIMITS.jerk),
        )
    ]
    assert max(shares) < 1.0 + 1e-6 and max(shares) > 0.97, shares
    np.testing.assert_array_equal(t.q[[0, -1]], values[[0, -1]])
    assert np.abs(t.qd[[0, -1]]).max() == 0.0 and np.abs(t.qdd[[0, -1]]).max() < 1e-6
    # The first segment is rest and was removed: the rest is the spline from its second knot on.
    share = t.t_s / t.t_s[-1]
    steps = len(values) - 3
    np.testing.assert_allclose(t.q, spline(1.0 + share * steps), atol=1e-9)


def test_a_motion_that_goes_nowhere_has_a_duration() -> None:
    t = timed(np.zeros((5, 2)), LIMITS, NAMES)
    assert t.duration_s > 0.0 and np.abs(t.q).max() == 0.0
    assert resampled(np.zeros((3, 2)), 4).shape == (4, 2)
    np.testing.assert_allclose(
        resampled(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 3.0]]), 5)[:, 1], (0, 0, 1, 2, 3)
    )


@pytest.mark.parametrize(
    ("kind", "size", "volume"),
    [
        (ShapeKind.SPHERE, (0.1,), 4 / 3 * np.pi * 1e-3),
        (ShapeKind.CYLINDER, (0.1, 0.3), np.pi * 3e-3),
        (ShapeKind.CAPSULE, (0.1, 0.3), np.pi * 3e-3 + 4 / 3 * np.pi * 1e-3),
    ],
)
def test_round_solids_are_closed_outward_and_of_the_right_size(
    kind: ShapeKind, size: tuple[float, ...], volume: float
) -> None:
    points, rows = mesh_of(Shape(kind, np.array(size), Pose.identity()))
    corners = points[rows]
    inside = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0
    assert inside == pytest.approx(volume, rel=0.02)
    edges = np.sort(rows[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    assert (counts == 2).all(), "every edge has two triangles"
    radius = np.linalg.norm(points[:, :2], axis=1).max()
    assert radius == pytest.approx(0.1, rel=0.005)


def test_a_hull_keeps_its_corners() -> None:
    corners = np.array([(x, y, z) for x in (0.0, 0.2) for y in (0.0, 0.1) for z in (0.0, 0.4)])
    points, rows = mesh_of(Shape(ShapeKind.CONVEX, np.zeros(0), Pose.identity(), corners))
    np.testing.assert_allclose(np.ptp(points, axis=0), (0.2, 0.1, 0.4))
    turned = points[rows]
    assert np.einsum(
        "ij,ij->i", turned[:, 0], np.cross(turned[:, 1], turned[:, 2])
    ).sum() / 6 == pytest.approx(8e-3)


def test_rows_of_the_scene_are_in_the_base_frame_and_count_geometry(
    robot: Robot, bare_engine: CpuEngine
) -> None:
    world_T_base = Pose.of((1.0, 2.0, 0.0), Rotation.from_rpy(0.0, 0.0, 0.7))
    rows, scene = SceneRows(world_T_base), bare_engine._core.scene
    can = (
        "can",
        (Shape(ShapeKind.CYLINDER, np.array((0.05, 0.2)), Pose.identity()),),
        Pose.of((0.3, 0.0, 0.1)),
    )
    items = [*demo_items(), can]
    world = world_of(*items)
    bare_engine.update_world(world)
    first = rows.read(scene, world, {"cube"})
    assert len(first.boxes) == 7 and len(first.solids) == 1 and first.solid_on.all()
    assert first.box_on.tolist() == [True, False, *[True] * 5]
    shape_T_base = Pose.of(first.solid_poses[0, :3], Rotation.from_wxyz(first.solid_poses[0, 3:]))
    assert (world_T_base @ shape_T_base.inverse()).almost_equal(can[2], within_m=1e-9, within_rad=1e-6)
    moved = replace(
        world, states={**world.states, "can": replace(world.states["can"], world_T_object=Pose.identity())}
    )
    bare_engine.update_world(moved)
    second = rows.read(scene, moved, set())
    assert second.geometry == first.geometry and second.box_on.all()
    assert np.abs(second.solid_poses - first.solid_poses).max() > 0.05
    np.testing.assert_array_equal(second.box_poses, first.box_poses)
    other = world_of(*items[:-1])
    bare_engine.update_world(other)
    assert rows.read(scene, other, set()).geometry not in (0, first.geometry)
    assert rows.read(scene, other, set()) is rows.read(scene, other, set()), "nothing changed"
    assert (
        BufferSizes(4, 1).for_rows(first) == BufferSizes(8, 2)
        and BufferSizes().for_rows(first) == BufferSizes()
    )


def test_spheres_follow_the_gripper_what_is_held_and_what_may_touch(
    robot: Robot, bare_engine: CpuEngine
) -> None:
    arm, core = robot.arm(""), bare_engine._core
    assert arm.gripper is not None
    sheet, home, held_link = SphereSheet(robot, arm, "held"), np.array(arm.home_q), "held"
    world = world_of(*demo_items())
    bare_engine.update_world(world)

    def rows(scene: SceneQuery) -> dict[str, Array]:
        return sheet.rows(scene, world, core.read(arm, scene), home[None])

    plain = rows(SceneQuery())
    assert rows(SceneQuery()) is plain, "nothing changed"
    finger = arm.gripper.finger_links[0]
    radii = {s.link: s.radii for s in robot.spheres}
    np.testing.assert_allclose(plain[finger][:, 3], radii[finger] + INFLATE_M)
    np.testing.assert_allclose(plain[arm.base_link][:, 3], radii[arm.base_link] - DEEP_M)
    offsets = self_offsets(robot, arm, held_link)
    for link in (finger, arm.base_link):
        np.testing.assert_allclose(plain[link][:, 3] + offsets[link], radii[link])
    assert (plain[held_link][:, 3] < 0.0).all() and len(plain[held_link]) == HELD_SPHERES

    shut = rows(SceneQuery(gripper_m=((arm.gripper.joint, 0.0),)))
    moved = np.abs(shut[finger][:, :3] - plain[finger][:, :3])
    assert moved.max() == pytest.approx(0.04, abs=1e-6)
    cube = Attachment("cube", arm.ee_link, Pose.of((0.0, 0.0, 0.1)))
    carrying = rows(SceneQuery(attached=(cube,)))[held_link]
    used = carrying[carrying[:, 3] > 0.0]
    assert np.abs(used[:, :3] - (0.0, 0.0, 0.1)).max() < 0.04
    allowed = frozenset(
        {BodyPair(f"{robot.name}/{finger}", "table"), BodyPair("cube", f"{robot.name}/{finger}")}
    )
    scene = SceneQuery(allowed=allowed)
    assert objects_off(scene, world) == {"cube"}, "the table is too large to be overlooked"
    assert (rows(scene)[finger][:, 3] < -50.0).all()


def test_spheres_of_a_held_object_are_kept_for_its_newest_version_only(
    robot: Robot, bare_engine: CpuEngine
) -> None:
    """Each version of the held object has spheres of its own size, and older versions are freed."""
    arm, core = robot.arm(""), bare_engine._core
    sheet, home = SphereSheet(robot, arm, "held"), np.array(arm.home_q)
    name = "held in this test only"
    scene = SceneQuery(attached=(Attachment(name, arm.ee_link, Pose.of((0.0, 0.0, 0.3))),))
    for i in range(40):
        edge = 0.01 + 0.0001 * i
        world = world_of((name, (box((edge, edge, edge)),), Pose.of((2.0, 2.0, 2.0))))
        bare_engine.update_world(world)
        held = sheet.rows(scene, world, core.read(arm, scene), home[None])["held"]
        reach = np.linalg.norm(held[:, :3] - (0.0, 0.0, 0.3), axis=1) + held[:, 3]
        assert reach[held[:, 3] > 0.0].max() >= 0.5 * edge
    del world
    gc.collect()
    kept = [o for o in gc.get_objects() if isinstance(o, WorldObject) and o.name == name]
    assert len(kept) <= 3


def test_spheres_of_what_touches_shrink_until_it_is_clear(robot: Robot, bare_engine: CpuEngine) -> None:
    arm, core, home = robot.arm(""), bare_engine._core, np.array(robot.arm("").home_q)
    bare_engine.update_world(world_of())
    hand = core.read(arm, SceneQuery()).bodies.index(f"{robot.name}/{arm.ee_link}")
    query = core.read(arm, SceneQuery())
    from handiwork_core.robot.kinematics import forward

    tool = forward(robot, "", home).translation_m
    world = world_of(("post", (box((0.02, 0.02, 0.02)),), Pose.of(tool + np.array((0.5, 0.0, 0.0)))))
    bare_engine.update_world(world)
    query = core.read(arm, SceneQuery())
    gap = float(query.distances(home, 1.0)[hand, 0])
    near = world_of(
        ("post", (box((0.02, 0.02, 0.02)),), Pose.of(tool + np.array((0.5 - gap + 0.001, 0.0, 0.0))))
    )
    bare_engine.update_world(near)
    query = core.read(arm, SceneQuery())
    now = float(query.distances(home, 0.1)[hand, 0])
    rows = SphereSheet(robot, arm, "held").rows(SceneQuery(), near, query, home[None])
    radii = {s.link: s.radii for s in robot.spheres}[arm.ee_link]
    shrunk = radii + INFLATE_M - rows[arm.ee_link][:, 3]
    assert shrunk.max() == pytest.approx(max(0.0, INFLATE_M + 0.001 - now), abs=1e-9) and shrunk.max() > 0.0


def test_a_coarse_cover_covers() -> None:
    rng = np.random.default_rng(0)
    fine = np.column_stack([rng.uniform(-0.03, 0.03, (400, 3)), np.full(400, 0.003)])
    few = coarse(fine, 40)
    assert len(few) <= 40
    gap = np.linalg.norm(fine[:, None, :3] - few[None, :, :3], axis=2) + fine[:, None, 3] - few[None, :, 3]
    assert gap.min(axis=1).max() < 1e-9


def test_held_components_are_turned_into_the_order_of_curobo() -> None:
    assert path_weights(None) == (0.0,) * 6
    assert path_weights((1, 0, 2, 0, 0.5, 0)) == (0.0, 1.0, 0.0, 1.0, 0.0, 1.0)
