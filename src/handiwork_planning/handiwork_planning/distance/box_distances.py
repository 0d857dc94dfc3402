"""Distances of the centres of cells to boxes that lie in cells, near the boxes.

Each box is compared with the centres around its cell. A centre beyond that is at least half a cell farther away than
the number of cells that were looked at, so that what is found is a lower bound everywhere, and exact below that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.jit import kernel

Squares = NDArray[np.float32]
Bits = NDArray[np.bool_]


@kernel
def squares_to_boxes(
    cells: Ints, low: Squares, high: Squares, whole: Bits, reach: int, squares: Squares
) -> None:
    """Compute lower bounds of the squared distances of cells' centres to the nearest box.

    They are exact up to ``reach`` plus a half, which is the greatest one. A box whose cell has whole boxes on all six
    sides is passed over: from every centre but those inside, one of these is nearer.

    Args:
        cells: The cell of each box, (n, 3); none is in an outermost layer.
        low: Least corner of each box from the centre of its cell, (n, 3), in cells.
        high: Greatest corner, (n, 3), in cells.
        whole: Whether a cell has a box that is all of it, (x, y, z).
        reach: Number of cells around each box that are looked at.
        squares: Written, (x, y, z), in cells squared.
    """
    nx, ny, nz = squares.shape
    most = np.float32((reach + 0.5) * (reach + 0.5))
    squares[:] = most
    along = np.empty(2 * reach + 1, np.float32)
    for n in range(len(cells)):
        i, j, k = cells[n, 0], cells[n, 1], cells[n, 2]
        if (
            whole[i - 1, j, k]
            and whole[i + 1, j, k]
            and whole[i, j - 1, k]
            and whole[i, j + 1, k]
            and whole[i, j, k - 1]
            and whole[i, j, k + 1]
        ):
            squares[i, j, k] = 0.0
            continue
        first, last = max(k - reach, 0), min(k + reach, nz - 1)
        for r in range(first, last + 1):
            gap = max(low[n, 2] - (r - k), (r - k) - high[n, 2], 0.0)
            along[r - first] = gap * gap
        for p in range(max(i - reach, 0), min(i + reach, nx - 1) + 1):
            dx = max(low[n, 0] - (p - i), (p - i) - high[n, 0], 0.0)
            for q in range(max(j - reach, 0), min(j + reach, ny - 1) + 1):
                dy = max(low[n, 1] - (q - j), (q - j) - high[n, 1], 0.0)
                across = np.float32(dx * dx + dy * dy)
                if across >= most:
                    continue
                line = squares[p, q, first : last + 1]
                for r in range(len(line)):
                    square = across + along[r]
                    line[r] = square if square < line[r] else line[r]


@kernel
def combine(squares: Squares, field: Squares, cell_m: float) -> None:
    """Replace distances to the centres of occupied cells by lower bounds of the distances to their boxes.

    Args:
        squares: See ``squares_to_boxes``, (x, y, z), in cells squared.
        field: Signed distances to centres, (x, y, z), m; written. Those below 0 stay.
        cell_m: Edge of a cell, m.
    """
    a, b = squares.ravel(), field.ravel()
    half = 0.5 * np.sqrt(3.0) * cell_m
    for i in range(len(b)):
        if b[i] >= 0.0:
            b[i] = max(cell_m * np.sqrt(a[i]), b[i] - half)
