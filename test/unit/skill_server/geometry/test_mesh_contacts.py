"""Grasps on a concave mesh: a square ring is held by one of its walls, with a finger in the hole."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.gantry import gantry
from skill_server.geometry.mesh_contacts import inside_mesh, opposite_pairs
from skill_server.grasping.antipodal_grasps import grasps_for
from skill_server.state.gripper_reach import GripperReach

OUTER, INNER, HEIGHT = 0.07, 0.06, 0.06
WALL = OUTER - INNER


def ring() -> Shape:
    """Make walls 1 cm thick around a hole of 12 cm; triangles counter-clockwise from outside."""
    square = np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)])
    loops = [
        np.column_stack([half * square, np.full(4, z)]) for half in (OUTER, INNER) for z in (0.0, HEIGHT)
    ]
    low_out, high_out, low_in, high_in = (4 * k + np.arange(4) for k in range(4))
    quads = []
    for k in range(4):
        n = (k + 1) % 4
        quads += [
            (low_out[k], low_out[n], high_out[n], high_out[k]),
            (low_in[n], low_in[k], high_in[k], high_in[n]),
            (high_out[k], high_out[n], high_in[n], high_in[k]),
            (low_out[n], low_out[k], low_in[k], low_in[n]),
        ]
    triangles = [half for a, b, c, d in quads for half in ((a, b, c), (a, c, d))]
    return Shape(
        ShapeKind.MESH,
        frozen(()),
        Pose.identity(),
        frozen(np.vstack(loops)),
        np.array(triangles, dtype=np.int64),
    )


def test_pairs_go_through_the_material_and_not_over_the_hole() -> None:
    pairs = opposite_pairs(ring())
    assert len(pairs) >= 20
    for direction, centre, width in pairs:
        across = np.abs(centre[:2]).max()
        if abs(direction[2]) < 0.5 and width < 2.0 * OUTER - 1e-9:
            assert width == pytest.approx(WALL)
            assert across == pytest.approx((OUTER + INNER) / 2)
        elif abs(direction[2]) < 0.5:
            assert across > INNER, "all along a wall, never over the hole"
        else:
            assert width == pytest.approx(HEIGHT)
            assert centre[2] == pytest.approx(HEIGHT / 2)


def test_the_hole_is_outside() -> None:
    points = np.array([(0.0, 0.0, 0.03), (0.065, 0.0, 0.03), (0.065, 0.02, 0.07), (0.055, 0.0, 0.03)])
    assert inside_mesh(ring(), points, 0.0).tolist() == [False, True, False, False]
    assert not inside_mesh(ring(), points[1:2], 0.006).any()


def test_a_wall_is_grasped_from_above_with_a_finger_in_the_hole() -> None:
    gripper = gantry().arms["arm"].gripper
    assert gripper is not None
    body, reach = WorldObject("ring", (ring(),)), GripperReach(0.05, gripper.tcp_offset_m + 0.005)
    found = grasps_for(body, Pose.identity(), gripper, reach, 0.08).grasps
    assert found
    assert all(grasp.width_m in (pytest.approx(WALL), pytest.approx(HEIGHT)) for grasp in found)
    best = found[0].world_T_ee
    assert best.rotation.matrix()[2, gripper.ee_axis] < -0.9
    tcp = best.apply(gripper.tcp_offset_m * np.eye(3)[gripper.ee_axis])
    assert np.abs(tcp[:2]).max() == pytest.approx((OUTER + INNER) / 2, abs=1e-3)
