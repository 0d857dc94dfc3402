"""Continuous test of straight joint motions by motion bounds (Schwarzer, Saha, Latombe 2005), many pieces at a time.

A piece is clear when no pair can come below its margin within the largest motion from the piece's middle. Other pieces
are divided, and only the pairs that were near in the last round are tested on the parts.
"""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import Ints
from handiwork_planning.kernels.borrowed_ref import borrowed
from handiwork_planning.kernels.jit import inlined, kernel
from handiwork_planning.kernels.simd import (
    load,
    save,
    spread,
    where_less,
)
from handiwork_planning.kernels.simd_kinematics import LANES, Floats, f4

from .batch_check import (
    STILL,
    SWEPT,
    WHOLE,
    Checker,
    test_block,
)

PARTS = 4


@inlined
def load_lane(q: Floats, move: Floats, path: Array, k: int, low: float, high: float) -> None:
    """Put a piece of a path into lane ``k``.

    Args:
        q: Written: the piece's middle, (n, LANES), rad or m.
        move: Written: largest distance of each joint from there, (n, LANES), rad or m.
        path: Configurations, (r, n), rad or m.
        k: The lane.
        low: Start of the piece, counted in rows.
        high: End of the piece, counted in rows.
    """
    if high - low > 1.0:
        m = int(np.floor(0.5 * (low + high)))
        for j in range(path.shape[1]):
            farthest = 0.0
            for i in range(int(low), int(high) + 1):
                farthest = max(farthest, abs(path[i, j] - path[m, j]))
            q[j, k], move[j, k] = path[m, j], farthest
        return
    i = min(int(low), len(path) - 2)
    t, half = 0.5 * (low + high) - i, 0.5 * (high - low)
    for j in range(path.shape[1]):
        step = path[i + 1, j] - path[i, j]
        q[j, k], move[j, k] = path[i, j] + t * step, half * abs(step)


@inlined
def split(low: float, high: float, parts: int, ends: Array, count: int) -> int:
    """Divide a piece of a path; pieces longer than one row start and end at rows.

    Args:
        low: Start of the piece, counted in rows.
        high: End of the piece, counted in rows.
        parts: Largest number of parts.
        ends: Written: start and end of each part, (k, 2).
        count: First row of ``ends`` to write.

    Returns:
        ``count`` plus the number of parts.
    """
    before = low
    for i in range(1, parts + 1):
        to = low + (high - low) * i / parts
        if high - low > 1.0:
            to = np.floor(to) if i < parts else high
            if to <= before:
                continue
        ends[count, 0], ends[count, 1] = before, to
        before = to
        count += 1
    return count


@inlined
def share_out(move: Floats, most: Floats, share: Floats) -> None:
    """Compute the largest moves, and the share of them in each lane.

    Args:
        move: Joint moves, (n, LANES), rad or m.
        most: Written: the largest of each row, (n,).
        share: Written: the largest part of ``most`` that a lane moves, (1, LANES).
    """
    part = spread(f4(0.0))
    for j in range(len(most)):
        farthest = f4(0.0)
        for k in range(LANES):
            farthest = max(farthest, move[j, k])
        most[j] = farthest
        if farthest > f4(0.0):
            this = load(move, j) * (f4(1.0) / farthest)
            part = where_less(part, this, this, part)
    save(share, 0, part)


@inlined
def load_edge(q: Floats, most: Floats, share: Floats, path: Array) -> None:
    """Fill all lanes from two rows: LANES - 1 equal pieces, and the second row itself.

    Args:
        q: Written: the pieces' middles, (n, LANES), rad or m.
        most: Written: largest joint moves, (n,), rad or m.
        share: Written: 1, and 0 in the last lane, (1, LANES).
        path: Both ends of the edge, (2, n), rad or m.
    """
    last = LANES - 1
    for k in range(LANES):
        share[0, k] = f4(k) + f4(0.5)
    middle = load(share, 0) * f4(1.0 / last)
    for j in range(path.shape[1]):
        a, step = f4(path[0, j]), f4(path[1, j] - path[0, j])
        most[j] = abs(step) * f4(0.5 / last)
        save(q, j, middle * step + a)
        q[j, last] = f4(path[1, j])
    save(share, 0, f4(1.0))
    share[0, last] = f4(0.0)


@kernel
def blocked_at(c: Checker, path: Array, hit: Ints) -> float:
    """Find a place where the straight motions through all rows of a path touch.

    The last row is tested, the first counts as tested. Breadth first: all pieces of one size before the next, so that
    blocked paths end early; the place is therefore not always the first one.

    Args:
        c: Robot, world and margins.
        path: Configurations, (k, n), rad or m.
        hit: Written, if there is such a place: group and column of the pair, (2,).

    Returns:
        The place, counted in rows; -1 if the motions are free.
    """
    c, path, hit = borrowed(c), borrowed(path), borrowed(hit)
    last = len(path) - 1.0
    active, upcoming, near, count = c.listed[0], c.listed[1], c.listed[2], len(c.pairs)
    for i in range(count):
        active[i] = i
    if len(path) == 2:
        load_edge(c.q, c.most, c.share, path)
        # Most edges of a search are blocked, and most of these at a middle.
        touching, lanes, kept = test_block(c, active, count, near, STILL)
        if touching < 0:
            touching, lanes, kept = test_block(c, active, count, near, SWEPT)
        if touching >= 0:
            found_hit(c, touching, hit)
            return min(1.0, (first_of(lanes) + 0.5) / (LANES - 1))
        if lanes == 0:
            return -1.0
        active, near, count = near, active, kept
        ends, total = np.empty((PARTS * LANES, 2)), 0
        for k in range(LANES - 1):
            if (lanes >> k) & 1:
                total = split(k / (LANES - 1), (k + 1) / (LANES - 1), PARTS, ends, total)
    else:
        ends = np.empty((LANES, 2))
        total = split(0.0, last, LANES - 1, ends, 0)
        ends[total, 0] = ends[total, 1] = last
        total += 1
    while total > 0 and count > 0:
        fresh, made, kept = np.empty((PARTS * total, 2)), 0, 0
        for start in range(0, total, LANES):
            used = min(LANES, total - start)
            for k in range(LANES):
                i = start + min(k, used - 1)
                load_lane(c.q, c.move, path, k, ends[i, 0], ends[i, 1])
            share_out(c.move, c.most, c.share)
            touching, lanes, found = test_block(c, active, count, near, WHOLE)
            if touching >= 0:
                found_hit(c, touching, hit)
                k = start + min(first_of(lanes), used - 1)
                return 0.5 * (ends[k, 0] + ends[k, 1])
            kept = merge(upcoming, kept, near, found)
            for k in range(used):
                if (lanes >> k) & 1:
                    made = split(ends[start + k, 0], ends[start + k, 1], PARTS, fresh, made)
        ends, total, count = fresh, made, kept
        active, upcoming = upcoming, active
    return -1.0


@inlined
def first_of(lanes: int) -> int:
    """Return the smallest member of a set of lanes.

    Args:
        lanes: The set, not empty.
    """
    k = 0
    while not (lanes >> k) & 1:
        k += 1
    return k


@inlined
def merge(into: Ints, count: int, rows: Ints, more: int) -> int:
    """Add the rows that ``into`` lacks.

    Args:
        into: Rows, written from ``count`` on.
        count: Number of rows in ``into``.
        rows: Rows to add.
        more: The first so many of ``rows`` are added.

    Returns:
        The new number of rows in ``into``.
    """
    before = count
    for n in range(more):
        known = False
        for i in range(before):
            known = known or into[i] == rows[n]
        if not known:
            into[count] = rows[n]
            count += 1
    return count


@inlined
def found_hit(c: Checker, i: int, hit: Ints) -> None:
    """Write a pair to ``hit`` and move it forward: a pair that touched once is likely to touch again.

    Args:
        c: The checker.
        i: Row of ``c.pairs``.
        hit: Written: group and column, (2,).
    """
    pairs = c.pairs
    g, column, j = pairs[i, 0], pairs[i, 1], i // 2
    hit[0], hit[1] = g, column
    for k in range(i, j, -1):
        pairs[k, 0], pairs[k, 1] = pairs[k - 1, 0], pairs[k - 1, 1]
    pairs[j, 0], pairs[j, 1] = g, column


@kernel
def edge_is_free(c: Checker, a: Array, b: Array, hit: Ints) -> bool:
    """Check whether the straight motion from ``a`` to ``b`` is free; ``b`` itself is tested, ``a`` counts as tested.

    Args:
        c: Robot, world and margins.
        a: Start configuration, (n,), rad or m.
        b: End configuration, (n,), rad or m.
        hit: Written, if the motion is blocked: group and column of the pair, (2,).
    """
    path = np.empty((2, len(a)))
    path[0], path[1] = a, b
    return blocked_at(c, path, hit) < 0.0


@kernel
def touches(c: Checker, q: Array, hit: Ints) -> bool:
    """Check whether any pair is below its margin.

    Args:
        c: Robot, world and margins.
        q: Configuration, (n,), rad or m.
        hit: Written, if a pair is: group and column, (2,).
    """
    return len(c.pairs) > 0 and not edge_is_free(c, q, q, hit)


@kernel
def all_clear(c: Checker, start: Array, goals: Array) -> bool:
    """Check whether every pair is at or above its margin at a start and at all goals.

    Args:
        c: Robot, world and margins.
        start: Configuration, (n,), rad or m.
        goals: Fewer than LANES configurations, (k, n), rad or m.
    """
    c, start, goals = borrowed(c), borrowed(start), borrowed(goals)
    active = c.listed[0]
    for i in range(len(c.pairs)):
        active[i] = i
    for j in range(len(start)):
        for k in range(LANES):
            c.q[j, k] = f4(goals[k, j] if k < len(goals) else start[j])
    touching, _, _ = test_block(c, active, len(c.pairs), c.listed[2], STILL)
    return touching < 0


@kernel
def first_blocked(c: Checker, path: Array, hit: Ints) -> int:
    """Return the first row that cannot be reached from the one before, found by division; -1 if there is none.

    Args:
        c: Robot, world and margins.
        path: Configurations, (k, n), rad or m.
        hit: Written, if there is such a row: group and column of the pair, (2,).
    """
    row, place = -1, blocked_at(c, path, hit)
    pair = hit.copy()
    while place >= 0.0:
        row = max(1, int(np.ceil(place)))
        pair[:] = hit
        if row < 2:
            break
        place = blocked_at(c, path[:row], hit)
    hit[:] = pair
    return row
