"""Textures of objects in pictures: patterns that a seed draws, and image files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array
from handiwork_core.scene.shapes import Color
from sim_bridge.cameras.renderer import Pixels

EDGE_PX = 128
LARGEST_PX = 2048
GRAIN_CELLS = 8


def drawn_pattern(rng: np.random.Generator, color: Color) -> Pixels:
    """Return stripes, checks, spots or grain of a colour and a second one, or the colour alone; it can be repeated.

    Args:
        rng: Source of the choices; as many numbers are taken for each kind.
        color: Red, green, blue, alpha, 0 to 1.

    Returns:
        Pixels, (128, 128, 3).
    """
    kind, count, other = int(rng.integers(len(PATTERNS))), int(rng.integers(1, 5)), rng.random(3)
    cells = rng.random((GRAIN_CELLS, GRAIN_CELLS))
    share = PATTERNS[kind](count, cells)[..., None]
    mixed = (1.0 - share) * np.array(color[:3]) + share * other
    pixels: Pixels = np.round(255.0 * mixed).astype(np.uint8)
    return pixels


def _grid() -> tuple[Array, Array]:
    step = np.arange(EDGE_PX) / EDGE_PX
    return step[:, None] * np.ones(EDGE_PX), step[None, :] * np.ones((EDGE_PX, 1))


def _plain(_count: int, _cells: Array) -> Array:
    return np.zeros((EDGE_PX, EDGE_PX))


def _stripes(count: int, _cells: Array) -> Array:
    return np.floor(2.0 * count * _grid()[0]) % 2.0


def _checks(count: int, _cells: Array) -> Array:
    rows, columns = _grid()
    return np.asarray((np.floor(2.0 * count * rows) + np.floor(2.0 * count * columns)) % 2.0)


def _spots(count: int, _cells: Array) -> Array:
    rows, columns = (count * axis % 1.0 - 0.5 for axis in _grid())
    return np.where(np.hypot(rows, columns) < 0.3, 1.0, 0.0)


def _grain(_count: int, cells: Array) -> Array:
    """Return the random cells with smooth steps between them, also from one edge to the other."""
    at = np.arange(EDGE_PX) * GRAIN_CELLS / EDGE_PX
    low, share = at.astype(int), at % 1.0
    share = share * share * (3.0 - 2.0 * share)
    next_ = (low + 1) % GRAIN_CELLS
    rows = cells[low] * (1.0 - share[:, None]) + cells[next_] * share[:, None]
    found: Array = rows[:, low] * (1.0 - share) + rows[:, next_] * share
    return found


PATTERNS: tuple[Callable[[int, Array], Array], ...] = (_plain, _stripes, _checks, _spots, _grain)


def read_texture(path: Path) -> Pixels:
    """Read an image.

    Args:
        path: The file.

    Returns:
        Pixels, (rows, columns, 3).

    Raises:
        ValueError: It is no image, or too large.
    """
    from PIL import Image, UnidentifiedImageError  # only where pictures are drawn

    try:
        with Image.open(path) as image:
            if max(image.size) > LARGEST_PX:
                width, height = image.size
                raise ValueError(
                    f"{path} has {width} x {height} pixels; give at most {LARGEST_PX} along an edge"
                )
            pixels: NDArray[Any] = np.asarray(image.convert("RGB"), dtype=np.uint8)
    except (OSError, SyntaxError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise ValueError(f"{path} cannot be read as an image: {error}; give a PNG or JPEG file") from error
    return pixels
