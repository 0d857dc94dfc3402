"""The collision primitives of a link as solids: their distance from points, and points all over them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation

from .shape_numbers import check_width, lengths, three


class Solid(Protocol):
    """A solid in a link's frame to which spheres can be fitted."""

    def distance(self, points: Array) -> Array:
        """Return the signed distance of points, negative inside; inside it may be a bound.

        Args:
            points: Points in the link's frame, (n, 3), m.

        Returns:
            Distances, (n,), m.
        """

    def grid(self, step_m: float) -> Array:
        """Return points all over the solid, its surface included.

        Args:
            step_m: Approximate distance of the points, m.

        Returns:
            Points in the link's frame, (n, 3), m.
        """

    def surface(self, step_m: float) -> Array:
        """Return points all over the solid's surface, edges included.

        Args:
            step_m: Approximate largest distance of neighbours, m.

        Returns:
            Points in the link's frame, (n, 3), m.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Primitive:
    """A box, a cylinder or a ball in the link's frame.

    Attributes:
        link_T_shape: Its pose.
        size: Half edges of a box, (3,); radius and half length of a cylinder, (2,); radius of a ball, (1,), m.
    """

    link_T_shape: Pose
    size: Array

    def distance(self, points: Array) -> Array:
        """Return the signed distance of points: exact outside, a bound inside.

        Args:
            points: Points in the link's frame, (n, 3), m.

        Returns:
            Distances, (n,), m.
        """
        p = self.link_T_shape.inverse().apply(points)
        if len(self.size) == 1:
            return np.asarray(np.linalg.norm(p, axis=1) - self.size[0])
        if len(self.size) == 2:
            p = np.stack([np.hypot(p[:, 0], p[:, 1]), np.abs(p[:, 2])], axis=1)
        gap = np.abs(p) - self.size
        outside: Array = np.linalg.norm(np.maximum(gap, 0.0), axis=1)
        inside: Array = np.minimum(gap.max(axis=1), 0.0)
        return outside + inside

    def moved(self, frame_T_link: Pose) -> Primitive:
        """Return the same solid in another frame.

        Args:
            frame_T_link: Pose of the link in this frame.
        """
        return Primitive(frame_T_link @ self.link_T_shape, self.size)

    def grid(self, step_m: float) -> Array:
        """Return points of a grid over the solid, its surface included.

        Args:
            step_m: Largest distance of neighbours along the axes, m.

        Returns:
            Points in the link's frame, (n, 3), m.
        """
        half = np.array([*[self.size[0]] * (3 - len(self.size)), *self.size])
        # Odd counts: spheres about the middle cover most.
        axes = [np.linspace(-h, h, 2 * int(np.ceil(h / step_m)) + 1) for h in half]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        if len(self.size) == 2:
            radius = np.maximum(np.abs(points[:, 0]), np.abs(points[:, 1]))
            flat = np.hypot(points[:, 0], points[:, 1])
            # A square grid pushed onto discs keeps points on the rim.
            points[:, :2] *= np.divide(radius, flat, out=np.ones_like(flat), where=flat > 0)[:, None]
        elif len(self.size) == 1:
            shell, length = np.abs(points).max(axis=1), np.linalg.norm(points, axis=1)
            points *= np.divide(shell, length, out=np.ones_like(length), where=length > 0)[:, None]
        return self.link_T_shape.apply(points)

    def surface(self, step_m: float) -> Array:
        """Return points of grids on faces, discs and lateral surfaces, with all edges and corners.

        Args:
            step_m: Largest distance of neighbours, m.

        Returns:
            Points in the link's frame, (n, 3), m.
        """
        if len(self.size) == 1:
            tilts = _line(0.5 * np.pi, step_m / float(self.size[0]))
            rounds = [(self.size[0] * np.cos(tilt), self.size[0] * np.sin(tilt)) for tilt in tilts]
            points = _rings(rounds, step_m)
        elif len(self.size) == 2:
            radius, half = self.size
            ends = [(r, z) for z in (-half, half) for r in _line(0.5 * radius, step_m) + 0.5 * radius]
            points = _rings([*ends, *((radius, z) for z in _line(half, step_m))], step_m)
        else:
            faces = []
            for i in range(3):
                axes = [_line(h, step_m) if k != i else np.array([-h, h]) for k, h in enumerate(self.size)]
                faces.append(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3))
            points = np.concatenate(faces)
        return self.link_T_shape.apply(points)


def _rings(rounds: Sequence[tuple[float, float]], step_m: float) -> Array:
    """Return points on circles about z, each of a radius and a height."""
    found = []
    for r, z in rounds:
        turns = np.linspace(0.0, 2.0 * np.pi, max(1, int(np.ceil(2.0 * np.pi * r / step_m))), endpoint=False)
        found.append(np.column_stack([r * np.cos(turns), r * np.sin(turns), np.full(len(turns), z)]))
    return np.concatenate(found)


def _line(half: float, step_m: float) -> Array:
    return np.linspace(-half, half, int(np.ceil(2.0 * half / step_m)) + 1, dtype=np.float64)


def primitives(urdf: str, link: str) -> tuple[Primitive, ...]:
    """Return the collision boxes, cylinders and balls of a link.

    Args:
        urdf: Text of an expanded URDF.
        link: Name of the link.

    Raises:
        ValueError: A collision shape is of another kind, or has a size that no link has.
    """
    items = ElementTree.fromstring(urdf).findall(f"./link[@name='{link}']/collision")
    try:
        return tuple(primitive_of(item) for item in items)
    except ValueError as error:
        raise ValueError(f"{link}: {error}") from error


def primitive_of(collision: ElementTree.Element) -> Primitive:
    """Return a collision box, cylinder or ball.

    Args:
        collision: The element ``<collision>``.

    Raises:
        ValueError: The shape is of another kind, or has a size that no link has.
    """
    origin, geometry = collision.find("origin"), collision.find("geometry")
    xyz, rpy = (three(origin, key, "0 0 0") for key in ("xyz", "rpy"))
    shape = None if geometry is None else next(iter(geometry), None)
    if shape is None or shape.tag not in ("box", "cylinder", "sphere"):
        raise ValueError("collision must be a box, a cylinder or a sphere; write it as one")
    if shape.tag == "sphere":
        size = lengths(shape, "radius", 1)
    elif shape.tag == "box":
        size = 0.5 * lengths(shape, "size", 3)
    else:
        size = np.concatenate([lengths(shape, "radius", 1), 0.5 * lengths(shape, "length", 1)])
    check_width(np.stack([-size, size]))
    return Primitive(Pose.of(xyz, Rotation.from_rpy(*rpy.tolist())), size)


def union_distance(solids: Sequence[Solid], points: Array) -> Array:
    """Return the signed distance of points to the union of solids: exact outside, a bound inside.

    Args:
        solids: Solids in one frame; at least one.
        points: Points in this frame, (n, 3), m.

    Returns:
        Distances, (n,), m.
    """
    nearest: Array = np.min([solid.distance(points) for solid in solids], axis=0)
    return nearest
