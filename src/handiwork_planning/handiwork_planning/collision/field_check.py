"""The test of sixteen configurations against occupied cells, lane by lane, by lookups in a field of distances."""

from __future__ import annotations

from handiwork_core.model.geometry import Array
from handiwork_planning.distance.voxel_field import Field, is_far, to_field
from handiwork_planning.kernels.jit import inlined
from handiwork_planning.kernels.simd_kinematics import LANES, Floats


@inlined
def lanes_near_field(
    field: Field,
    frame: Array,
    centres: Floats,
    i: int,
    lanes: int,
    radius: float,
    slack: float,
    share: Floats,
) -> int:
    """Return the set of lanes in which a ball may come to occupied cells on its piece.

    Args:
        field: Bounds at the centres of cells, see ``voxel_field``, m.
        frame: Place and size of the cells, (4,), m.
        centres: World centres of balls, (3 (s + g), LANES), m.
        i: Index of the ball.
        lanes: The set of lanes that count.
        radius: Its radius and the smallest allowed distance, m.
        slack: Longest way of the ball on a piece, m.
        share: Part of ``slack`` in each lane, (1, LANES).
    """
    near = 0
    for k in range(LANES):
        if (lanes >> k) & 1 == 0:
            continue
        x, y, z, room = (
            centres[3 * i, k],
            centres[3 * i + 1, k],
            centres[3 * i + 2, k],
            radius + slack * share[0, k],
        )
        if not is_far(field, frame, x, y, z, room) and to_field(field, frame, x, y, z) < room:
            near |= 1 << k
    return near


@inlined
def balls_to_field(
    field: Field,
    frame: Array,
    balls: Floats,
    first: int,
    last: int,
    centres: Floats,
    lanes: int,
    margin: float,
    slack: float,
    share: Floats,
) -> int:
    """Test the balls of a group against occupied cells.

    Args:
        field: Bounds at the centres of cells, see ``voxel_field``, m.
        frame: Place and size of the cells, (4,), m.
        balls: Spheres, (s + g, 4), m.
        first: First ball of the group.
        last: The ball after its last.
        centres: World centres, (3 (s + g), LANES), m.
        lanes: The set of lanes that count.
        margin: Smallest allowed distance, m.
        slack: Longest way of the group on a piece, m.
        share: Part of ``slack`` in each lane, (1, LANES).

    Returns:
        Minus the lane in which the group is within ``margin`` as a set, or the set of lanes in which it is near.
    """
    found = 0
    for i in range(first, last):
        radius = balls[i, 3] + margin
        for k in range(LANES):
            if (lanes >> k) & 1 == 0:
                continue
            x, y, z, room = (
                centres[3 * i, k],
                centres[3 * i + 1, k],
                centres[3 * i + 2, k],
                slack * share[0, k],
            )
            if is_far(field, frame, x, y, z, radius + room):
                continue
            gap = to_field(field, frame, x, y, z)
            if gap < radius:
                return -(1 << k)
            if gap < radius + room:
                found |= 1 << k
    return found
