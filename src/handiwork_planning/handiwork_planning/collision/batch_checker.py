"""Pack one query's robot, world and margins for block tests."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.world import ShapeKind
from handiwork_planning.distance.shapes import to_shape
from handiwork_planning.kernels.arrays import SLIDES, RobotArrays, SceneArrays
from handiwork_planning.kernels.borrowed_ref import borrowed
from handiwork_planning.kernels.jit import inlined, kernel
from handiwork_planning.kernels.simd_kinematics import LANES

from .batch_check import Checker

BOX, SPHERE, CYLINDER, CAPSULE = (
    int(kind) for kind in (ShapeKind.BOX, ShapeKind.SPHERE, ShapeKind.CYLINDER, ShapeKind.CAPSULE)
)
NO_ROOM_M = 1.0e-4
"""Pairs whose margin and radius together leave less than this are exact, m.

Block tests do not see how deep a sphere's centre is.
"""


def checker_of(robot: RobotArrays, scene: SceneArrays, margins: Array) -> Checker:
    """Return a checker with scratch of its own: two of them may work at the same time.

    Args:
        robot: The arm as a chain, with its groups of spheres.
        scene: The shapes of the world.
        margins: Smallest allowed distance of each pair, (g, m + g), m.
    """
    groups, n, shapes, single = len(robot.bounds), len(robot.lower), len(scene.kind), np.float32
    joints = len(robot.chain)
    most = groups * shapes + len(robot.pairs)
    empty = Checker(
        robot=robot,
        scene=scene,
        margins=margins,
        pairs=np.empty((most, 2), np.int64),
        exact=np.empty(margins.shape, np.int64),
        chain=np.empty((joints, 12), single),
        ratio=np.empty(joints, single),
        balls=np.empty((len(robot.spheres) + groups, 4), single),
        reach=np.empty((groups, joints), single),
        levers=np.empty((groups, n), single),
        pose=np.empty((shapes, 12), single),
        size=np.empty((shapes, 3), single),
        rounding=np.empty(shapes, single),
        bound=np.empty(shapes, single),
        known=np.empty(groups, np.int64),
        listed=np.empty((3, most), np.int64),
        q=np.zeros((n, LANES), single),
        move=np.zeros((n, LANES), single),
        most=np.zeros(n, single),
        share=np.zeros((1, LANES), single),
        frames=np.empty((12 * (joints + 1), LANES), single),
        centres=np.empty((3 * (len(robot.spheres) + groups), LANES), single),
        slack=np.empty(groups, single),
    )
    return empty._replace(pairs=empty.pairs[: fill(empty)])


@kernel
def fill(c: Checker) -> int:
    """Write all but scratch from ``c.robot``, ``c.scene`` and ``c.margins``.

    Args:
        c: The checker.

    Returns:
        The number of pairs.
    """
    c = borrowed(c)
    c.chain[:] = c.robot.chain
    c.ratio[:] = c.robot.ratio
    spheres = len(c.robot.spheres)
    c.balls[:spheres] = c.robot.spheres
    c.balls[spheres:] = c.robot.bounds
    c.reach[:] = c.robot.reach
    c.levers[:] = c.robot.levers
    c.pose[:] = c.scene.pose
    c.bound[:] = c.scene.bound
    for s in range(len(c.scene.kind)):
        fill_shape(c, s)
    return fill_pairs(c)


@inlined
def fill_shape(c: Checker, s: int) -> None:
    """Write the core and the rounding of one shape.

    Boxes, spheres and capsules become a rounded box; cylinders keep radius and half length.

    Args:
        c: The checker.
        s: Index of the shape.
    """
    kind, size = c.scene.kind[s], c.scene.size
    rounded = kind in (SPHERE, CAPSULE)
    c.rounding[s] = size[s, 0] if rounded else 0.0
    c.size[s, 0] = 0.0 if rounded else size[s, 0]
    c.size[s, 1] = 0.0 if rounded else size[s, 1]
    c.size[s, 2] = size[s, 1] if kind == CAPSULE else size[s, 2]
    if kind == SPHERE:
        c.size[s, 2] = 0.0


@inlined
def fill_pairs(c: Checker) -> int:
    """Write the pairs that count and can ever meet, tool groups first.

    Args:
        c: The checker.

    Returns:
        The number of pairs.
    """
    robot, scene, margins, pairs, exact = c.robot, c.scene, c.margins, c.pairs, c.exact
    shapes, count = len(scene.kind), 0
    # With followers the lever about the first joint is no bound: other joints may move by the same driver.
    turning = len(robot.chain) == len(robot.lower) and robot.joints[:, SLIDES].sum() == 0
    ox, oy, oz = robot.chain[0, 9], robot.chain[0, 10], robot.chain[0, 11]
    for g in range(len(robot.group_body) - 1, -1, -1):
        thick, thin = thickness(robot, g)
        for s in range(shapes):
            if margins[g, s] < -1.0e8:
                continue
            # No sphere's centre comes farther from the first joint than the first joint's lever.
            if turning and to_shape(scene, s, ox, oy, oz) > robot.reach[g, 0] + thick + margins[g, s]:
                continue
            solid = scene.kind[s] in (BOX, SPHERE, CYLINDER, CAPSULE)
            exact[g, s] = 0 if solid and margins[g, s] + thin > NO_ROOM_M else 1
            pairs[count, 0], pairs[count, 1] = g, s
            count += 1
    for k in range(len(robot.pairs)):
        a, b = robot.pairs[k, 0], robot.pairs[k, 1]
        if margins[a, shapes + b] > -1.0e8:
            room = margins[a, shapes + b] + thickness(robot, a)[1] + thickness(robot, b)[1]
            exact[a, shapes + b] = 0 if room > NO_ROOM_M else 1
            pairs[count, 0], pairs[count, 1] = a, shapes + b
            count += 1
    return count


@kernel
def thickness(robot: RobotArrays, g: int) -> tuple[float, float]:
    """Return the largest and the smallest radius of a group, m.

    Args:
        robot: The arm with its groups of spheres.
        g: Index of the group.
    """
    thick, thin = 0.0, 1.0e9
    for i in range(robot.group_start[g], robot.group_start[g + 1]):
        thick, thin = max(thick, robot.spheres[i, 3]), min(thin, robot.spheres[i, 3])
    return thick, thin
