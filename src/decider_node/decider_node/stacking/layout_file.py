"""Reads the layout of a stack from a YAML file, as ``config/stacking/full.yaml`` is one."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

from handiwork_core.config.dataclass_loader import ConfigError, load

from .bin import HEIGHT_M, LENGTH_M, WIDTH_M
from .layout import Layout

MOST_PLACES = 1000


@dataclass(frozen=True, slots=True)
class LayoutFile:
    """A layout as written; lengths in m, in the frame ``world``.

    Attributes:
        xs: x of the columns, in the order in which they are filled.
        ys: y of the columns.
        layers: Number of layers.
        ground_z: z of the ground of the stack.
        layer_height: Height of a layer.
        gap: Free height below each bin's middle beyond half a layer.
    """

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    layers: int
    ground_z: float
    layer_height: float = HEIGHT_M
    gap: float = 0.0


def load_layout(path: Path) -> Layout:
    """Return the layout in a file.

    Args:
        path: The file.

    Raises:
        ConfigError: The file cannot be read, or bins would overlap; all faults are listed.
    """
    found = load(LayoutFile, path)
    faults = [*_too_near("xs", found.xs, WIDTH_M), *_too_near("ys", found.ys, LENGTH_M)]
    if not 1 <= found.layers <= MOST_PLACES:
        faults.append(f"layers: is {found.layers}; write 1 to {MOST_PLACES}")
    if found.layer_height < HEIGHT_M:
        faults.append(
            f"layer_height: is {found.layer_height}; a bin is {HEIGHT_M} m high, write that or more"
        )
    if found.gap < 0.0:
        faults.append(f"gap: is {found.gap}; write 0 or more")
    layout = Layout(found.xs, found.ys, found.layers, found.ground_z, found.layer_height, found.gap)
    if not faults and len(layout) > MOST_PLACES:
        faults.append(f"layers: make {len(layout)} places; at most {MOST_PLACES} are allowed")
    if faults:
        raise ConfigError(str(path), faults)
    return layout


def _too_near(key: str, values: tuple[float, ...], width_m: float) -> list[str]:
    """Return the faults of columns: there are none, or two are nearer than a bin is wide."""
    if not values:
        return [f"{key}: is empty; write one column or more"]
    ordered = sorted(values)
    return [
        f"{key}: {low} and {high} are {high - low:.3f} m apart, and a bin is {width_m} m wide there; move one"
        for low, high in itertools.pairwise(ordered)
        if high - low < width_m - 1e-9
    ]
