"""Pack one query's robot, world and margins for block tests."""

from __future__ import annotations

import numpy as np

from handiwork_core.geometry import Array
from handiwork_core.world import ShapeKind

from .arrays import OFF, Ints, RobotArrays, SceneArrays
from .blocks import Checker
from .distances import to_shape
from .jit import kernel
from .lanes import LANES, Floats

SOLID = (int(ShapeKind.BOX), int(ShapeKind.SPHERE), int(ShapeKind.CYLINDER), int(ShapeKind.CAPSULE))


def checker_of(robot: RobotArrays, scene: SceneArrays, margins: Array) -> Checker:
    """A checker with scratch of its own: two of them may work at the same time."""
    f4, groups, n = np.float32, len(robot.bounds), len(robot.lower)
    half, rounding = _cores(scene)
    pairs = pairs_within_reach(robot, scene, margins)
    return Checker(
        robot=robot,
        scene=scene,
        margins=margins,
        pairs=pairs,
        exact=_exact(robot, scene, margins),
        chain=robot.chain.astype(f4),
        balls=np.concatenate([robot.spheres, robot.bounds]).astype(f4),
        bounds=robot.bounds.astype(f4),
        reach=robot.reach.astype(f4),
        pose=scene.pose.astype(f4),
        size=half,
        rounding=rounding,
        bound=scene.bound.astype(f4),
        known=np.zeros(groups, np.int64),
        listed=np.zeros((3, len(pairs)), np.int64),
        q=np.zeros((n, LANES), f4),
        move=np.zeros((n, LANES), f4),
        turn=np.zeros((2, LANES), f4),
        frames=np.zeros((n + 1, 12, LANES), f4),
        centres=np.zeros((groups, 3, LANES), f4),
        slack=np.zeros((groups + 1, LANES), f4),
    )


@kernel
def pairs_within_reach(robot: RobotArrays, scene: SceneArrays, margins: Array) -> Ints:
    """(k, 2) group and column of ``margins`` (g, m + g) of pairs that count and can ever meet; tool groups first."""
    shapes, groups, turning = len(scene.kind), len(robot.group_body), robot.prismatic.sum() == 0
    found = np.empty((groups * shapes + len(robot.pairs), 2), dtype=np.int64)
    count = 0
    ox, oy, oz = robot.chain[0, 9], robot.chain[0, 10], robot.chain[0, 11]
    for g in range(groups - 1, -1, -1):
        thick = 0.0
        for i in range(robot.group_start[g], robot.group_start[g + 1]):
            thick = max(thick, robot.spheres[i, 3])
        for s in range(shapes):
            if margins[g, s] < -1.0e8:
                continue
            # No sphere's centre comes farther from the first joint than the first joint's lever.
            if turning and to_shape(scene, s, ox, oy, oz) > robot.reach[g, 0] + thick + margins[g, s]:
                continue
            found[count, 0], found[count, 1] = g, s
            count += 1
    for k in range(len(robot.pairs)):
        a, b = robot.pairs[k, 0], robot.pairs[k, 1]
        if margins[a, shapes + b] > -1.0e8:
            found[count, 0], found[count, 1] = a, shapes + b
            count += 1
    return found[:count]


def _cores(scene: SceneArrays) -> tuple[Floats, Floats]:
    """Half edges (m, 3) of rounded boxes and their rounding (m,); cylinders keep radius and half length."""
    half, rounding = scene.size.astype(np.float32), np.zeros(len(scene.kind), np.float32)
    balls, rods = scene.kind == int(ShapeKind.SPHERE), scene.kind == int(ShapeKind.CAPSULE)
    round_ones = balls | rods
    rounding[round_ones] = half[round_ones, 0]
    half[rods, 2] = half[rods, 1]
    half[balls, 2] = 0.0
    half[round_ones, :2] = 0.0
    return half, rounding


def _exact(robot: RobotArrays, scene: SceneArrays, margins: Array) -> Ints:
    """Block tests do not see how deep a sphere's centre is: margins below minus the least radius need exact ones."""
    shapes = len(scene.kind)
    least = np.minimum.reduceat(robot.spheres[:, 3], robot.group_start[:-1])
    floor = np.concatenate(
        [np.broadcast_to(least[:, None], (len(least), shapes)), least[:, None] + least], axis=1
    )
    exact = (margins + floor <= 1.0e-4) & (margins > 0.5 * OFF)
    exact[:, :shapes] |= ~np.isin(scene.kind, SOLID)
    return exact.astype(np.int64)
