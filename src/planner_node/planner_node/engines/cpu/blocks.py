"""Which pairs touch, or might touch on the way, in sixteen configurations at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handiwork_core.geometry import Array
from handiwork_core.world import ShapeKind

from .arrays import Ints, RobotArrays, SceneArrays
from .borrowing import borrowed
from .gaps import pair_gap
from .jit import inlined, kernel
from .lanes import (
    LANES,
    Floats,
    ball_near_point,
    balls_near,
    centre_lanes,
    f4,
    forward_lanes,
    near_ball,
    near_box,
    near_cylinder,
)

FINEST_M = 0.0005
"""A pair is taken as clear of a piece on which it cannot come closer than this to the distance at the piece's middle;
where its margin is larger than that, it never touches."""

CYLINDER = int(ShapeKind.CYLINDER)


class Checker(NamedTuple):
    """Robot, world and margins for block tests, with scratch; for one thread."""

    robot: RobotArrays
    scene: SceneArrays
    margins: Array
    """(g, m + g) smallest allowed distance of group and column [m]; OFF where the pair does not count."""
    pairs: Ints
    """(p, 2) group and column that count; those that hit often move to the front."""
    exact: Ints
    """(g, m + g) 1 where the pair is measured in float64, lane by lane: hulls, and depths beyond a sphere's centre."""
    chain: Floats
    """(n, 12)."""
    balls: Floats
    """(s + g, 4) spheres, then ``bounds``."""
    bounds: Floats
    """(g, 4)."""
    reach: Floats
    """(g, n)."""
    pose: Floats
    """(m, 12) world_T_shape."""
    size: Floats
    """(m, 3) half edges of a core, which ``rounding`` (m,) makes a box, sphere or capsule; cylinders keep theirs."""
    rounding: Floats
    bound: Floats
    """(m,)."""
    known: Ints
    """(g,) 1 where a group's row of ``centres`` and ``slack`` is up to date."""
    listed: Ints
    """(3, p) scratch: rows of ``pairs`` of this round, of the next, and of a block."""
    q: Floats
    """(n, LANES) configurations."""
    move: Floats
    """(n, LANES) farthest that each joint is from there on the lane's piece."""
    turn: Floats
    """(2, LANES)."""
    frames: Floats
    """(n + 1, 12, LANES) body poses."""
    centres: Floats
    """(g, 3, LANES) world centres of the groups' bounding spheres."""
    slack: Floats
    """(g + 1, LANES) farthest that a group's points are on the lane's piece from where they are in its middle [m]."""


@inlined
def spread(reach: Floats, move: Floats, slack: Floats, g: int, after: int, before: int, row: int) -> None:
    """To a row of ``slack``: how far joints ``after``..``before`` may move group ``g`` on a lane's piece [m]."""
    zero = f4(0.0)
    for k in range(LANES):
        slack[row, k] = zero
    for j in range(after, before):
        r = reach[g, j]
        for k in range(LANES):
            slack[row, k] += r * move[j, k]
    for k in range(LANES):
        slack[row, k] = slack[row, k] if slack[row, k] > f4(FINEST_M) else zero


@kernel
def exactly(c: Checker, row: int, g: int, column: int, margin: float) -> int:
    """As ``test_block`` says for one pair, in float64, lane by lane: minus the set of lanes below, or the set near."""
    near, body, shapes = 0, c.robot.group_body, len(c.scene.kind)
    frames = np.empty((len(c.chain) + 1, 12))
    for k in range(LANES):
        for i in range(12):
            frames[body[g], i] = c.frames[body[g], i, k]
            if column >= shapes:
                frames[body[column - shapes], i] = c.frames[body[column - shapes], i, k]
        gap = pair_gap(c.robot, c.scene, frames, g, column, margin, margin + c.slack[row, k])
        if gap < margin:
            return -(1 << k)
        if gap < margin + c.slack[row, k]:
            near |= 1 << k
    return near


@inlined
def test_shape(
    frames: Floats,
    slack: Floats,
    balls: Floats,
    body: Ints,
    start: Ints,
    pose: Floats,
    size: Floats,
    g: int,
    s: int,
    around: int,
    rounding: float,
    is_cylinder: bool,
) -> int:
    """Minus the set of lanes in which group ``g`` is within ``rounding`` of shape ``s``, or those where it is near."""
    b, found = body[g], 0
    first, last = start[g], start[g + 1]
    for i in range(first - 1, last):
        # The first look is at the sphere around all.
        n = around if i < first else i
        x, y, z, r = balls[n, 0], balls[n, 1], balls[n, 2], balls[n, 3] + rounding
        if is_cylinder:
            hits, near = near_cylinder(frames, b, x, y, z, pose, size, s, r, slack, g)
        else:
            hits, near = near_box(frames, b, x, y, z, pose, size, s, r, slack, g)
        if i < first:
            if near == f4(0.0):
                return 0
            continue
        if hits > f4(0.0):
            return -int(hits)
        found |= int(near)
    return found


@inlined
def test_groups(
    frames: Floats,
    slack: Floats,
    balls: Floats,
    body: Ints,
    start: Ints,
    g: int,
    h: int,
    around: int,
    row: int,
    margin: float,
) -> int:
    """The same for two groups, the second of which has the sphere ``around`` it."""
    found, a, b, zero = 0, body[g], body[h], f4(0.0)
    for i in range(start[g], start[g + 1]):
        _, near = near_ball(
            frames, a, balls, i, b, around, balls[i, 3] + balls[around, 3] + margin, slack, row
        )
        if near == zero:
            continue
        for j in range(start[h], start[h + 1]):
            hits, near = near_ball(frames, a, balls, i, b, j, balls[i, 3] + balls[j, 3] + margin, slack, row)
            if hits > zero:
                return -int(hits)
            found |= int(near)
    return found


@kernel
def test_block(c: Checker, active: Ints, count: int, near: Ints) -> tuple[int, int, int]:
    """Try the first ``count`` of ``active`` (k,), rows of ``c.pairs``, on the pieces around ``c.q``, ``c.move``.

    Returns the row that touches and the set of lanes where; or -1, the set of lanes that are not known to be clear, and
    how many rows were written to ``near`` (k,): those that keep lanes from being clear.
    """
    c, active, near = borrowed(c), borrowed(active), borrowed(near)
    kind, body, start = c.scene.kind, c.robot.group_body, c.robot.group_start
    shapes, groups, lanes, kept, known = len(kind), len(body), 0, 0, c.known
    pairs, margins, exact, frames, centres = c.pairs, c.margins, c.exact, c.frames, c.centres
    slack, move, reach, balls, bounds = c.slack, c.move, c.reach, c.balls, c.bounds
    pose, size, rounding, bound = c.pose, c.size, c.rounding, c.bound
    spheres = len(balls) - groups
    forward_lanes(c.q, c.chain, c.robot.prismatic, frames, c.turn)
    for g in range(groups):
        known[g] = 0
    for n in range(count):
        i = active[n]
        g, s = pairs[i, 0], pairs[i, 1]
        m = f4(margins[g, s])
        if known[g] == 0:
            known[g] = 1
            centre_lanes(body[g], g, bounds, frames, centres)
            spread(reach, move, slack, g, 0, body[g], g)
        if s < shapes:
            if not ball_near_point(
                centres, slack, g, g, pose[s, 9], pose[s, 10], pose[s, 11], bounds[g, 3] + bound[s] + m
            ):
                continue
            if exact[g, s]:
                found = exactly(c, g, g, s, margins[g, s])
            else:
                found = test_shape(
                    frames,
                    slack,
                    balls,
                    body,
                    start,
                    pose,
                    size,
                    g,
                    s,
                    spheres + g,
                    rounding[s] + m,
                    kind[s] == CYLINDER,
                )
        else:
            h = s - shapes
            if known[h] == 0:
                known[h] = 1
                centre_lanes(body[h], h, bounds, frames, centres)
                spread(reach, move, slack, h, 0, body[h], h)
            if not balls_near(centres, slack, g, h, h, bounds[g, 3] + bounds[h, 3] + m):
                continue
            spread(reach, move, slack, h, body[g], body[h], groups)
            if exact[g, s]:
                found = exactly(c, groups, g, s, margins[g, s])
            else:
                found = test_groups(frames, slack, balls, body, start, g, h, spheres + h, groups, m)
        if found < 0:
            return i, -found, 0
        if found:
            lanes |= found
            near[kept] = i
            kept += 1
    return -1, lanes, kept
