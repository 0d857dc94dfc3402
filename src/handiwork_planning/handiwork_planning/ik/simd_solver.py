"""Eight descents of inverse kinematics side by side, by damped least squares within joint limits.

A lane is one descent. Damping follows the error (Sugihara 2011); joints that are at a limit and are pushed outwards
are frozen for that step. A joint that follows another one takes its position from it and adds to its column of the
Jacobian; its own is zero. In float64, so that a lane which arrives is a solution and needs no second pass.

All state is in the rows of one array ``w`` (JOINTS + PER_JOINT m, LANES) for the m joints that carry the tool, because
Numba counts references to each array that a kernel passes on, and counting costs more than the sums. The names below
are its rows.
"""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_planning.kernels.arrays import DRIVER, RobotArrays
from handiwork_planning.kernels.arrays import SLIDES as SLIDING
from handiwork_planning.kernels.jit import kernel
from handiwork_planning.kernels.simd import (
    LANES,
    Wide,
    load,
    nearest,
    root,
    save,
    size,
    spread,
    where_less,
)

TOLERANCE_M = 1.0e-5
"""A solution is this close [m] and [rad]."""
STEP_RAD = 1.0
"""Longest joint step of one iteration."""
DAMPING, DAMPING_PER_ERROR = 1.0e-7, 0.03
"""Added to J J^T: a constant, and a share of the squared error [m, rad]."""

GOAL = 0
"""12 rows: target poses."""
TOOL = 12
"""12: tool poses at the configurations."""
ERROR = 24
"""6: from tool to goal in world axes: [m], then 2 sin(angle / 2) times the axis."""
GAP, TURN, WORST = 30, 31, 32
"""1 each: squared length of either half of the error, and its largest component."""
FACTOR = 33
"""36: of J J^T + damping = L D L^T; L below the diagonal, 1 / D on it, (L D)^T above; row-major."""
PUSH = 69
"""6: the vector that J^T turns into the step."""
JOINTS, PER_JOINT = 75, 14
STEP, AXIS, COLUMN = 1, 2, 8
"""The rows of each joint, from JOINTS on.

Its position, the step that ``advance`` takes first, direction (3) and a point (3) of its axis in the world, and its
column of the Jacobian (6).
"""
SLIDES, LOWER, UPPER, LEADER, RATIO, NEXT, OWN = 12, 13, 14, 15, 16, 17, 18
"""Columns of ``links`` after the transform.

Whether the joint slides, its limits, the row of the joint that it follows, its move for each unit of that one, or 0 if
it follows none, and the row of the next joint that follows the same one, or 0. OWN of row k is the row of the arm's
joint k.
"""


@kernel
def links_of(robot: RobotArrays) -> Array:
    """Return one row per joint that carries the tool and one for the tool, (m + 1, 19); see ``SLIDES`` and the others.

    Args:
        robot: The arm as a chain.
    """
    m = robot.tool_body
    links, newest = np.zeros((m + 1, 19)), np.full(len(robot.lower), -1)
    links[:m, :12] = robot.chain[:m]
    links[m, :12] = robot.tool
    for j in range(m):
        k = robot.joints[j, DRIVER]
        links[j, SLIDES] = robot.joints[j, SLIDING]
        if newest[k] < 0:  # the arm's own joint comes before those that follow it
            links[j, LOWER], links[j, UPPER], links[k, OWN] = robot.lower[k], robot.upper[k], j
        else:
            links[j, LOWER], links[j, UPPER], links[newest[k], NEXT] = -np.inf, np.inf, j
            links[j, LEADER], links[j, RATIO] = links[k, OWN], robot.ratio[j]
        newest[k] = j
    return links


@kernel
def new_lanes(n: int) -> Array:
    """Return ``w``, all zero.

    Args:
        n: Number of joints that carry the tool.
    """
    return np.zeros((JOINTS + PER_JOINT * n, LANES))


@kernel
def sine_and_cosine(x: Wide) -> tuple[Wide, Wide]:
    """Return sine and cosine within 1e-15 up to some hundred turns: Taylor's series after taking out quarter turns.

    Args:
        x: Angles, rad.
    """
    quarters = nearest(x * 0.6366197723675814)
    r = (x - quarters * 1.5707963267341256) - quarters * 6.0771005065061922e-11
    z = r * r
    s = 1.0 / 6227020800.0 - z * (1.0 / 1307674368000.0)
    s = 1.0 / 362880.0 + z * (z * s - 1.0 / 39916800.0)
    s = r + r * z * (z * (1.0 / 120.0 + z * (z * s - 1.0 / 5040.0)) - 1.0 / 6.0)
    c = 1.0 / 479001600.0 - z * (1.0 / 87178291200.0 - z * (1.0 / 20922789888000.0))
    c = 1.0 / 40320.0 + z * (z * c - 1.0 / 3628800.0)
    c = 1.0 + z * (z * (1.0 / 24.0 + z * (z * c - 1.0 / 720.0)) - 0.5)
    swap = size(quarters - 2.0 * nearest(0.5 * quarters))
    turn = quarters - 4.0 * nearest(0.25 * quarters)  # -2..2, and -2 means 2
    sine, cosine = where_less(swap, 0.5, s, c), where_less(swap, 0.5, c, s)
    return (
        where_less(size(turn - 0.5), 1.0, sine, 0.0 - sine),
        where_less(size(turn + 0.5), 1.0, cosine, 0.0 - cosine),
    )


@kernel
def next_row(
    x: Wide, y: Wide, z: Wide, t: Wide, m: Array, j: int, s: Wide, c: Wide, slide: Wide
) -> tuple[Wide, Wide, Wide, Wide]:
    """Return one row of a pose times a transform and a joint's motion.

    Args:
        x: First entry of the row's rotation.
        y: Second entry.
        z: Third entry.
        t: The row's translation, m.
        m: Transforms, (k, 12 or more).
        j: Row of ``m``.
        s: Sine of the joint's angle.
        c: Cosine of the joint's angle.
        slide: Position of a joint that slides, m.
    """
    t = t + x * m[j, 9] + y * m[j, 10] + z * m[j, 11]
    u = x * m[j, 0] + y * m[j, 3] + z * m[j, 6]
    v = x * m[j, 1] + y * m[j, 4] + z * m[j, 7]
    w = x * m[j, 2] + y * m[j, 5] + z * m[j, 8]
    return u * c + v * s, v * c - u * s, w, t + w * slide


@kernel
def save_row(w: Array, i: int, x: Wide, y: Wide, z: Wide, t: Wide) -> None:
    """Set a row of the tool pose.

    Args:
        w: State of the lanes.
        i: Index of the row, 0 to 2.
        x: First entry of the row's rotation.
        y: Second entry.
        z: Third entry.
        t: The row's translation, m.
    """
    save(w, TOOL + 3 * i, x)
    save(w, TOOL + 3 * i + 1, y)
    save(w, TOOL + 3 * i + 2, z)
    save(w, TOOL + 9 + i, t)


@kernel
def forward_wide(w: Array, links: Array) -> None:
    """Compute joint axes and tool poses at the configurations.

    Args:
        w: State of the lanes.
        links: Rows of ``links_of``, (m + 1, 19).
    """
    n, one, zero = len(links) - 1, spread(1.0), spread(0.0)
    ax, ay, az, at, bx, by, bz, bt = one, zero, zero, zero, zero, one, zero, zero
    cx, cy, cz, ct = zero, zero, one, zero
    for j in range(n + 1):
        s, c, slide, row = zero, one, zero, JOINTS + PER_JOINT * j
        if j < n:
            slide = load(w, row)
            if links[j, RATIO] != 0.0:
                slide = load(w, JOINTS + PER_JOINT * int(links[j, LEADER])) * links[j, RATIO]
            if links[j, SLIDES] == 0.0:
                s, c = sine_and_cosine(slide)
                slide = zero
        ax, ay, az, at = next_row(ax, ay, az, at, links, j, s, c, slide)
        bx, by, bz, bt = next_row(bx, by, bz, bt, links, j, s, c, slide)
        cx, cy, cz, ct = next_row(cx, cy, cz, ct, links, j, s, c, slide)
        if j < n:
            save(w, row + AXIS, az)
            save(w, row + AXIS + 1, bz)
            save(w, row + AXIS + 2, cz)
            save(w, row + AXIS + 3, at)
            save(w, row + AXIS + 4, bt)
            save(w, row + AXIS + 5, ct)
    save_row(w, 0, ax, ay, az, at)
    save_row(w, 1, bx, by, bz, bt)
    save_row(w, 2, cx, cy, cz, ct)


@kernel
def across(w: Array, i: int, j: int) -> Wide:
    """Return entry (i, j) of goal tool^T, rotations only.

    Args:
        w: State of the lanes.
        i: Row.
        j: Column.
    """
    a, b = GOAL + 3 * i, TOOL + 3 * j
    return load(w, a) * load(w, b) + load(w, a + 1) * load(w, b + 1) + load(w, a + 2) * load(w, b + 2)


@kernel
def measure_error(w: Array) -> None:
    """Compute the error from tool to goal.

    The turn is 2 sin(angle / 2) axis, which grows up to half a turn as the angle does and needs no arctangent.

    Args:
        w: State of the lanes.
    """
    gap, turn, worst = spread(0.0), spread(0.0), spread(0.0)
    half = 0.25 + 0.25 * (across(w, 0, 0) + across(w, 1, 1) + across(w, 2, 2))
    scale = 0.5 / root(where_less(half, 1.0e-12, 1.0e-12, half))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        d = load(w, GOAL + 9 + i) - load(w, TOOL + 9 + i)
        r = (across(w, k, j) - across(w, j, k)) * scale
        save(w, ERROR + i, d)
        save(w, ERROR + 3 + i, r)
        gap, turn = gap + d * d, turn + r * r
        larger = where_less(size(d), size(r), size(r), size(d))
        worst = where_less(worst, larger, larger, worst)
    save(w, GAP, gap)
    save(w, TURN, turn)
    save(w, WORST, worst)


@kernel
def column_wide(w: Array, links: Array, j: int) -> tuple[Wide, Wide, Wide, Wide, Wide, Wide]:
    """Return the rate of the tool per unit of a joint, world axes.

    Args:
        w: State of the lanes.
        links: Rows of ``links_of``, (m + 1, 19).
        j: Row of the joint.
    """
    axis = JOINTS + PER_JOINT * j + AXIS
    a, b, c = load(w, axis), load(w, axis + 1), load(w, axis + 2)
    x, y, z, d, e, f = a, b, c, spread(0.0), spread(0.0), spread(0.0)
    if links[j, SLIDES] == 0.0:
        u = load(w, TOOL + 9) - load(w, axis + 3)
        v = load(w, TOOL + 10) - load(w, axis + 4)
        t = load(w, TOOL + 11) - load(w, axis + 5)
        x, y, z, d, e, f = b * t - c * v, c * u - a * t, a * v - b * u, a, b, c
    return x, y, z, d, e, f


@kernel
def jacobian_wide(w: Array, links: Array) -> None:
    """Compute the Jacobian at the tool's origin, world axes; columns of joints pushed over a limit are zero.

    Args:
        w: State of the lanes.
        links: Rows of ``links_of``, (m + 1, 19).
    """
    for j in range(len(links) - 1):
        row = JOINTS + PER_JOINT * j
        out = row + COLUMN
        if links[j, RATIO] != 0.0:
            for i in range(6):
                save(w, out + i, 0.0)
            continue
        x, y, z, d, e, f = column_wide(w, links, j)
        i = int(links[j, NEXT]) if links[j, NEXT] > 0.0 else 0
        while i > 0:
            u, v, t, a, b, c = column_wide(w, links, i)
            ratio, i = links[i, RATIO], int(links[i, NEXT])
            x, y, z, d, e, f = (
                x + u * ratio,
                y + v * ratio,
                z + t * ratio,
                d + a * ratio,
                e + b * ratio,
                f + c * ratio,
            )
        pull = x * load(w, ERROR) + y * load(w, ERROR + 1) + z * load(w, ERROR + 2)
        pull = pull + d * load(w, ERROR + 3) + e * load(w, ERROR + 4) + f * load(w, ERROR + 5)
        q = load(w, row)
        free = where_less(links[j, LOWER], q, 1.0, where_less(pull, 0.0, 0.0, 1.0))
        free = where_less(q, links[j, UPPER], free, where_less(0.0, pull, 0.0, free))
        save(w, out, x * free)
        save(w, out + 1, y * free)
        save(w, out + 2, z * free)
        save(w, out + 3, d * free)
        save(w, out + 4, e * free)
        save(w, out + 5, f * free)


@kernel
def factorise(w: Array, n: int) -> None:
    """Compute L D L^T = J J^T + damping.

    Args:
        w: State of the lanes.
        n: Number of joints.
    """
    damping = DAMPING + DAMPING_PER_ERROR * (load(w, GAP) + load(w, TURN))
    for i in range(6):
        pivot = damping
        for k in range(6):
            if k > i:
                break
            s = spread(0.0)
            for j in range(n):
                column = JOINTS + PER_JOINT * j + COLUMN
                s = s + load(w, column + i) * load(w, column + k)
            if k == i:
                pivot = pivot + s
                break
            for m in range(k):
                s = s - load(w, FACTOR + 6 * m + i) * load(w, FACTOR + 6 * k + m)
            save(w, FACTOR + 6 * k + i, s)
            low = s * load(w, FACTOR + 7 * k)
            save(w, FACTOR + 6 * i + k, low)
            pivot = pivot - s * low
        save(w, FACTOR + 7 * i, 1.0 / pivot)


@kernel
def next_step(w: Array, n: int) -> None:
    """Compute the step J^T (J J^T + damping)^-1 error, no longer than STEP_RAD in any joint.

    Args:
        w: State of the lanes.
        n: Number of joints.
    """
    factorise(w, n)
    for i in range(6):
        s = load(w, ERROR + i)
        for m in range(i):
            s = s - load(w, FACTOR + 6 * i + m) * load(w, PUSH + m)
        save(w, PUSH + i, s)
    for r in range(6):
        i = 5 - r
        s = load(w, PUSH + i) * load(w, FACTOR + 7 * i)
        for m in range(i + 1, 6):
            s = s - load(w, FACTOR + 6 * m + i) * load(w, PUSH + m)
        save(w, PUSH + i, s)
    longest = spread(STEP_RAD)
    for j in range(n):
        row = JOINTS + PER_JOINT * j
        s = load(w, row + COLUMN) * load(w, PUSH)
        for i in range(1, 6):
            s = s + load(w, row + COLUMN + i) * load(w, PUSH + i)
        save(w, row + STEP, s)
        longest = where_less(longest, size(s), size(s), longest)
    share = STEP_RAD / longest
    for j in range(n):
        row = JOINTS + PER_JOINT * j + STEP
        save(w, row, share * load(w, row))


@kernel
def advance(w: Array, links: Array) -> None:
    """Take the step prepared before, measure the error there, and prepare the next step.

    Args:
        w: State of the lanes.
        links: Rows of ``links_of``, (m + 1, 19).
    """
    n = len(links) - 1
    for j in range(n):
        row = JOINTS + PER_JOINT * j
        x = load(w, row) + load(w, row + STEP)
        x = where_less(x, links[j, LOWER], links[j, LOWER], x)
        save(w, row, where_less(links[j, UPPER], x, links[j, UPPER], x))
    forward_wide(w, links)
    measure_error(w)
    jacobian_wide(w, links)
    next_step(w, n)


@kernel
def turn_rad(square: float) -> float:
    """Return the angle of a turn, rad.

    Args:
        square: Value of row TURN, squared length of the turn's error.
    """
    return 2.0 * np.arcsin(min(1.0, 0.5 * np.sqrt(square)))  # type: ignore[no-any-return]
