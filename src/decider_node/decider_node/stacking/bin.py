"""The bin: an open box, the poses of a cup that holds it, and the side of it that is up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind, WorldObject

LENGTH_M, WIDTH_M, HEIGHT_M, WALL_M = 0.30, 0.20, 0.135, 0.006
"""Outer sizes along x, y and z of the bin's frame, and its wall. The origin is the middle; the open side is at +z."""
MASS_KG = 0.8
LEVEL = 0.985
"""Cosine of a tilt of 10 degrees; smaller tilts count as level."""
PLACED_M, PLACED_RAD = 0.01, float(np.radians(2.0))
TOUCH_M = 0.004
"""Overlap of two bins below which they only touch."""
HALF_TURN = Rotation.from_axis_angle((0.0, 0.0, 1.0), np.pi)
INSIDE = Pose.of((0.0, 0.0, WALL_M - 0.5 * HEIGHT_M), Rotation.from_axis_angle((1.0, 0.0, 0.0), np.pi))
"""``bin_T_tip`` of a cup that holds the bottom from inside."""
OUTSIDE = Pose.of((0.0, 0.0, -0.5 * HEIGHT_M))
"""``bin_T_tip`` of a cup that holds the bottom from outside."""


def bin_body(name: str) -> WorldObject:
    """Return a bin: a bottom and four walls.

    Args:
        name: Its name.
    """
    inner = HEIGHT_M - WALL_M
    x, y = 0.5 * (LENGTH_M - WALL_M), 0.5 * (WIDTH_M - WALL_M)
    boxes = [
        ((LENGTH_M, WIDTH_M, WALL_M), (0.0, 0.0, 0.5 * (WALL_M - HEIGHT_M))),
        *(((WALL_M, WIDTH_M, inner), (side * x, 0.0, 0.5 * WALL_M)) for side in (-1.0, 1.0)),
        *(((LENGTH_M - 2 * WALL_M, WALL_M, inner), (0.0, side * y, 0.5 * WALL_M)) for side in (-1.0, 1.0)),
    ]
    shapes = tuple(Shape(ShapeKind.BOX, np.array(size), Pose.of(at)) for size, at in boxes)
    return WorldObject(name, shapes, mass_kg=MASS_KG)


@dataclass(frozen=True, slots=True, eq=False)
class CupPose:
    """A pose of the tip of the cup that holds a bin.

    Attributes:
        world_T_tip: The pose.
        needs_flip: True when the cup reaches into the bin, or holds a wall of one on its side.
    """

    world_T_tip: Pose
    needs_flip: bool
    from_inside: bool
    """True when the cup reaches into the bin, down to its bottom."""

    @property
    def axis(self) -> Array:
        """The direction of the approach in world, which is z of the tip, (3,)."""
        return np.asarray(self.world_T_tip.rotation.matrix()[:, 2])


def open_side(world_T_bin: Pose) -> Array:
    """Return the direction of the open side in world, (3,).

    Args:
        world_T_bin: Pose of the bin.
    """
    return np.asarray(world_T_bin.rotation.matrix()[:, 2])


def is_level(world_T_bin: Pose) -> bool:
    """Check whether the bin stands on its bottom or on its rim.

    Args:
        world_T_bin: Pose of the bin.
    """
    return abs(float(open_side(world_T_bin)[2])) > LEVEL


def wall_up(world_T_bin: Pose) -> tuple[int, float] | None:
    """Return the wall that is on top of a bin on its side.

    Args:
        world_T_bin: Pose of the bin.

    Returns:
        Axis of the bin's frame, 0 or 1, and its sign; None when the bin does not lie on a side.
    """
    rows = world_T_bin.rotation.matrix()[2, :2]
    axis = int(np.argmax(np.abs(rows)))
    return (axis, float(np.sign(rows[axis]))) if abs(float(rows[axis])) > LEVEL else None


def _on_wall(axis: int, sign: float) -> Pose:
    """Return ``bin_T_tip`` of a cup that holds a wall from outside."""
    out = np.zeros(3)
    out[axis] = sign
    at = 0.5 * (LENGTH_M, WIDTH_M)[axis] * out + (0.0, 0.0, 0.5 * WALL_M)
    x = np.array([0.0, 0.0, 1.0])
    return Pose.of(at, Rotation.from_matrix(np.column_stack([x, np.cross(-out, x), -out])))


def grasp_of(world_T_bin: Pose, *, half_turned: bool, on_shelf: bool = False) -> CupPose:
    """Return the grasp of a bin: from above, of a bottom or of a wall; from behind, of a bottom on the shelf.

    Args:
        world_T_bin: Pose of the bin.
        half_turned: True to turn the cup by half a turn about its axis: both fit, the arm reaches one more easily.
        on_shelf: True when the bin lies on its side on the shelf.
    """
    from_inside = float(open_side(world_T_bin)[2]) > LEVEL
    wall = None if on_shelf else wall_up(world_T_bin)
    tip = world_T_bin @ (INSIDE if from_inside else OUTSIDE if wall is None else _on_wall(*wall))
    if half_turned:
        tip = Pose.of(tip.translation_m, tip.rotation @ HALF_TURN)
    return CupPose(tip, from_inside or wall is not None, from_inside)


def stands_at(world_T_bin: Pose, place: Pose) -> bool:
    """Check whether a bin is in a place, either way round: within 10 mm and 2 degrees.

    Args:
        world_T_bin: Pose of the bin.
        place: Pose of the place.
    """
    apart = float(np.linalg.norm(world_T_bin.translation_m - place.translation_m))
    if apart > PLACED_M:
        return False
    return min(world_T_bin.rotation.angle_to(p.rotation) for p in (place, turned(place))) <= PLACED_RAD


def overlap(one: Pose, other: Pose) -> bool:
    """Check whether two bins, as solid boxes, would overlap by more than ``TOUCH_M``.

    Separating axes of two oriented boxes: Gottschalk, Lin, Manocha, "OBBTree", 1996.

    Args:
        one: Pose of a bin.
        other: Pose of the other bin.
    """
    half = 0.5 * (np.array([LENGTH_M, WIDTH_M, HEIGHT_M]) - TOUCH_M)
    first, second = one.rotation.matrix(), other.rotation.matrix()
    axes = np.vstack([first.T, second.T, np.cross(first.T[:, None], second.T).reshape(9, 3)])
    apart = np.abs(axes @ (other.translation_m - one.translation_m))
    return bool((apart <= (np.abs(axes @ first) + np.abs(axes @ second)) @ half + 1e-12).all())


def turned(world_T_bin: Pose) -> Pose:
    """Return the bin turned by half a turn about its own z: it fills the same place.

    Args:
        world_T_bin: Pose of the bin.
    """
    return Pose.of(world_T_bin.translation_m, world_T_bin.rotation @ HALF_TURN)
