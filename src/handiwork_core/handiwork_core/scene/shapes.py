"""Shapes and poses as written in a scene file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import Shape, ShapeKind

from .mesh_file import hull_vertices, solid_mesh

SIZES = {
    ShapeKind.BOX: ("edges x, y, z", 3),
    ShapeKind.SPHERE: ("radius", 1),
    ShapeKind.CYLINDER: ("radius, length", 2),
    ShapeKind.CAPSULE: ("radius, length of the straight part", 2),
    ShapeKind.MESH: ("nothing, or one scale factor", 0),
}


@dataclass(frozen=True, slots=True)
class PoseSpec:
    """Position, m, and either ``yaw``, rad, or ``quaternion_wxyz``; neither means no turn."""

    position: tuple[float, float, float]
    yaw: float | None = None
    quaternion_wxyz: tuple[float, float, float, float] | None = None

    def __post_init__(self) -> None:
        if self.yaw is not None and self.quaternion_wxyz is not None:
            raise ValueError("has both yaw and quaternion_wxyz; keep one")
        self.pose()

    def pose(self) -> Pose:
        """Return the pose as a value."""
        if self.quaternion_wxyz is not None:
            return Pose.of(self.position, Rotation.from_wxyz(self.quaternion_wxyz))
        return Pose.of(self.position, Rotation.from_axis_angle((0.0, 0.0, 1.0), self.yaw or 0.0))


@dataclass(frozen=True, slots=True)
class ShapeSpec:
    """One solid. ``file``: .obj or .stl beside the scene file; its convex hull, or its solid with ``concave: true``."""

    type: ShapeKind
    size: tuple[float, ...] = ()
    pose: PoseSpec = field(default_factory=lambda: PoseSpec((0.0, 0.0, 0.0)))
    file: str = ""
    concave: bool = False

    def __post_init__(self) -> None:
        meaning, count = SIZES[self.type]
        is_mesh = self.type is ShapeKind.MESH
        if len(self.size) != count and not (is_mesh and len(self.size) == 1):
            raise ValueError(f"size {list(self.size)} of a {self.type.name.lower()}; write {meaning}")
        if any(edge <= 0.0 for edge in self.size):
            raise ValueError(f"size {list(self.size)} must be more than 0 everywhere")
        if is_mesh != bool(self.file):
            raise ValueError("file belongs to type mesh and to it alone; add it or take it away")
        if self.concave and not is_mesh:
            raise ValueError(
                f"concave belongs to type mesh, and a {self.type.name.lower()} is convex; take it away"
            )

    def build(self, folder: Path) -> Shape:
        """Return the shape as a value; reads the mesh file.

        Args:
            folder: Folder of the scene file.

        Raises:
            ValueError: The file cannot be read, or is no solid.
        """
        if self.type is ShapeKind.MESH:
            scale = self.size[0] if self.size else 1.0
            if self.concave:
                vertices, triangles = solid_mesh(folder / self.file)
                return Shape(
                    ShapeKind.MESH, frozen(()), self.pose.pose(), frozen(vertices * scale), triangles
                )
            vertices = hull_vertices(folder / self.file) * scale
            return Shape(ShapeKind.CONVEX, frozen(()), self.pose.pose(), frozen(vertices))
        return Shape(self.type, frozen(self.size), self.pose.pose())


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """An open box; its origin is the centre of the underside.

    Attributes:
        inner: Inner space x, y, z, m.
        wall: Thickness of walls and floor, m.
    """

    inner: tuple[float, float, float]
    wall: float = 0.01

    def __post_init__(self) -> None:
        if min(*self.inner, self.wall) <= 0.0:
            raise ValueError(f"inner {list(self.inner)} and wall {self.wall} must be more than 0")

    def shapes(self) -> tuple[Shape, ...]:
        """Return the floor and four walls."""
        (x, y, z), w = self.inner, self.wall
        height = w + z
        boxes = (
            ((x + 2 * w, y + 2 * w, w), (0.0, 0.0, w / 2)),
            ((w, y + 2 * w, height), ((x + w) / 2, 0.0, height / 2)),
            ((w, y + 2 * w, height), (-(x + w) / 2, 0.0, height / 2)),
            ((x, w, height), (0.0, (y + w) / 2, height / 2)),
            ((x, w, height), (0.0, -(y + w) / 2, height / 2)),
        )
        return tuple(Shape(ShapeKind.BOX, frozen(size), Pose.of(place)) for size, place in boxes)


Color = tuple[float, float, float, float]
GREY: Color = (0.7, 0.7, 0.7, 1.0)


def check_look(friction: float, color: Color) -> None:
    """Check the friction and the colour of a body.

    Args:
        friction: Coefficient of sliding friction.
        color: Red, green, blue, alpha, 0 to 1.

    Raises:
        ValueError: The friction is negative, or a channel is not in 0 to 1.
    """
    if friction < 0.0:
        raise ValueError(f"friction is {friction}; make it 0 or more")
    if not all(0.0 <= channel <= 1.0 for channel in color):
        raise ValueError(f"color {list(color)} must lie in 0..1")
