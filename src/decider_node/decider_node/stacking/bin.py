"""The bin: an open box, where a cup can hold it, and which side of it is up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.geometry import Array, Pose, Rotation
from handiwork_core.world import Shape, ShapeKind, WorldObject

LENGTH_M, WIDTH_M, HEIGHT_M, WALL_M = 0.30, 0.20, 0.135, 0.006
"""Outside, along x, y and z of its frame, whose origin is its middle; the open side is at +z."""
MASS_KG = 0.8
LEVEL = 0.985
"""Cosine of a tilt of 10 degrees: less counts as level."""
HALF_TURN = Rotation.from_axis_angle((0.0, 0.0, 1.0), np.pi)
INSIDE = Pose.of((0.0, 0.0, WALL_M - 0.5 * HEIGHT_M), Rotation.from_axis_angle((1.0, 0.0, 0.0), np.pi))
"""``bin_T_tip`` of a cup that holds the bottom from inside."""
OUTSIDE = Pose.of((0.0, 0.0, -0.5 * HEIGHT_M))
"""``bin_T_tip`` of a cup that holds the bottom from outside."""


def bin_body(name: str) -> WorldObject:
    """A bottom and four walls."""
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
class Grasp:
    """Where the tip of the cup goes. ``from_inside``: it reaches into the bin, which has to be turned then."""

    world_T_tip: Pose
    from_inside: bool
    length_m: float
    """Straight way of the approach, along the cup's axis [m]."""

    @property
    def axis(self) -> Array:
        """(3,) the way of the cup, z of the tip."""
        return np.asarray(self.world_T_tip.rotation.matrix()[:, 2])


def open_side(world_T_bin: Pose) -> Array:
    """(3,) direction of the open side in the world."""
    return np.asarray(world_T_bin.rotation.matrix()[:, 2])


def is_level(world_T_bin: Pose) -> bool:
    """Tells whether the bin stands on its bottom or on its rim."""
    return abs(float(open_side(world_T_bin)[2])) > LEVEL


def grasp_of(world_T_bin: Pose, *, half_turned: bool) -> Grasp:
    """Returns the grasp from above, or from behind for a bin that stands on its side.

    ``half_turned`` about the cup's axis: both fit, the arm reaches one more easily.
    """
    from_inside = float(open_side(world_T_bin)[2]) > LEVEL
    bin_T_tip = INSIDE if from_inside else OUTSIDE
    tip = world_T_bin @ bin_T_tip
    if half_turned:
        tip = Pose.of(tip.translation_m, tip.rotation @ HALF_TURN)
    return Grasp(tip, from_inside, HEIGHT_M + 0.06 if from_inside else 0.1)


def turned(world_T_bin: Pose) -> Pose:
    """The bin turned by half a turn about its own z: it fills the same place."""
    return Pose.of(world_T_bin.translation_m, world_T_bin.rotation @ HALF_TURN)
