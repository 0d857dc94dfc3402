"""Reads the layout of a stack (``config/stacking/full.yaml``), or a whole cell (``ur5e.yaml`` beside it), from YAML."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

from handiwork_core.config.dataclass_loader import ConfigError, load

from .bin import HEIGHT_M, LENGTH_M, WIDTH_M
from .cell import OVER_SHELF, STANDARD, Belt, Feeder, Pallet, Shelf, StackingCell
from .layout import Layout
from .profile.actions import Actions
from .profile.regions import Region, Window

MOST_PLACES = 1000
CLEAR_M = 0.02
"""Room between a carried bin and one on the shelf, m."""


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

    @property
    def layout(self) -> Layout:
        """The layout."""
        return Layout(self.xs, self.ys, self.layers, self.ground_z, self.layer_height, self.gap)


@dataclass(frozen=True, slots=True)
class CellFile:
    """A cell as written; see ``StackingCell``. Parts that are left out are those of the standard cell."""

    layout: LayoutFile
    belt: Belt = STANDARD.belt
    shelf: Shelf = STANDARD.shelf
    pallet: Pallet = STANDARD.pallet
    feeder: Feeder = STANDARD.feeder
    home: tuple[float, float, float] = STANDARD.home
    floor_z: float = STANDARD.floor_z
    carry_z: float = STANDARD.carry_z
    reach: tuple[float, float] = STANDARD.reach
    middle: tuple[float, float, float] = STANDARD.middle
    divide: float = STANDARD.divide
    regions: tuple[Region, ...] = STANDARD.regions
    over_shelf: float = STANDARD.over_shelf
    window: Window | None = STANDARD.window
    actions: Actions = STANDARD.actions


def load_layout(path: Path) -> Layout:
    """Return the layout in a file.

    Args:
        path: The file.

    Raises:
        ConfigError: The file cannot be read, or bins would overlap; all faults are listed.
    """
    found = load(LayoutFile, path)
    if faults := _layout_faults(found):
        raise ConfigError(str(path), faults)
    return found.layout


def load_cell(path: Path) -> StackingCell:
    """Return the cell in a file. Whether an arm reaches it is another question: ``reach.unreachable``.

    Args:
        path: The file.

    Raises:
        ConfigError: The file cannot be read, or its numbers exclude each other; all faults are listed.
    """
    found = load(CellFile, path)
    faults = [f"layout.{fault}" for fault in _layout_faults(found.layout)]
    faults += _cell_faults(found)
    if faults:
        raise ConfigError(str(path), faults)
    return StackingCell(
        found.layout.layout, found.belt, found.shelf, found.pallet, found.feeder, found.home, found.floor_z,
        found.carry_z, found.reach, found.middle, found.divide, found.regions, found.over_shelf, found.window,
        found.actions,
    )  # fmt: skip


def _layout_faults(found: LayoutFile) -> list[str]:
    faults = [*_too_near("xs", found.xs, WIDTH_M), *_too_near("ys", found.ys, LENGTH_M)]
    if not 1 <= found.layers <= MOST_PLACES:
        faults.append(f"layers: is {found.layers}; write 1 to {MOST_PLACES}")
    if found.layer_height < HEIGHT_M:
        faults.append(
            f"layer_height: is {found.layer_height}; a bin is {HEIGHT_M} m high, write that or more"
        )
    if found.gap < 0.0:
        faults.append(f"gap: is {found.gap}; write 0 or more")
    if not faults and len(found.layout) > MOST_PLACES:
        faults.append(f"layers: make {len(found.layout)} places; at most {MOST_PLACES} are allowed")
    return faults


def _cell_faults(found: CellFile) -> list[str]:
    """Return the faults of a cell beside those of its layout."""
    belt, faults = found.belt, []
    ordered = (belt.end_y, belt.barrier_y, belt.pick_y, found.feeder.y, belt.start_y)
    if any(b <= a for a, b in itertools.pairwise(ordered)):
        faults.append(
            f"belt: end_y, barrier_y, pick_y, feeder.y and start_y are {ordered}; they must rise in this order"
        )
    if belt.width <= LENGTH_M:
        faults.append(f"belt.width: is {belt.width}; a bin is {LENGTH_M} m long, write more")
    if not 0.0 < belt.speed <= 1.0:
        faults.append(f"belt.speed: is {belt.speed}; write more than 0 and at most 1 m/s")
    room = 0.5 * (belt.width - LENGTH_M)
    if not 0.0 <= found.feeder.aside <= room:
        faults.append(
            f"feeder.aside: is {found.feeder.aside}; write 0 to {room:g}, or bins hang over the belt"
        )
    if not 0.0 <= found.feeder.upside_down <= 1.0:
        faults.append(f"feeder.upside_down: is {found.feeder.upside_down}; write a share, 0 to 1")
    if found.shelf.out < HEIGHT_M:
        faults.append(f"shelf.out: is {found.shelf.out}; a bin is {HEIGHT_M} m deep, write that or more")
    least = found.shelf.tool_z + 0.5 * WIDTH_M + HEIGHT_M + CLEAR_M
    if found.carry_z < least:
        faults.append(
            f"carry_z: is {found.carry_z}; a carried bin would meet one on the shelf, write {least:.3f} or more"
        )
    if not 0.0 <= found.reach[0] < found.reach[1]:
        faults.append(f"reach: is {found.reach}; write the smaller distance first")
    names = [region.name for region in found.regions]
    if twice := {name for name in names if names.count(name) > 1 or name == OVER_SHELF}:
        faults.append(
            f"regions: the name {min(twice)!r} is there twice, or that of the shelf's region; write another"
        )
    if found.over_shelf <= 0.0:
        faults.append(f"over_shelf: is {found.over_shelf}; write a radius, more than 0 m")
    if found.floor_z >= min(found.layout.ground_z, belt.top_z):
        faults.append(f"floor_z: is {found.floor_z}; write less than layout.ground_z and belt.top_z")
    return [*faults, *_off_pallet(found)]


def _off_pallet(found: CellFile) -> list[str]:
    """Return the faults of columns whose bins would hang over the pallet's edge."""
    sides = (
        ("xs", found.layout.xs, found.pallet.x, found.pallet.size_x, WIDTH_M),
        ("ys", found.layout.ys, found.pallet.y, found.pallet.size_y, LENGTH_M),
    )
    return [
        f"layout.{key}: {value} is {abs(value - middle):.3f} m from the middle of the pallet, which has room for bins "
        f"up to {0.5 * (size - wide):.3f} m; move it, or write a larger pallet"
        for key, values, middle, size, wide in sides
        for value in values
        if abs(value - middle) > 0.5 * (size - wide) + 0.05
    ]


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
