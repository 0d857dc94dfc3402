"""The view of a situation from which the things that are asked about are seen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from conditionals_node.scoring.situations import Situation
from handiwork_core.model.geometry import Array, frozen
from handiwork_viz.film.camera import Camera
from handiwork_viz.film.rasterizer import Indices, fill
from handiwork_viz.film.solids import BodyTriangles, joined

SIZE_PX = (160, 120)
"""Size of the pictures in which pixels are counted."""
ENOUGH = 0.25
"""Share of a thing that must be seen: pixels of it among those that it has alone."""
FIRST = np.array([-0.75, -0.95, 0.75])
"""Direction from the things to the camera: the side from which openings to the robot are seen."""
TURNS_DEG = (0.0, 90.0, -90.0, 180.0)
HEIGHTS = (0.75, 1.6, 3.0, 0.25)
"""Heights of the camera beside its distance in the plane, which is that of ``FIRST``."""


def asked(situation: Situation) -> tuple[str, ...]:
    """Return the things that the questions about a situation name, other than the table.

    Args:
        situation: The situation.
    """
    words = {word for question in situation.questions for word in re.findall(r"\w+", question.expression)}
    return tuple(name for name in situation.complete.objects if name in words and name != "table")


def directions() -> list[Array]:
    """Return the directions to the camera that are tried, (3,) each, the usual one first."""
    found = []
    for height in HEIGHTS:
        for turn in np.radians(TURNS_DEG):
            x, y = FIRST[:2]
            along = np.array(
                [x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn), height]
            )
            found.append(along)
    return found


def close_up(points: Array, with_hand: bool, direction: Array = FIRST) -> Camera:
    """Return a camera that sees all points.

    Args:
        points: Points, (n, 3), m.
        with_hand: True to leave space for the hand above them.
        direction: Direction to the camera, (3,).
    """
    low, high = points.min(axis=0), points.max(axis=0)
    if with_hand:
        high = high + (0.0, 0.0, 0.1)
    size = max(float(np.linalg.norm(high - low)), 0.12)
    middle = 0.5 * (low + high)
    return Camera(frozen(middle + direction / np.linalg.norm(direction) * 2.35 * size), frozen(middle))


def seen_shares(bodies: Mapping[str, BodyTriangles], names: Sequence[str], camera: Camera) -> list[float]:
    """Return the share of each thing that is seen: its pixels among those that it has alone, 0 to 1.

    Args:
        bodies: All surfaces of the picture by name.
        names: The things.
        camera: The camera.
    """
    rows, together = _rows(bodies), _nearest(joined(list(bodies.values())), camera)
    found = []
    for name in names:
        first, end = rows[name]
        alone = _nearest(bodies[name], camera) >= 0
        shown = (together >= first) & (together < end)
        found.append(float(shown.sum()) / max(1.0, float(alone.sum())))
    return found


def opened(
    bodies: Mapping[str, BodyTriangles], names: Sequence[str], camera: Camera
) -> dict[str, BodyTriangles]:
    """Return the surfaces without what covers a thing that is hardly seen: a window is cut into it.

    Args:
        bodies: All surfaces of the picture by name.
        names: The things that must be seen.
        camera: The camera.
    """
    found = dict(bodies)
    while True:
        shares = dict(zip(names, seen_shares(found, names, camera), strict=True))
        covered = [name for name, share in shares.items() if share < ENOUGH]
        if not covered:
            return found
        rows, nearest = _rows(found), _nearest(joined(list(found.values())), camera)
        for name in covered:
            over = np.unique(nearest[_nearest(found[name], camera) >= 0])
            for other, (first, end) in rows.items():
                # Another thing that is covered is reached by a window of its own.
                cut = over[(over >= first) & (over < end)] - first
                if other not in covered and len(cut):
                    found[other] = _without(found[other], cut)
                    break
            else:
                return found
            break


def best_camera(
    bodies: Mapping[str, BodyTriangles], names: Sequence[str], points: Array, with_hand: bool
) -> Camera:
    """Return the first view that shows enough of each thing, or else the one that shows most of the worst.

    Args:
        bodies: All surfaces of the picture by name.
        names: The things that must be seen.
        points: Points that must be in the picture, (n, 3), m.
        with_hand: See ``close_up``.
    """
    best: tuple[Camera, float] | None = None
    for direction in directions():
        camera = close_up(points, with_hand, direction)
        worst = min(seen_shares(bodies, names, camera), default=1.0)
        if worst >= ENOUGH:
            return camera
        if best is None or worst > best[1]:
            best = camera, worst
    assert best is not None  # there are directions
    return best[0]


def _rows(bodies: Mapping[str, BodyTriangles]) -> dict[str, tuple[int, int]]:
    """Return the first triangle of each body among those of all, and the one behind its last."""
    ends = np.cumsum([0, *(len(body.corners) for body in bodies.values())])
    return dict(zip(bodies, pairwise(ends.tolist()), strict=True))


def _without(solid: BodyTriangles, cut: Indices) -> BodyTriangles:
    kept = np.delete(np.arange(len(solid.corners)), cut)
    return BodyTriangles(solid.corners[kept], solid.normals[kept], solid.colors[kept])


def _nearest(solid: BodyTriangles, camera: Camera) -> Indices:
    """Return the index of the nearest triangle of each pixel, -1 for none, (h, w)."""
    width, height = SIZE_PX
    seen = camera.project(solid.corners, width, height).astype(np.float32)
    nearness, index = (
        np.zeros((height, width), dtype=np.float32),
        np.full((height, width), -1, dtype=np.int32),
    )
    fill(seen, 0, nearness, index)
    return index
