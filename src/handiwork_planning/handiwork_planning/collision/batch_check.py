"""A test of sixteen configurations at once: which pairs touch, or might touch on the way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import ShapeKind
from handiwork_planning.kernels.arrays import DRIVER, FIELD, PARENT, Ints, RobotArrays, SceneArrays
from handiwork_planning.kernels.borrowed_ref import borrowed
from handiwork_planning.kernels.jit import inlined, kernel
from handiwork_planning.kernels.simd import Wide
from handiwork_planning.kernels.simd_kinematics import (
    LANES,
    Floats,
    centre_lanes,
    f4,
    forward_lanes,
    near_point,
    square_between,
    square_to_box,
    square_to_cylinder,
    within,
)

from .field_check import balls_to_field, lanes_near_field
from .pair_distance import pair_gap

FINEST_M = 0.0005
"""Smallest motion that a test resolves, m.

A pair counts as clear of a piece on which it cannot come closer than this to the distance at the piece's middle; if
its margin is larger than that, it never touches.
"""

CYLINDER = int(ShapeKind.CYLINDER)

WHOLE, STILL, SWEPT = 0, 1, 2
"""Modes of ``test_block``: pieces; their middles alone, which cost half; the same pieces right after that."""


class Checker(NamedTuple):
    """Robot, world and margins for block tests, with scratch; for one thread."""

    robot: RobotArrays
    scene: SceneArrays
    margins: Array
    """(g, m + g) smallest allowed distance of group and column [m]; OFF if the pair does not count."""
    pairs: Ints
    """(p, 2) group and column that count; those that hit often move to the front."""
    exact: Ints
    """(g, m + g) 1 if the pair is measured lane by lane: occupied cells in float32; in float64 hulls, and depths beyond
    a sphere's centre.
    """
    chain: Floats
    """(m, 12)."""
    ratio: Floats
    """(m,)."""
    balls: Floats
    """(s + g, 4) spheres, then one around each group."""
    reach: Floats
    """(g, m)."""
    levers: Floats
    """(g, n)."""
    pose: Floats
    """(m, 12) world_T_shape."""
    size: Floats
    """(m, 3) half edges of a core, which ``rounding`` (m,) makes a box, sphere or capsule; cylinders keep theirs."""
    rounding: Floats
    bound: Floats
    """(m,)."""
    known: Ints
    """(g,) 1 where a group's last row of ``centres`` is up to date, 2 where all of its rows are."""
    listed: Ints
    """(3, p) scratch: rows of ``pairs`` of this round, of the next, and of a block."""
    q: Floats
    """(n, LANES) configurations."""
    move: Floats
    """(n, LANES) largest distance of each joint from that configuration on the lane's piece."""
    most: Floats
    """(n,) the largest of ``move``; a lane moves no joint more than its ``share`` (1, LANES) of it."""
    share: Floats
    frames: Floats
    """(12 (m + 1), LANES) body poses."""
    centres: Floats
    """(3 (s + g), LANES) world centres of ``balls``."""
    slack: Floats
    """(g,) largest distance of a group's points on a piece from their places in its middle [m], if all of ``most`` is
    moved.
    """


@inlined
def farthest(reach: Floats, most: Floats, g: int, after: int, before: int) -> np.float32:
    """Return the longest way that joints ``after``..``before`` may move group ``g`` on a piece, m; 0 up to FINEST_M.

    Args:
        reach: Lever of each group about each joint of the arm, (g, n), m/rad or m/m.
        most: Largest joint moves on the piece, (n,), rad or m.
        g: Index of the group.
        after: First joint.
        before: The joint after the last.
    """
    total = f4(0.0)
    for j in range(after, before):
        total += reach[g, j] * most[j]
    return total if total > f4(FINEST_M) else f4(0.0)


@inlined
def farthest_apart(
    reach: Floats, most: Floats, joints: Ints, g: int, h: int, body_g: int, body_h: int
) -> np.float32:
    """Return the longest way of two groups to each other on a piece, m, where links follow joints; 0 up to FINEST_M.

    Args:
        reach: Lever of each group about each joint, (g, m), m/rad or m/m.
        most: Largest moves of the arm's joints on the piece, (n,), rad or m.
        joints: Type, parent and driver of each joint, (m, 3).
        g: Index of the first group.
        h: Index of the second group.
        body_g: Body of the first group.
        body_h: Body of the second group.
    """
    total = f4(0.0)
    # Parents have smaller numbers than their children: the larger one goes up until both meet.
    while body_g != body_h:
        if body_g > body_h:
            total += reach[g, body_g - 1] * most[joints[body_g - 1, DRIVER]]
            body_g = joints[body_g - 1, PARENT]
        else:
            total += reach[h, body_h - 1] * most[joints[body_h - 1, DRIVER]]
            body_h = joints[body_h - 1, PARENT]
    return total if total > f4(FINEST_M) else f4(0.0)


@kernel
def exactly(c: Checker, g: int, column: int, margin: float, slack: float) -> int:
    """Test one pair as ``test_block`` does, in float64, lane by lane.

    Args:
        c: Robot, world and margins.
        g: Index of the group.
        column: Column of the margins.
        margin: Smallest allowed distance, m.
        slack: Longest way of the group on a piece, m.

    Returns:
        Minus the set of lanes below the margin, or the set of lanes that are near.
    """
    near, body, shapes = 0, c.robot.group_body, len(c.scene.kind)
    frames = np.empty((len(c.chain) + 1, 12))
    for k in range(LANES):
        for i in range(12):
            frames[body[g], i] = c.frames[12 * body[g] + i, k]
            if column >= shapes:
                frames[body[column - shapes], i] = c.frames[12 * body[column - shapes] + i, k]
        wide = margin + slack * c.share[0, k]
        gap = pair_gap(c.robot, c.scene, frames, g, column, margin, wide)
        if gap < margin:
            return -(1 << k)
        if gap < wide:
            near |= 1 << k
    return near


@inlined
def centre_all(
    g: int, known: Ints, body: Ints, start: Ints, balls: Floats, frames: Floats, centres: Floats
) -> None:
    """Bring all ``centres`` of group ``g`` up to date.

    Args:
        g: Index of the group.
        known: See ``Checker.known``.
        body: Body of each group, (g,).
        start: First ball of each group, (g + 1,).
        balls: Centres in the body frame and radii, (s + g, 4), m.
        frames: Body poses, (12 (m + 1), LANES).
        centres: Written: world centres, (3 (s + g), LANES), m.
    """
    if known[g] == 2:
        return
    known[g] = 2
    for i in range(start[g], start[g + 1]):
        centre_lanes(body[g], i, balls, frames, centres)


@inlined
def square_to_shape(centres: Floats, i: int, pose: Floats, half: Floats, s: int, is_cylinder: bool) -> Wide:
    """Return the squared distance of a centre to a shape without its rounding, m^2.

    Args:
        centres: World centres, (3 (s + g), LANES), m.
        i: Index of the centre.
        pose: World poses of the shapes, (m, 12).
        half: Half edges of the cores, (m, 3), m.
        s: Index of the shape.
        is_cylinder: The shape is a cylinder, otherwise a rounded box.
    """
    if is_cylinder:
        return square_to_cylinder(centres, i, pose, half, s)
    return square_to_box(centres, i, pose, half, s)


@inlined
def test_shape(
    balls: Floats,
    start: Ints,
    centres: Floats,
    pose: Floats,
    half: Floats,
    g: int,
    s: int,
    margin: float,
    slack: float,
    share: Floats,
    is_cylinder: bool,
) -> int:
    """Test the spheres of a group against a shape.

    Args:
        balls: Spheres, (s + g, 4), m.
        start: First ball of each group, (g + 1,).
        centres: World centres, (3 (s + g), LANES), m.
        pose: World poses of the shapes, (m, 12).
        half: Half edges of the cores, (m, 3), m.
        g: Index of the group.
        s: Index of the shape.
        margin: Smallest allowed distance to the core, m.
        slack: Longest way of the group on a piece, m.
        share: Part of ``slack`` in each lane, (1, LANES).
        is_cylinder: The shape is a cylinder, otherwise a rounded box.

    Returns:
        Minus the set of lanes in which the group is within ``margin``, or the set of lanes in which it is near.
    """
    found = 0
    for i in range(start[g], start[g + 1]):
        square, r = square_to_shape(centres, i, pose, half, s, is_cylinder), balls[i, 3] + margin
        near = within(square, r, slack, share)
        if near:
            hits = within(square, r, f4(0.0), share)
            if hits:
                return -hits
            found |= near
    return found


@inlined
def test_groups(
    balls: Floats,
    start: Ints,
    centres: Floats,
    g: int,
    h: int,
    around: int,
    margin: float,
    slack: float,
    share: Floats,
) -> int:
    """Test the spheres of two groups against each other.

    Args:
        balls: Spheres, (s + g, 4), m.
        start: First ball of each group, (g + 1,).
        centres: World centres, (3 (s + g), LANES), m.
        g: Index of the first group.
        h: Index of the second group.
        around: Index of the ball around the second group.
        margin: Smallest allowed distance, m.
        slack: Longest way of the groups to each other on a piece, m.
        share: Part of ``slack`` in each lane, (1, LANES).

    Returns:
        As ``test_shape``.
    """
    found = 0
    for i in range(start[g], start[g + 1]):
        r = balls[i, 3] + margin
        if not within(square_between(centres, i, around), r + balls[around, 3], slack, share):
            continue
        for j in range(start[h], start[h + 1]):
            square = square_between(centres, i, j)
            near = within(square, r + balls[j, 3], slack, share)
            if near:
                hits = within(square, r + balls[j, 3], f4(0.0), share)
                if hits:
                    return -hits
                found |= near
    return found


@kernel
def test_block(c: Checker, active: Ints, count: int, near: Ints, what: int) -> tuple[int, int, int]:
    """Test pairs on the pieces around ``c.q`` and ``c.most``.

    Args:
        c: Robot, world, margins and pieces.
        active: Rows of ``c.pairs``, (k,).
        count: The first so many of ``active`` are tested.
        near: Written: the rows that keep lanes from being clear, (k,).
        what: WHOLE, STILL or SWEPT.

    Returns:
        The row that touches, the set of lanes in which it does, and 0; or -1, the set of lanes that are not known to be
        clear, and the number of rows in ``near``.
    """
    c, active, near = borrowed(c), borrowed(active), borrowed(near)
    kind, body, start = c.scene.kind, c.robot.group_body, c.robot.group_start
    shapes, groups, lanes, kept, known = len(kind), len(body), 0, 0, c.known
    pairs, margins, exact, frames, centres = c.pairs, c.margins, c.exact, c.frames, c.centres
    slack, most, share, reach, balls = c.slack, c.most, c.share, c.reach, c.balls
    pose, size, rounding, bound = c.pose, c.size, c.rounding, c.bound
    around, joints, levers, follows = len(balls) - groups, c.robot.joints, c.levers, len(c.chain) > len(most)
    if what != SWEPT:
        forward_lanes(c.q, c.chain, joints, c.ratio, frames)
        for g in range(groups):
            known[g] = 0
    for g in range(groups):
        slack[g] = f4(0.0) if what == STILL else farthest(levers, most, g, 0, min(body[g], len(most)))
    for n in range(count):
        i = active[n]
        g, s = pairs[i, 0], pairs[i, 1]
        h, m = s - shapes, f4(margins[g, s])
        if known[g] == 0:
            known[g] = 1
            centre_lanes(body[g], around + g, balls, frames, centres)
        if h < 0:
            r, thick = bound[s] + m, rounding[s] + m
            x, y, z = pose[s, 9], pose[s, 10], pose[s, 11]
            if not near_point(centres, around + g, x, y, z, balls[around + g, 3] + r, slack[g], share):
                continue
            if exact[g, s] and kind[s] == FIELD:
                field, frame, room = c.scene.field, c.scene.field_frame, balls[around + g, 3] + m
                square = square_to_box(centres, around + g, pose, size, s)
                found = within(square, room, slack[g], share)
                if not found:
                    continue
                found = lanes_near_field(field, frame, centres, around + g, found, room, slack[g], share)
                if not found:
                    continue
                centre_all(g, known, body, start, balls, frames, centres)
                found = balls_to_field(
                    field, frame, balls, start[g], start[g + 1], centres, found, m, slack[g], share
                )
            elif exact[g, s]:
                found = exactly(c, g, s, margins[g, s], slack[g])
            else:
                tube = kind[s] == CYLINDER
                square = square_to_shape(centres, around + g, pose, size, s, tube)
                if not within(square, balls[around + g, 3] + thick, slack[g], share):
                    continue
                centre_all(g, known, body, start, balls, frames, centres)
                found = test_shape(balls, start, centres, pose, size, g, s, thick, slack[g], share, tube)
        else:
            if known[h] == 0:
                known[h] = 1
                centre_lanes(body[h], around + h, balls, frames, centres)
            square = square_between(centres, around + g, around + h)
            wide = slack[h]
            if follows:
                wide = farthest_apart(reach, most, joints, g, h, body[g], body[h])
                wide = f4(0.0) if what == STILL else wide
            if not within(square, balls[around + g, 3] + balls[around + h, 3] + m, wide, share):
                continue
            if not follows:
                wide = f4(0.0) if what == STILL else farthest(levers, most, h, body[g], body[h])
            if exact[g, s]:
                found = exactly(c, g, s, margins[g, s], wide)
            else:
                centre_all(g, known, body, start, balls, frames, centres)
                centre_all(h, known, body, start, balls, frames, centres)
                found = test_groups(balls, start, centres, g, h, around + h, m, wide, share)
        if found < 0:
            return i, -found, 0
        if found:
            lanes |= found
            near[kept] = i
            kept += 1
    return -1, lanes, kept
