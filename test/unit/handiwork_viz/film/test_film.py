"""The software renderer draws the nearest surface, fills triangles exactly, and its films can be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pictures

from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_viz.film.camera import Camera
from handiwork_viz.film.film import best_moment, write_film
from handiwork_viz.film.picture import Studio
from handiwork_viz.film.rasterizer import fill
from handiwork_viz.film.recorder import Instant
from handiwork_viz.film.solids import joined, solid_of


def drawn(*triangles: list[tuple[float, float, float]]) -> np.ndarray:
    """Draw triangles into 10 rows of 12 pixels; return the index of the triangle at each pixel, -1 for none.

    Args:
        triangles: Three corners each, in pixels, with their depth.
    """
    index = np.full((10, 12), -1, dtype=np.int32)
    fill(np.array(triangles, dtype=np.float32), 0, np.zeros((10, 12), dtype=np.float32), index)
    return index


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1)])
def test_a_triangle_covers_the_pixels_whose_centres_lie_inside(order: tuple[int, int, int]) -> None:
    corners = [(0.0, 0.0, 1.0), (8.0, 0.0, 1.0), (0.0, 8.0, 1.0)]
    rows, columns = np.mgrid[:10, :12] + 0.5
    assert np.array_equal(drawn([corners[i] for i in order]) == 0, rows + columns <= 8.0)


@pytest.mark.parametrize("first", [0, 1])
def test_the_nearer_triangle_wins_in_either_order(first: int) -> None:
    near = [(0.0, 0.0, 2.0), (6.0, 0.0, 2.0), (0.0, 6.0, 2.0)]
    far = [(0.0, 0.0, 1.0), (9.0, 0.0, 1.0), (0.0, 9.0, 1.0)]
    index = drawn(near, far) if first == 0 else drawn(far, near)
    assert index[1, 1] == first
    assert index[4, 3] == 1 - first


def test_triangles_that_cross_meet_where_their_depths_are_equal() -> None:
    rising = [(0.0, 0.0, 0.0), (12.0, 0.0, 12.0), (0.0, 24.0, 0.0)]
    level = [(0.0, 0.0, 4.0), (12.0, 0.0, 4.0), (0.0, 24.0, 4.0)]
    assert drawn(rising, level)[0, :12].tolist() == [1] * 4 + [0] * 8


def test_what_is_outside_or_behind_the_camera_draws_nothing() -> None:
    assert (drawn([(-9.0, -9.0, 1.0), (-1.0, -9.0, 1.0), (-9.0, -1.0, 1.0)]) == -1).all()
    assert (drawn([(float("nan"), 0.0, 1.0), (9.0, 0.0, 1.0), (0.0, 9.0, 1.0)]) == -1).all()


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (ShapeKind.BOX, [0.2, 0.3, 0.4]),
        (ShapeKind.SPHERE, [0.1]),
        (ShapeKind.CYLINDER, [0.1, 0.4]),
        (ShapeKind.CAPSULE, [0.1, 0.2]),
    ],
)
def test_surfaces_are_closed_and_have_the_shape_s_extent(kind: ShapeKind, size: list[float]) -> None:
    solid = solid_of(Shape(kind, frozen(size), Pose.identity()), (1.0, 0.0, 0.0), 0.01)
    areas = np.cross(*(solid.corners[:, i] - solid.corners[:, 0] for i in (1, 2)))
    outward = np.sign(np.einsum("ni,ni->n", areas, solid.normals.mean(axis=1)))
    assert np.allclose((areas * outward[:, None]).sum(axis=0), 0.0, atol=1e-9)
    wanted = {
        ShapeKind.BOX: size,
        ShapeKind.SPHERE: [0.2, 0.2, 0.2],
        ShapeKind.CYLINDER: [0.2, 0.2, 0.4],
        ShapeKind.CAPSULE: [0.2, 0.2, 0.4],
    }[kind]
    assert np.allclose(np.ptp(solid.corners.reshape(-1, 3), axis=0), wanted, atol=1e-6)


def test_a_body_is_seen_where_it_stands_and_throws_a_shadow() -> None:
    cube = solid_of(Shape(ShapeKind.BOX, frozen([0.3, 0.3, 0.3]), Pose.identity()), (1.0, 0.0, 0.0), 0.01)
    camera = Camera(frozen([0.5, 2.0, 2.0]), frozen([0.0, 0.0, 0.15]))
    studio = Studio({"cube": cube}, joined([]), 0.0, (96, 72), camera)
    empty = studio.take({}).astype(int)
    seen = studio.take({"cube": Pose.of((0.0, 0.0, 0.15))}).astype(int)
    red, green, _blue = seen[36, 48]
    assert red > 2 * green
    gray = np.ptp(seen, axis=-1) < 40
    assert (gray & (seen.sum(axis=-1) < 0.9 * empty.sum(axis=-1))).sum() > 20


def test_a_film_of_two_frames_can_be_read(tmp_path: Path) -> None:
    frames = [np.full((30, 48, 3), tone, dtype=np.uint8) for tone in (40, 200)]
    write_film(frames, 0.1, tmp_path / "new" / "film.webp")
    with Pictures.open(tmp_path / "new" / "film.webp") as film:
        assert (film.n_frames, film.size) == (2, (48, 30))
        for i, frame in enumerate(frames):
            film.seek(i)
            assert abs(int(np.asarray(film.convert("RGB")).mean()) - int(frame.mean())) < 5


def test_a_film_without_frames_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one frame"):
        write_film([], 0.1, tmp_path / "film.webp")


def test_the_best_moment_is_when_the_object_is_highest_over_the_container() -> None:
    places = [(0.5, 0.0, 0.5), (0.0, 0.01, 0.2), (0.01, 0.0, 0.3), (0.0, 0.0, 0.02)]
    instants = [Instant({}, {"bin": Pose.identity(), "cube": Pose.of(place)}) for place in places]
    assert best_moment(instants, "cube", "bin") == 2
    assert best_moment(instants, "cube", "shelf") == 2
    assert best_moment(instants[:1], "cube", "bin") == 0
