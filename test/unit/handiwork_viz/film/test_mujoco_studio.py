"""MuJoCo's renderer draws what the rasterizer draws, where EGL or OSMesa is; elsewhere the rasterizer draws."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_viz.film import drawing
from handiwork_viz.film.camera import Camera
from handiwork_viz.film.drawing import draw
from handiwork_viz.film.mujoco_studio import MujocoStudio, drawing_library
from handiwork_viz.film.picture import Studio
from handiwork_viz.film.rasterizer import Image
from handiwork_viz.film.solids import BodyTriangles, joined, solid_of

CAMERA = Camera(frozen([0.5, 2.0, 2.0]), frozen([0.0, 0.0, 0.15]))
PLACE = {"cube": Pose.of((0.1, 0.0, 0.15))}


def cube() -> dict[str, BodyTriangles]:
    box = Shape(ShapeKind.BOX, frozen([0.3, 0.3, 0.3]), Pose.identity())
    return {"cube": solid_of(box, (1.0, 0.0, 0.0), 0.01)}


def red(image: Image) -> np.ndarray:
    pixels = image.astype(int)
    return (pixels[..., 0] > 1.6 * pixels[..., 1]) & (pixels[..., 0] > 40)


def test_both_renderers_see_a_body_at_the_same_pixels() -> None:
    if not drawing_library():
        pytest.skip("neither EGL nor OSMesa draws here (Debian: apt install libegl1 libgl1-mesa-dri)")
    studio = MujocoStudio(cube(), joined([]), 0.0, (160, 120), CAMERA)
    try:
        empty, seen = studio.take({}), studio.take(PLACE)
    finally:
        studio.close()
    own = Studio(cube(), joined([]), 0.0, (160, 120), CAMERA).take(PLACE)
    assert not red(empty).any()
    both = (red(seen) & red(own)).sum()
    assert both > 300
    assert both > 0.9 * (red(seen) | red(own)).sum()


def test_where_nothing_draws_the_rasterizer_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handiwork_viz.film.mujoco_studio.drawing_library", lambda: "")
    (seen,) = draw(cube(), joined([]), 0.0, (96, 72), [PLACE], CAMERA)
    assert np.array_equal(seen, Studio(cube(), joined([]), 0.0, (96, 72), CAMERA).take(PLACE))


def test_mujoco_draws_where_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Renderer:
        def __init__(self, *parts: object) -> None:
            made.append(parts)

        def take(self, _poses: object) -> str:
            return "picture"

        def close(self) -> None:
            made.append("closed")

    monkeypatch.setattr(drawing, "MujocoStudio", Renderer)
    assert draw(cube(), joined([]), 0.0, (96, 72), [PLACE, {}], CAMERA) == ["picture", "picture"]
    assert made[-1] == "closed"
