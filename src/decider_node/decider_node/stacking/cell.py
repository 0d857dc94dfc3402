"""The cell as a scene: conveyor, pallet, flip shelf; and regions without a visible body, which the arm avoids."""

from __future__ import annotations

from dataclasses import dataclass, field
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
from .profile.actions import Actions
from .profile.regions import Region, RegionShape, Window

ON_FLOOR_M = 0.13
"""Height of a bin's middle over the floor below which it lies there, m."""
OVER_SHELF, LOW_MIDDLE = "over_shelf", "low_middle"
"""Names of the regions of the standard cell."""


@dataclass(frozen=True, slots=True)
class Belt:
    """The conveyor, which runs along -y; lengths in m, in the frame ``world``, whose origin is the arm's base.

    Attributes:
        x: Middle of the belt.
        width: Its width.
        start_y: y of its beginning.
        end_y: y of its end, where bins wait.
        top_z: z of its surface.
        speed: Speed while no bin waits, m/s.
        barrier_y: y below which a bin stops the belt, as a light barrier does.
        pick_y: y up to which a bin on the belt is picked; bins farther back are left to come.
        stops: True to stop the belt while a bin waits at its end; else it runs all the time.
    """

    x: float = 0.0
    width: float = 0.6
    start_y: float = 2.4
    end_y: float = 0.42
    top_z: float = -0.25
    speed: float = 0.3
    barrier_y: float = 0.62
    pick_y: float = 0.78
    stops: bool = True


@dataclass(frozen=True, slots=True)
class Shelf:
    """The shelf on which upright bins are set on their side, to be gripped again from behind.

    Attributes:
        azimuth: Angle of its direction from the arm's base, rad.
        radius: Distance of the bottom of a bin on it from the arm's axis, m.
        tool_z: z of the middle of a bin on it, m.
        over: Height over ``tool_z`` at which the cup passes above a bin on it, m.
        beyond: Distance beyond ``radius`` at which it passes, m.
        out: Way of the cup out of a bin that it has put down, more than the bin's height, m.
    """

    azimuth: float = 0.5
    radius: float = 0.70
    tool_z: float = -0.06
    over: float = 0.38
    beyond: float = 0.12
    out: float = 0.2


@dataclass(frozen=True, slots=True)
class Pallet:
    """The board below the stack; its top is the ground of the layout. Lengths in m.

    Attributes:
        x: Middle.
        y: Middle.
        size_x: Length along x.
        size_y: Length along y.
    """

    x: float = 0.64
    y: float = -0.41
    size_x: float = 0.72
    size_y: float = 1.0


@dataclass(frozen=True, slots=True)
class Feeder:
    """How a simulation puts bins onto the belt. Lengths in m.

    Attributes:
        y: Where along the belt.
        aside: Largest distance of a bin from the middle of the belt.
        upside_down: Share of bins that come with their open side down.
    """

    y: float = 1.35
    aside: float = 0.12
    upside_down: float = 0.5


@dataclass(frozen=True, slots=True)
class StackingCell:
    """A cell around an arm whose base is the origin of ``world``. Lengths in m.

    Attributes:
        layout: Places of the stack.
        belt: The conveyor.
        shelf: The flip shelf.
        pallet: The board below the stack.
        feeder: How a simulation brings bins.
        home: Position of the cup's rim while it waits, the cup down.
        floor_z: z of the floor.
        carry_z: Lowest height of the rim across the cell.
        reach: Distances from the arm's axis between which a loose bin is picked.
        middle: Middle of a capsule between belt and stack that the arm crosses above, 0.2 m thick to each side.
        divide: y / x of the line through the base that parts the side of the belt from that of the stack.
        regions: Regions that count in place of that capsule; empty: the capsule.
        over_shelf: Radius of the region around a bin on the shelf.
        window: Where loose bins are picked, beside ``reach`` and ``belt.pick_y``; None: anywhere there.
        actions: Decisions, times, funnels and speeds of the network.
    """

    layout: Layout
    belt: Belt = Belt()
    shelf: Shelf = Shelf()
    pallet: Pallet = Pallet()
    feeder: Feeder = Feeder()
    home: tuple[float, float, float] = (0.0, 0.62, 0.2)
    floor_z: float = -0.75
    carry_z: float = 0.25
    reach: tuple[float, float] = (0.3, 1.12)
    middle: tuple[float, float, float] = (0.42, 0.24, -0.55)
    divide: float = 0.5
    regions: tuple[Region, ...] = ()
    over_shelf: float = 0.19
    window: Window | None = None
    actions: Actions = field(default_factory=Actions)

    @property
    def crossing(self) -> frozenset[str]:
        """Names of the regions that count while the tip goes from one side to the other."""
        return frozenset(region.name for region in self.regions) or frozenset({LOW_MIDDLE})

    @property
    def dropped_z(self) -> float:
        """Height of a bin's middle below which it lies on the floor, m."""
        return self.floor_z + ON_FLOOR_M

    @property
    def world_T_home(self) -> Pose:
        """Pose of the cup's rim in world above the end of the belt."""
        return Pose.of(self.home, Rotation.from_rpy(np.pi, 0.0, 0.0))


PALLET_Z_M = -0.59
FULL = Layout((0.85, 0.64, 0.43), (-0.72, -0.41, -0.1), 4, PALLET_Z_M)
SMALL = Layout((0.85, 0.64), (-0.62, -0.31), 3, PALLET_Z_M)
STANDARD = StackingCell(FULL)
"""The cell of ``config/scenes/bin_stacking.yaml``, for a UR10."""


@cache
def shelf_axis(shelf: Shelf) -> Array:
    """Return the horizontal unit vector from the robot to the shelf, (3,).

    Args:
        shelf: The shelf.
    """
    return frozen([np.cos(shelf.azimuth), np.sin(shelf.azimuth), 0.0])


@cache
def above_shelf(shelf: Shelf) -> Array:
    """Return the position in world, (3,), m, beyond the shelf and over it, from where both sides are free.

    Args:
        shelf: The shelf.
    """
    return frozen((shelf.radius + shelf.beyond) * shelf_axis(shelf) + (0.0, 0.0, shelf.tool_z + shelf.over))


@cache
def place_on_shelf(shelf: Shelf) -> Pose:
    """Return the pose in world of a bin on its side, its open side towards the robot.

    Args:
        shelf: The shelf.
    """
    out, up = shelf_axis(shelf), np.array([0.0, 0.0, 1.0])
    middle = (shelf.radius - 0.5 * HEIGHT_M) * out + shelf.tool_z * up
    return Pose.of(middle, Rotation.from_matrix(np.column_stack([np.cross(up, -out), up, -out])))


def fixtures(site: StackingCell) -> tuple[SceneObject, ...]:
    """Return all objects that do not move; the belt's surface does.

    Args:
        site: The cell.
    """
    belt, pallet, z = site.belt, site.pallet, site.layout.ground_z_m
    out = shelf_axis(site.shelf)
    shelf = (site.shelf.radius - 0.5 * HEIGHT_M) * out
    turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), site.shelf.azimuth)
    shelf_top = site.shelf.tool_z - 0.5 * WIDTH_M
    size = (belt.width, belt.start_y - belt.end_y, 0.1)
    middle = (belt.x, 0.5 * (belt.start_y + belt.end_y), belt.top_z - 0.05)
    return (
        _box("floor", (6.0, 6.0, 0.1), (0.0, 0.0, site.floor_z - 0.05)),
        _box("belt", size, middle, runs=BeltSpec((0.0, -belt.speed, 0.0))),
        _box("belt_end", (belt.width, 0.02, 0.12), (belt.x, belt.end_y - 0.01, belt.top_z - 0.04)),
        _box("pallet", (pallet.size_x, pallet.size_y, 0.1), (pallet.x, pallet.y, z - 0.05)),
        _box("shelf", (0.16, 0.34, 0.03), (*shelf[:2], shelf_top - 0.015), turn),
        _box("shelf_post", (0.06, 0.06, shelf_top - 0.03 - site.floor_z),
             (*shelf[:2], 0.5 * (shelf_top - 0.03 + site.floor_z)), turn),
    )  # fmt: skip


def scene(site: StackingCell, bins: int, parked: Pose) -> Scene:
    """Return the cell with bins named ``bin_<n>``.

    Args:
        site: The cell.
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
    return Scene("bin_stacking", "bin_stacking", Pose.identity(), (*fixtures(site), *items))


def regions(site: StackingCell) -> dict[str, tuple[WorldObject, Pose]]:
    """Return body and pose of the regions by name.

    ``over_shelf`` keeps the arm off a bin on the shelf; ``low_middle``, or those of the cell's file in its place, keep
    it up between the sides.

    Args:
        site: The cell.
    """
    shelf = (site.shelf.radius - 0.5 * HEIGHT_M) * shelf_axis(site.shelf) + (0.0, 0.0, site.shelf.tool_z)
    ball = Shape(ShapeKind.SPHERE, np.array([site.over_shelf]), Pose.identity())
    low_middle = Region(LOW_MIDDLE, RegionShape.CAPSULE, site.middle, 0.2, 0.2)
    crossing = site.regions or (low_middle,)
    found = {OVER_SHELF: (WorldObject(OVER_SHELF, (ball,), True), Pose.of(shelf))}
    return found | {region.name: (region.body, region.world_T_region) for region in crossing}


def obstacles(site: StackingCell) -> World:
    """Return the objects that the arm avoids: fixtures, and the regions.

    Args:
        site: The cell.
    """
    objects = {item.name: (item.body, item.world_T_object) for item in fixtures(site)} | regions(site)
    still = frozen(np.zeros(3))
    return World(
        0.0,
        objects={name: body for name, (body, _) in objects.items()},
        states={name: ObjectState(pose, still, still, 0.0) for name, (_, pose) in objects.items()},
    )


def _box(
    name: str, size: ArrayLike, at: ArrayLike, turn: Rotation | None = None, *, runs: BeltSpec | None = None
) -> SceneObject:
    shape = Shape(ShapeKind.BOX, np.asarray(size, dtype=np.float64), Pose.identity())
    body = WorldObject(name, (shape,), is_static=True)
    grey = (0.5, 0.5, 0.5, 1.0) if runs is None else (0.15, 0.15, 0.15, 1.0)
    return SceneObject(body, Pose.of(at, turn), 0.6, grey, belt=runs)
