"""Regions that the arm keeps clear of although nothing is seen there, and the window in which bins are picked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind, WorldObject


class RegionShape(Enum):
    """The shape of a region."""

    SPHERE = "sphere"
    CAPSULE = "capsule"


@dataclass(frozen=True, slots=True)
class Region:
    """A region that counts while the tip goes from the side of the belt to that of the stack, or back.

    Attributes:
        name: Its name.
        shape: Its shape.
        center: Its middle in world, (3,), m.
        radius: Its radius, m.
        length: Length of the straight part of a capsule, m; 0 for a sphere.
        axis: Direction of a capsule in world, (3,), of any length.
    """

    name: str
    shape: RegionShape
    center: tuple[float, float, float]
    radius: float
    length: float = 0.0
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("name: is empty; write one, it is shown in decider/regions")
        if self.radius <= 0.0:
            raise ValueError(f"radius: is {self.radius}; write more than 0")
        if (self.length > 0.0) != (self.shape is RegionShape.CAPSULE):
            raise ValueError(
                f"length: is {self.length}; write more than 0 for a capsule, and none for a sphere"
            )
        if not np.linalg.norm(self.axis) > 1e-6:
            raise ValueError(f"axis: is {self.axis}; write a direction, such as [0, 0, 1]")

    @property
    def body(self) -> WorldObject:
        """The region as an object."""
        if self.shape is RegionShape.SPHERE:
            shape = Shape(ShapeKind.SPHERE, np.array([self.radius]), Pose.identity())
        else:
            shape = Shape(ShapeKind.CAPSULE, np.array([self.radius, self.length]), Pose.identity())
        return WorldObject(self.name, (shape,), True)

    @property
    def world_T_region(self) -> Pose:
        """Pose in world; z is along ``axis``."""
        z = np.asarray(self.axis) / np.linalg.norm(self.axis)
        x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (1.0, 0.0, 0.0), z)
        x /= np.linalg.norm(x)
        return Pose.of(self.center, Rotation.from_matrix(np.column_stack([x, np.cross(z, x), z])))


@dataclass(frozen=True, slots=True)
class Window:
    """Where loose bins are picked, in world, m; bins on the shelf are picked in any case.

    Attributes:
        x: Least and largest x.
        y: Least and largest y.
    """

    x: tuple[float, float]
    y: tuple[float, float]

    def __post_init__(self) -> None:
        for name in ("x", "y"):
            low, high = getattr(self, name)
            if low >= high:
                raise ValueError(f"{name}: is {[low, high]}; write the smaller number first")

    def holds(self, x: float, y: float) -> bool:
        """Check whether a position is in the window.

        Args:
            x: x in world, m.
            y: y in world, m.
        """
        return self.x[0] < x < self.x[1] and self.y[0] < y < self.y[1]
