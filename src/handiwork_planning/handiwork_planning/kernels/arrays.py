"""The data of kernels: flat arrays, C-contiguous, float64 or int64, bundled so that each kernel has one specialisation.

A transform is 12 numbers: the (3, 3) rotation row by row, then the translation [m].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array, Pose

Ints = NDArray[np.int64]

FIELD = 7
"""The kind of a shape that is all occupied cells, beside those of ShapeKind; its frame is turned as ``world`` is."""
OFF = -1.0e9
"""Margin that switches a pair off: no distance is below it."""
SLIDES, PARENT, DRIVER = 0, 1, 2
"""Columns of ``RobotArrays.joints``."""


class RobotArrays(NamedTuple):
    """One arm at one gripper opening as m moving joints that all turn about, or slide along, local z.

    A configuration has the positions of the arm's n joints. The moving joints are these and those that follow them, as
    in a palletiser: joint j is at ``ratio[j]`` times its driver; without followers m is n. Body 0 is all that the arm
    does not move, and body j + 1 is moved by joint j. The joints that carry the tool come first, one after the other,
    so that body j + 1 of these is on body j; behind them are those of links beside them. A group is a set of spheres of
    one body: one link, or a patch of an attached object.
    """

    chain: Array
    """(m, 12) pose of joint j's zero frame in body its parent; body 0 is the world."""
    joints: Ints
    """(m, 3) whether joint j SLIDES, the body that is its PARENT, and the joint of the arm that is its DRIVER."""
    ratio: Array
    """(m,) move of joint j for each unit of its driver; 1 for the arm's own joints."""
    lower: Array
    """(n,) lower limit [rad or m]."""
    upper: Array
    """(n,) upper limit [rad or m]."""
    tool: Array
    """(12,) EE link in body ``tool_body``."""
    tool_body: int
    """The body that carries the tool; the number of joints that carry it."""
    group_body: Ints
    """(g,) body of each group."""
    group_start: Ints
    """(g + 1,) rows of ``spheres`` of each group."""
    spheres: Array
    """(s, 4) centre in the body frame and radius [m]."""
    bounds: Array
    """(g, 4) sphere around all spheres of a group."""
    reach: Array
    """(g, m) largest speed of any point of the group by joint j per unit speed of its driver [m/rad or m/m]."""
    levers: Array
    """(g, n) the same per unit speed of the arm's joint, by all joints that it drives."""
    pairs: Ints
    """(k, 2) groups that must not touch, body of the first <= body of the second."""


class SceneArrays(NamedTuple):
    """The world as shapes."""

    kind: Ints
    """(m,) ShapeKind, or FIELD."""
    pose: Array
    """(m, 12) world_T_shape."""
    size: Array
    """(m, 3) BOX and FIELD half edges; SPHERE radius; CYLINDER and CAPSULE radius, half length; CONVEX unused [m]."""
    bound: Array
    """(m,) radius of a ball around the shape's local origin [m]."""
    triangle_start: Ints
    """(m + 1,) rows of ``triangles`` of each shape, CONVEX only."""
    triangles: Array
    """(t, 13) three corners, outward unit normal and plane offset, in the shape frame."""
    mesh_start: Ints
    """(m + 1, 2) rows of ``mesh_nodes`` and ``mesh_faces`` of each shape, MESH only."""
    mesh_nodes: Array
    """(b, 8) boxes of the trees over triangles, see ``mesh_tree``."""
    mesh_faces: Array
    """(f, 31) their triangles."""
    field: NDArray[np.float32]
    """(x, y, z) distances of the centres of cells to what is in occupied ones, see ``voxel_field`` [m]."""
    field_frame: Array
    """(4,) world place of the first centre, and edge of a cell [m]."""


def flat(pose: Pose) -> Array:
    """Return a pose as a transform, (12,).

    Args:
        pose: The pose.
    """
    return np.concatenate([pose.rotation.matrix().ravel(), pose.translation_m])
