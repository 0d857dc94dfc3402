"""Closings of hulls: a pad on a face, the other over it, and none that would tip the body."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Array
from skill_server.grasping.opposite_faces import face_closings


def prism(corners: int, radius: float, height: float) -> Array:
    angle = 2.0 * np.pi * np.arange(corners) / corners
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([np.column_stack([ring, np.full(corners, z)]) for z in (-height / 2, height / 2)])


@pytest.mark.parametrize("corners", [4, 6, 8])
def test_parallel_faces_are_closed_on_through_their_middle(corners: int) -> None:
    found = face_closings(prism(corners, 0.03, 0.1))
    assert len(found) == corners // 2 + 1
    for direction, centre in found:
        assert np.linalg.norm(direction) == pytest.approx(1.0)
        assert np.abs(centre).max() < 1e-9


def test_an_edge_opposite_of_a_face_is_pushed_over_the_face() -> None:
    found = face_closings(prism(3, 0.03, 0.1))
    sides = [(d, c) for d, c in found if abs(d[2]) < 0.5]
    assert len(sides) == 3
    for direction, centre in sides:
        # From the face, at 15 mm, to the edge, at 30 mm: the middle lies 7.5 mm towards the edge.
        assert float(centre @ direction) == pytest.approx(0.5 * (0.015 - 0.03), abs=1e-9)


def test_a_corner_that_is_not_over_the_face_is_no_contact() -> None:
    leaning = np.array([[0, 0, 0], [0.02, 0, 0], [0, 0.02, 0], [0.1, 0.1, 0.05]])
    assert not [d for d, _ in face_closings(leaning) if abs(d[2]) > 0.999]


def test_a_flat_body_has_no_closing() -> None:
    assert face_closings(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], dtype=float)) == []
