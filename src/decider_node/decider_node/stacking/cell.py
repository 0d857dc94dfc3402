"""The cell as a scene: conveyor, pallet, flip shelf; and regions without a visible body, which the arm avoids."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from handiwork_core.model.conveyor import BeltSpec
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.scene.loader import Scene, SceneObject

from .bin import HEIGHT_M, WIDTH_M, bin_body
from .layout import Layout

FLOOR_Z_M, BELT_Z_M, PALLET_Z_M = -0.75, -0.25, -0.59
BELT_END_Y_M, BELT_START_Y_M, BELT_MPS = 0.42, 2.4, 0.3
SHELF_AZIMUTH_RAD, SHELF_RADIUS_M, SHELF_TOOL_Z_M = 0.5, 0.70, -0.06
"""Bottom of a bin that is on its side on the shelf: angle and distance about the robot, height of its middle."""
DROPPED_Z_M = -0.62
"""Height of a bin's middle below which it lies on the floor, m."""
STALE_S = 0.2
"""Age of the observation of bins, against the joints, from which the arm stops: they may be elsewhere by now, s."""

FULL = Layout((0.85, 0.64, 0.43), (-0.72, -0.41, -0.1), 4, PALLET_Z_M)
SMALL = Layout((0.85, 0.64), (-0.62, -0.31), 3, PALLET_Z_M)


@cache
def shelf_axis() -> Array:
    """Return the horizontal unit vector from the robot to the shelf, (3,)."""
    return frozen([np.cos(SHELF_AZIMUTH_RAD), np.sin(SHELF_AZIMUTH_RAD), 0.0])


@cache
def place_on_shelf() -> Pose:
    """Return the pose in world of a bin on its side, its open side towards the robot."""
    out, up = shelf_axis(), np.array([0.0, 0.0, 1.0])
    middle = (SHELF_RADIUS_M - 0.5 * HEIGHT_M) * out + SHELF_TOOL_Z_M * up
    return Pose.of(middle, Rotation.from_matrix(np.column_stack([np.cross(up, -out), up, -out])))


def fixtures() -> tuple[SceneObject, ...]:
    """Return all objects that do not move; the belt's surface does."""
    out = shelf_axis()
    shelf = (SHELF_RADIUS_M - 0.5 * HEIGHT_M) * out
    turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), SHELF_AZIMUTH_RAD)
    shelf_top = SHELF_TOOL_Z_M - 0.5 * WIDTH_M
    belt = (0.6, BELT_START_Y_M - BELT_END_Y_M, 0.1)
    return (
        _box("floor", (6.0, 6.0, 0.1), (0.0, 0.0, FLOOR_Z_M - 0.05)),
        _box("belt", belt, (0.0, 0.5 * (BELT_START_Y_M + BELT_END_Y_M), BELT_Z_M - 0.05), belt=True),
        _box("belt_end", (0.6, 0.02, 0.12), (0.0, BELT_END_Y_M - 0.01, BELT_Z_M - 0.04)),
        _box("pallet", (0.72, 1.0, 0.1), (0.64, -0.41, PALLET_Z_M - 0.05)),
        _box("shelf", (0.16, 0.34, 0.03), (*shelf[:2], shelf_top - 0.015), turn),
        _box("shelf_post", (0.06, 0.06, shelf_top - 0.03 - FLOOR_Z_M),
             (*shelf[:2], 0.5 * (shelf_top - 0.03 + FLOOR_Z_M)), turn),
    )  # fmt: skip


def scene(bins: int, parked: Pose) -> Scene:
    """Return the cell with bins named ``bin_<n>``.

    Args:
        bins: Number of bins.
        parked: Pose of the first bin; the others are beside it along x.
    """
    items = [
        SceneObject(
            bin_body(f"bin_{k}"),
            Pose.of(parked.translation_m + (0.4 * k, 0.0, 0.0), parked.rotation),
            0.6,
            (0.2, 0.45, 0.7, 1.0),
        )
        for k in range(bins)
    ]
    return Scene("bin_stacking", "bin_stacking", Pose.identity(), (*fixtures(), *items))


def regions() -> dict[str, tuple[WorldObject, Pose]]:
    """Return body and pose of the regions by name.

    ``over_shelf`` keeps the arm off a bin on the shelf, ``low_middle`` keeps it up between the sides.
    """
    shelf = (SHELF_RADIUS_M - 0.5 * HEIGHT_M) * shelf_axis() + (0.0, 0.0, SHELF_TOOL_Z_M)
    ball = Shape(ShapeKind.SPHERE, np.array([0.19]), Pose.identity())
    capsule = Shape(ShapeKind.CAPSULE, np.array([0.2, 0.2]), Pose.identity())
    return {
        "over_shelf": (WorldObject("over_shelf", (ball,), True), Pose.of(shelf)),
        "low_middle": (WorldObject("low_middle", (capsule,), True), Pose.of((0.42, 0.24, -0.55))),
    }


def obstacles() -> World:
    """Return the objects that the arm avoids: fixtures, and the regions."""
    objects = {item.name: (item.body, item.world_T_object) for item in fixtures()} | regions()
    still = frozen(np.zeros(3))
    return World(
        0.0,
        objects={name: body for name, (body, _) in objects.items()},
        states={name: ObjectState(pose, still, still, 0.0) for name, (_, pose) in objects.items()},
    )


def _box(
    name: str, size: ArrayLike, at: ArrayLike, turn: Rotation | None = None, *, belt: bool = False
) -> SceneObject:
    shape = Shape(ShapeKind.BOX, np.asarray(size, dtype=np.float64), Pose.identity())
    body = WorldObject(name, (shape,), is_static=True)
    runs = BeltSpec((0.0, -BELT_MPS, 0.0)) if belt else None
    grey = (0.15, 0.15, 0.15, 1.0) if belt else (0.5, 0.5, 0.5, 1.0)
    return SceneObject(body, Pose.of(at, turn), 0.6, grey, belt=runs)
