"""Kernels: the joint velocities nearest to the wanted ones within bounds."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.jit import kernel

SWEEPS = 300
SETTLED = 1.0e-7
"""Change of a velocity in a sweep below which the answer is accepted, rad/s."""


@kernel
def invert(h: Array, inverse: Array) -> None:
    """Write the inverse of a symmetric positive definite matrix, by Gauss-Jordan elimination.

    Args:
        h: The matrix, (n, n); it is destroyed.
        inverse: Output, (n, n).
    """
    n = len(h)
    inverse[:] = 0.0
    for i in range(n):
        inverse[i, i] = 1.0
    for i in range(n):
        scale = 1.0 / h[i, i]
        for k in range(n):
            h[i, k] *= scale
            inverse[i, k] *= scale
        for r in range(n):
            if r != i:
                f = h[r, i]
                for k in range(n):
                    h[r, k] -= f * h[i, k]
                    inverse[r, k] -= f * inverse[i, k]


@kernel
def solve_bounded(
    h: Array, g: Array, low: Array, high: Array, rows: Array, bounds: Array, count: int, x: Array
) -> None:
    """Minimise ``x h x / 2 - g x`` within ``low <= x <= high`` and ``rows x <= bounds``.

    One multiplier after the other is corrected, again and again (C. Hildreth, "A quadratic programming procedure",
    1957). A solution that is not settled after ``SWEEPS`` is drawn towards the slowest velocity, until no row is
    broken by more than that velocity breaks it. ``low`` and ``high`` are always kept.

    Args:
        h: Positive definite matrix, (n, n); it is destroyed.
        g: Linear term, (n,).
        low: Lower limits of ``x``, (n,).
        high: Upper limits of ``x``, (n,).
        rows: Constraints, (at least count, n).
        bounds: Their bounds, (at least count,).
        count: Number of constraints.
        x: Output, (n,).
    """
    n = len(g)
    inverse = np.empty((n, n))
    invert(h, inverse)
    steps, weights = np.empty((count, n)), np.zeros(count)
    push, pull = np.zeros(n), np.zeros(count)
    for i in range(n):
        x[i] = 0.0
        for j in range(n):
            x[i] += inverse[i, j] * g[j]
    for r in range(count):
        for i in range(n):
            steps[r, i] = 0.0
            for j in range(n):
                steps[r, i] += inverse[i, j] * rows[r, j]
        for i in range(n):
            weights[r] += rows[r, i] * steps[r, i]
    for _ in range(SWEEPS):
        moved = 0.0
        for r in range(count):
            if weights[r] <= 1.0e-12:
                continue
            over = -bounds[r]
            for i in range(n):
                over += rows[r, i] * x[i]
            change = max(over / weights[r], -pull[r])
            if change != 0.0:
                pull[r] += change
                for i in range(n):
                    x[i] -= change * steps[r, i]
                    moved = max(moved, abs(change * steps[r, i]))
        for i in range(n):
            # One signed multiplier serves both limits; it is zero while the value is within them.
            free = x[i] + push[i] * inverse[i, i]
            wanted = min(max(free, low[i]), high[i])
            new = (free - wanted) / inverse[i, i]
            change = new - push[i]
            if change != 0.0:
                push[i] = new
                for k in range(n):
                    x[k] -= change * inverse[k, i]
                    moved = max(moved, abs(change * inverse[k, i]))
        if moved < SETTLED:
            break
    slowest, share = np.empty(n), 1.0
    for i in range(n):
        x[i] = min(max(x[i], low[i]), high[i])
        slowest[i] = min(max(0.0, low[i]), high[i])
    for r in range(count):
        least, gone = 0.0, 0.0
        for i in range(n):
            least += rows[r, i] * slowest[i]
            gone += rows[r, i] * (x[i] - slowest[i])
        if gone > 0.0 and least + gone > bounds[r]:
            share = min(share, max(bounds[r] - least, 0.0) / gone)
    for i in range(n):
        x[i] = slowest[i] + share * (x[i] - slowest[i])
