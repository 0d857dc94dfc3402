"""Exact mass, centre and inertia of rigid bodies from their solids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.world import Indices, Shape, ShapeKind

SECOND_MOMENT = (np.ones((3, 3)) + np.eye(3)) / 120.0
"""The integral of x x^T over the tetrahedron of the origin and the three unit points."""


@dataclass(frozen=True, slots=True, eq=False)
class MassProperties:
    """Mass, centre of mass and principal moments of inertia.

    Attributes:
        mass_kg: Mass, kg.
        centre: Centre of mass in the body's frame, (3,), m.
        moments: Moments about the centre along ``axes``, (3,), kg*m^2.
        axes: Principal axes in the body's frame.
    """

    mass_kg: float
    centre: Array
    moments: Array
    axes: Rotation

    @classmethod
    def of(cls, mass_kg: float, centre: Array, inertia: Array) -> MassProperties:
        """Return the properties of an inertia tensor.

        Args:
            mass_kg: Mass, kg.
            centre: Centre of mass in the body's frame, (3,), m.
            inertia: Tensor about the centre in the body's axes, (3, 3), kg*m^2.
        """
        moments, axes = np.linalg.eigh(inertia)
        if np.linalg.det(axes) < 0.0:
            axes[:, 2] *= -1.0
        return cls(mass_kg, frozen(centre), frozen(moments), Rotation.from_matrix(axes))

    def tensor(self) -> Array:
        """Return the tensor about the centre in the body's axes, (3, 3), kg*m^2."""
        turn = self.axes.matrix()
        return np.asarray(turn @ np.diag(self.moments) @ turn.T)

    def placed(self, pose: Pose) -> MassProperties:
        """Return the properties of the same body in another frame.

        Args:
            pose: The body's frame in the other frame.
        """
        return MassProperties(
            self.mass_kg, frozen(pose.apply(self.centre)), self.moments, pose.rotation @ self.axes
        )


def combined(parts: Sequence[MassProperties]) -> MassProperties:
    """Return the properties of bodies that are fixed to each other.

    Args:
        parts: Their properties in one frame; none is a body without mass.
    """
    mass_kg = sum(part.mass_kg for part in parts)
    if mass_kg <= 0.0:
        return MassProperties.of(0.0, np.zeros(3), np.zeros((3, 3)))
    centre = sum((part.mass_kg * part.centre for part in parts), start=np.zeros(3)) / mass_kg
    tensor = np.zeros((3, 3))
    for part in parts:
        offset = part.centre - centre
        tensor += part.tensor() + part.mass_kg * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    return MassProperties.of(mass_kg, centre, tensor)


def mass_properties(shapes: Sequence[Shape], mass_kg: float) -> MassProperties:
    """Return the properties of a body of one density, the union of shapes that do not overlap.

    Args:
        shapes: The shapes in the body's frame.
        mass_kg: Mass, kg.

    Raises:
        ValueError: The shapes, or the points of one of them, have no volume.
    """
    parts = [_moments(shape) for shape in shapes]
    volume = sum(part[0] for part in parts)
    if not volume > 0.0:
        raise ValueError(f"the volume of the shapes is {volume:g} m^3; give them one, or no mass")
    centre = sum((part[0] * part[1] for part in parts), start=np.zeros(3)) / volume
    tensor = np.zeros((3, 3))
    for share, middle, second in parts:
        offset = middle - centre
        tensor += _inertia(second + share * np.outer(offset, offset))
    return MassProperties.of(mass_kg, centre, tensor * mass_kg / volume)


def _inertia(second: Array) -> Array:
    return np.asarray(np.trace(second) * np.eye(3) - second)


def _moments(shape: Shape) -> tuple[float, Array, Array]:
    """Return volume, middle (3,) in the body's frame, and second moment (3, 3) about it, in the body's axes."""
    volume, middle, second = _own_moments(shape)
    turn = shape.object_T_shape.rotation.matrix()
    return volume, shape.object_T_shape.apply(middle), turn @ second @ turn.T


def _own_moments(shape: Shape) -> tuple[float, Array, Array]:
    if shape.vertices is not None:
        triangles = shape.triangles if shape.triangles is not None else hull_triangles(shape.vertices)
        return _polyhedron(shape.vertices, triangles)
    middle = np.zeros(3)
    if shape.kind is ShapeKind.BOX:
        volume = float(np.prod(shape.size))
        return volume, middle, np.diag(volume * shape.size**2 / 12.0)
    r = float(shape.size[0])
    ball = 4.0 / 3.0 * np.pi * r**3
    if shape.kind is ShapeKind.SPHERE:
        return ball, middle, np.eye(3) * ball * r**2 / 5.0
    length = float(shape.size[1])
    rod = np.pi * r**2 * length
    across, along = rod * r**2 / 4.0, rod * length**2 / 12.0
    if shape.kind is ShapeKind.CAPSULE:
        # Two half balls: the centre of each is 3 r / 8 beyond the end of the straight part.
        across += ball * r**2 / 5.0
        along += ball * (r**2 / 5.0 + length**2 / 4.0 + 3.0 * length * r / 8.0)
        rod += ball
    return rod, middle, np.diag([across, across, along])


def hull_triangles(vertices: Array) -> Indices:
    """Return the triangles of the convex hull.

    Args:
        vertices: Points, (n, 3).

    Returns:
        Indices of points, (m, 3), counter-clockwise from outside.

    Raises:
        ValueError: The points span no volume.
    """
    from scipy.spatial import ConvexHull, QhullError  # heavy, and rarely needed

    try:
        hull = ConvexHull(vertices)
    except QhullError as error:
        raise ValueError(f"{len(vertices)} points of a convex shape span no volume; give it one") from error
    triangles = np.array(hull.simplices, dtype=np.int64)
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    triangles[inwards] = triangles[inwards][:, ::-1]
    return triangles


def _polyhedron(vertices: Array, triangles: Indices) -> tuple[float, Array, Array]:
    """Return the moments of a polyhedron as a sum over tetrahedra between a point inside and each triangle."""
    inside = vertices.mean(axis=0)
    corners = np.moveaxis(vertices[triangles] - inside, 1, 2)  # (m, 3, 3), a corner in each column
    six = np.linalg.det(corners)
    volume = float(six.sum() / 6.0)
    first = np.einsum("m,mij->i", six, corners) / 24.0
    second = np.einsum("m,mij,jk,mlk->il", six, corners, SECOND_MOMENT, corners)
    middle = first / volume
    return volume, inside + middle, second - volume * np.outer(middle, middle)
