"""Exact Euclidean distance transform of cells: each axis in turn, by the lower envelope of parabolas.

P. Felzenszwalb, D. Huttenlocher, "Distance Transforms of Sampled Functions" (2012).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handiwork_planning.kernels.jit import kernel

Squares = NDArray[np.float32]
Bits = NDArray[np.bool_]

NONE = 1.0e9
"""The square of the distance where there is no cell to measure to, in cells; more than that of any grid."""


@kernel
def envelope(
    line: Squares, count: int, at: NDArray[np.int64], ends: NDArray[np.float64], out: Squares
) -> None:
    """Compute min over j of (i - j)^2 + line[j] for each i.

    Args:
        line: Values, (n,); NONE where there is none.
        count: Their number.
        at: Scratch, (n,).
        ends: Scratch, (n + 1,).
        out: Written, (n,).
    """
    top = -1
    for j in range(count):
        value = line[j]
        if value >= NONE:
            continue
        cross = -1.0e18
        while top >= 0:
            k = at[top]
            cross = ((value + j * j) - (line[k] + k * k)) / (2.0 * (j - k))
            if cross > ends[top]:
                break
            top -= 1
        if top < 0:
            cross = -1.0e18
        top += 1
        at[top], ends[top] = j, cross
    if top < 0:
        for i in range(count):
            out[i] = NONE
        return
    ends[top + 1] = 1.0e18
    k = 0
    for i in range(count):
        while ends[k + 1] < i:
            k += 1
        step = i - at[k]
        out[i] = step * step + line[at[k]]


@kernel
def squares(occupied: Bits, value: bool, out: Squares) -> None:
    """Compute the squared distance of each cell's centre to the nearest centre of a cell with a value.

    Args:
        occupied: Cells, (x, y, z).
        value: The value to measure to.
        out: Written: squared distances, (x, y, z), in cells; NONE if no cell has the value.
    """
    nx, ny, nz = occupied.shape
    most = max(nx, ny, nz)
    line, result = np.empty(most, np.float32), np.empty(most, np.float32)
    at, ends = np.empty(most, np.int64), np.empty(most + 1)
    for i in range(nx):
        for j in range(ny):
            far = NONE
            for k in range(nz):
                far = 0.0 if occupied[i, j, k] == value else far + 1.0
                out[i, j, k] = far
            far = NONE
            for k in range(nz - 1, -1, -1):
                far = 0.0 if occupied[i, j, k] == value else far + 1.0
                near = min(far, out[i, j, k])
                out[i, j, k] = near * near if near < 1.0e4 else NONE
    for i in range(nx):
        for k in range(nz):
            for j in range(ny):
                line[j] = out[i, j, k]
            envelope(line, ny, at, ends, result)
            for j in range(ny):
                out[i, j, k] = result[j]
    for j in range(ny):
        for k in range(nz):
            for i in range(nx):
                line[i] = out[i, j, k]
            envelope(line, nx, at, ends, result)
            for i in range(nx):
                out[i, j, k] = result[i]


@kernel
def has_inner(occupied: Bits) -> bool:
    """Return True if a cell is occupied with all cells that share a side with it.

    Args:
        occupied: Cells, (x, y, z).
    """
    nx, ny, nz = occupied.shape
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if (
                    occupied[i, j, k]
                    and occupied[max(i - 1, 0), j, k]
                    and occupied[min(i + 1, nx - 1), j, k]
                    and occupied[i, max(j - 1, 0), k]
                    and occupied[i, min(j + 1, ny - 1), k]
                    and occupied[i, j, max(k - 1, 0)]
                    and occupied[i, j, min(k + 1, nz - 1)]
                ):
                    return True
    return False


@kernel
def signed(occupied: Bits, cell_m: float, most_m: float) -> Squares:
    """Return signed distances of cells' centres to the occupied centres, (x, y, z), m.

    Outside they are exact. An occupied cell beside a free one has 0, and deeper ones minus the distance to such a cell.

    Args:
        occupied: Cells, (x, y, z).
        cell_m: Edge of a cell, m.
        most_m: Larger distances are cut off, m.
    """
    outside, inside = np.empty(occupied.shape, np.float32), np.empty(occupied.shape, np.float32)
    squares(occupied, True, outside)
    if has_inner(occupied):
        squares(occupied, False, inside)
    else:  # as of surfaces: each has a free one beside it
        inside[:] = 1.0
    a, b, c = outside.ravel(), inside.ravel(), occupied.ravel()
    for i in range(len(a)):
        if c[i]:
            a[i] = -min(cell_m * max(np.sqrt(b[i]) - 1.0, 0.0), most_m)
        else:
            a[i] = min(cell_m * np.sqrt(a[i]), most_m)
    return outside
