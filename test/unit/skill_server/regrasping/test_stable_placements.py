"""Stable placements: a face carries an object only with its centre of mass well inside, and what rolls has none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.scene.bounds import world_aabb
from skill_server.regrasping.stable_placements import centre_of_mass, stable_placements

TILT = Pose.of((0.1, -0.2, 0.3), Rotation.from_rpy(0.3, -0.5, 1.1))


def shape(kind: ShapeKind, size: tuple[float, ...], at: Pose | None = None) -> Shape:
    return Shape(kind, np.array(size), at or Pose.identity())


def body(*shapes: Shape) -> WorldObject:
    return WorldObject("thing", shapes)


def box(x: float, y: float, z: float, at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Shape:
    return shape(ShapeKind.BOX, (x, y, z), Pose.of(at))


def downs(thing: WorldObject) -> list[Array]:
    return [placement.down for placement in stable_placements(thing)]


def test_a_box_rests_on_each_of_its_six_sides_the_flattest_first() -> None:
    found = stable_placements(body(box(0.06, 0.05, 0.04)))
    assert len(found) == 6
    assert abs(found[0].down[2]) == pytest.approx(1.0)
    for placement in found:
        assert placement.rotation.matrix() @ placement.down == pytest.approx((0.0, 0.0, -1.0), abs=1e-9)
        low, _ = world_aabb(
            body(box(0.06, 0.05, 0.04)), Pose.of((0.0, 0.0, placement.height_m), placement.rotation)
        )
        assert low[2] == pytest.approx(0.0, abs=1e-9)
    assert found[0].tilt_rad == pytest.approx(math.atan2(0.025, 0.02))


def test_the_frame_of_the_shape_does_not_matter() -> None:
    turned = body(shape(ShapeKind.BOX, (0.06, 0.05, 0.04), TILT))
    assert len(stable_placements(turned)) == 6
    assert centre_of_mass(turned) == pytest.approx(TILT.translation_m)


def test_a_cylinder_rests_on_its_ends_and_not_on_its_round_side() -> None:
    found = downs(body(shape(ShapeKind.CYLINDER, (0.03, 0.08))))
    assert sorted(round(float(down[2])) for down in found) == [-1, 1]


def test_a_ball_rests_nowhere() -> None:
    assert stable_placements(body(shape(ShapeKind.SPHERE, (0.03,)))) == ()


def test_a_thin_rod_does_not_stand_on_its_end() -> None:
    found = downs(body(box(0.02, 0.02, 0.30)))
    assert len(found) == 4
    assert all(abs(down[2]) < 0.1 for down in found)


def test_a_short_arm_lets_an_l_stand_and_a_long_one_overturns_it() -> None:
    """The foot is 4 cm long; the centre of mass is over it only while the arm on top reaches out little."""
    foot = box(0.04, 0.04, 0.10, (0.02, 0.0, 0.05))
    short = body(foot, box(0.05, 0.04, 0.02, (0.025, 0.0, 0.11)))
    long = body(foot, box(0.20, 0.04, 0.02, (0.10, 0.0, 0.11)))
    assert any(down[2] == pytest.approx(-1.0) for down in downs(short))
    assert not any(down[2] == pytest.approx(-1.0) for down in downs(long))
    # It leans on the edge of the foot and the end of the arm, on a face that belongs to no single shape.
    assert any(down[0] > 0.1 and down[2] < -0.1 for down in downs(long))


def test_the_centre_of_mass_is_that_of_the_volumes() -> None:
    thing = body(box(0.1, 0.1, 0.1), box(0.1, 0.1, 0.3, (0.1, 0.0, 0.0)))
    assert centre_of_mass(thing) == pytest.approx((0.075, 0.0, 0.0))


def test_a_wide_margin_removes_small_faces() -> None:
    thing = body(box(0.06, 0.02, 0.02))
    assert len(stable_placements(thing)) == 6
    assert len(stable_placements(thing, margin_m=0.012)) == 0
    assert len(stable_placements(thing, least_tilt_rad=math.radians(30.0))) == 4


def test_a_body_without_a_volume_rests_nowhere() -> None:
    flat = WorldObject("flat", (Shape(ShapeKind.CONVEX, np.zeros(0), Pose.identity(), np.eye(3)),))
    assert stable_placements(flat) == ()
    assert stable_placements(WorldObject("nothing", ())) == ()


def test_the_centre_of_a_concave_mesh_is_that_of_its_material() -> None:
    """An L of two boxes: its hull has its centre elsewhere."""
    outline = np.array([(-50, -15), (50, -15), (50, 105), (35, 105), (35, 5), (-50, 5)]) * 1e-3
    points = np.array([(x, y, z) for y in (-0.02, 0.02) for x, z in outline])
    front = np.array([(0, 1, 4), (0, 4, 5), (1, 2, 4), (2, 3, 4)])
    sides = [t for i in range(6) for j in [(i + 1) % 6] for t in [(i, i + 6, j), (j, i + 6, j + 6)]]
    triangles = np.vstack([front, front[:, ::-1] + 6, sides])
    shape = Shape(ShapeKind.MESH, np.zeros(0), Pose.identity(), points, triangles)
    lower, upper = 0.1 * 0.02, 0.015 * 0.1
    x, z = ((lower * 0.0 + upper * 0.0425), (lower * -0.005 + upper * 0.055))
    expected = np.array([x, 0.0, z]) / (lower + upper)
    centre = centre_of_mass(WorldObject("ell", (shape,)))
    assert centre == pytest.approx(expected, abs=1e-9)
