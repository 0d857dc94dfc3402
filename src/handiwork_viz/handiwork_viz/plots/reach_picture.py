"""Draws a map of what an arm reaches: three sections of its shares, and one of its manipulability."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.reach_map import ReachMap

from .picture import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

WIDTH_IN, HEIGHT_IN = 12.0, 10.0


def draw_reach(found: ReachMap, path: Path) -> None:
    """Draw the sections of a map through the height and the side at which it reaches most.

    Args:
        found: The map.
        path: File of the picture; its ending chooses the format.

    Raises:
        NoPlotterError: matplotlib is not installed.
        OSError: The file cannot be written.
        ValueError: The ending is of no known format.
    """
    figure = new_figure(WIDTH_IN, HEIGHT_IN)
    shares = found.shares
    _, j, k = best_sections(shares)
    y, z = (found.origin_m[axis] + found.cell_m * index for axis, index in ((1, j), (2, k)))
    axes = figure.subplots(2, 2)
    over = np.where(shares > 0.0, shares, np.nan)
    manipulability = found.manipulability[:, j, :].astype(np.float64)
    image = _section(axes[0, 0], found, over[:, :, k], "xy", f"z = {z:.2f} m")
    _section(axes[0, 1], found, over[:, j, :], "xz", f"y = {y:.2f} m")
    _section(axes[1, 0], found, _highest(over), "xy", "greatest share at any z")
    figure.colorbar(image, ax=axes[0, 1], label="share of the orientations that are reached")
    measure = _section(axes[1, 1], found, manipulability, "xz", f"y = {y:.2f} m", limit=None)
    figure.colorbar(measure, ax=axes[1, 1], label="mean manipulability, sqrt(det(J J^T))")
    source = found.source
    obstacles = f", obstacles of {source.scene}" if source.scene else ""
    figure.suptitle(
        f"{source.robot}, {source.arm}: places of the TCP in {source.frame}{obstacles}", fontsize=11
    )
    figure.savefig(path, dpi=110)


def best_sections(shares: Array) -> tuple[int, int, int]:
    """Return the indices of the planes x, y and z with the greatest sums.

    Args:
        shares: Shares, (nx, ny, nz).
    """
    x, y, z = (int(np.argmax(shares.sum(axis=other))) for other in ((1, 2), (0, 2), (0, 1)))
    return x, y, z


def _highest(over: Array) -> Array:
    """Return the greatest value over z, nan where there is none."""
    highest = np.max(np.nan_to_num(over, nan=-1.0), axis=2)
    return np.where(highest >= 0.0, highest, np.nan)


def _section(
    axes: Axes, found: ReachMap, values: Array, plane: str, title: str, limit: float | None = 1.0
) -> AxesImage:
    across, up = ("xyz".index(letter) for letter in plane)
    extent = tuple(
        edge
        for axis in (across, up)
        for edge in (
            found.origin_m[axis] - 0.5 * found.cell_m,
            found.origin_m[axis] + (found.manipulability.shape[axis] - 0.5) * found.cell_m,
        )
    )
    image = axes.imshow(values.T, origin="lower", extent=extent, vmin=0.0, vmax=limit, cmap="viridis")
    axes.set_title(title, fontsize=9)
    axes.set_xlabel(f"{plane[0]} [m]", fontsize=8)
    axes.set_ylabel(f"{plane[1]} [m]", fontsize=8)
    axes.tick_params(labelsize=8)
    axes.grid(visible=True, linewidth=0.3)
    return image
