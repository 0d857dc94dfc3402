"""Spheres of meshes that do not close: they stick out by no more than is said, and leave no large part bare."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import Indices
from robot_description.solids.mesh_solid import MeshSolid
from robot_description.spheres.sphere_cover import coverage, fitted

QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def box(half_m: float) -> tuple[Array, Indices]:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half_m
    fans = [(a, b, c) for a, b, c, _ in QUADS] + [(a, c, d) for a, _, c, d in QUADS]
    return corners, np.array(fans)


def test_spheres_that_are_made_smaller_leave_no_large_part_bare() -> None:
    # A hollow box with walls of 4 mm whose outer skin lacks the face at +z.
    (outer, skin), (inner, cavity) = box(0.04), box(0.036)
    triangles = np.concatenate([np.delete(skin, [5, 11], axis=0), cavity[:, ::-1] + 8])
    solids = (MeshSolid.of(np.concatenate([outer, inner]), triangles, 0.003),)
    found = coverage(fitted({"hollow": solids}, 0.01)[0], solids)
    assert found.protrusion_m <= 0.01
    assert found.gap_m < 0.006
