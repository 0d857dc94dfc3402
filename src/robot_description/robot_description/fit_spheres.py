"""Fits collision spheres that cover a link's collision primitives, and prints them as ``spheres.yaml`` wants them.

``python -m robot_description.fit_spheres robots/fr3 --protrusion 0.012 fr3_hand fr3_link7``

Greedy set cover: surface points of the union of primitives must lie in spheres, spheres may stick out of the union by a
stated length at most. Own method.
"""

from __future__ import annotations

import argparse
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from handiwork_core.geometry import Array, Pose, Rotation
from handiwork_core.robot_loader import load_robot

COVER_M = 0.001
"""How far a surface point may lie outside every sphere."""


@dataclass(frozen=True, slots=True, eq=False)
class Primitive:
    """A box (3,) of half edges or a cylinder (2,) of radius and half length, in the link's frame [m]."""

    link_T_shape: Pose
    size: Array

    def distance(self, points: Array) -> Array:
        """Signed distance (n,) of points (n, 3); inside it is a bound, outside it is exact [m]."""
        p = self.link_T_shape.inverse().apply(points)
        if len(self.size) == 2:
            p = np.stack([np.hypot(p[:, 0], p[:, 1]), np.abs(p[:, 2])], axis=1)
        gap = np.abs(p) - self.size
        outside: Array = np.linalg.norm(np.maximum(gap, 0.0), axis=1)
        inside: Array = np.minimum(gap.max(axis=1), 0.0)
        return outside + inside

    def grid(self, step_m: float) -> Array:
        """Points (n, 3) of a grid over the solid, its surface included."""
        half = self.size if len(self.size) == 3 else np.array([self.size[0], self.size[0], self.size[1]])
        axes = [np.linspace(-h, h, int(np.ceil(2 * h / step_m)) + 1) for h in half]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        if len(self.size) == 2:
            radius = np.maximum(np.abs(points[:, 0]), np.abs(points[:, 1]))
            flat = np.hypot(points[:, 0], points[:, 1])
            # A square grid pushed onto discs keeps points on the rim.
            points[:, :2] *= np.divide(radius, flat, out=np.ones_like(flat), where=flat > 0)[:, None]
        return self.link_T_shape.apply(points)


def primitives(urdf: str, link: str) -> tuple[Primitive, ...]:
    """Collision boxes and cylinders of a link of an expanded URDF."""
    found = []
    for item in ElementTree.fromstring(urdf).findall(f"./link[@name='{link}']/collision"):
        origin, geometry = item.find("origin"), item.find("geometry")
        numbers = {} if origin is None else origin.attrib
        xyz = [float(v) for v in numbers.get("xyz", "0 0 0").split()]
        rpy = [float(v) for v in numbers.get("rpy", "0 0 0").split()]
        shape = None if geometry is None else next(iter(geometry))
        if shape is None or shape.tag not in ("box", "cylinder"):
            raise ValueError(f"{link}: collision must be a box or a cylinder; write it as one")
        if shape.tag == "box":
            size = 0.5 * np.array([float(v) for v in shape.attrib["size"].split()])
        else:
            size = np.array([float(shape.attrib["radius"]), 0.5 * float(shape.attrib["length"])])
        found.append(Primitive(Pose.of(xyz, Rotation.from_rpy(rpy[0], rpy[1], rpy[2])), size))
    return tuple(found)


def union_distance(solids: tuple[Primitive, ...], points: Array) -> Array:
    """Signed distance (n,) to the union: exact outside, a bound inside [m]."""
    nearest: Array = np.min([solid.distance(points) for solid in solids], axis=0)
    return nearest


def fit(solids: tuple[Primitive, ...], protrusion_m: float, step_m: float) -> tuple[Array, Array]:
    """Centers (k, 3) and radii (k,) [m] that cover the surface of the union.

    No sphere sticks out by more than ``protrusion_m``; ``step_m`` is the spacing of samples.
    """
    grid = np.concatenate([solid.grid(step_m) for solid in solids])
    depth = -union_distance(solids, grid)
    surface = grid[depth <= 1e-6]
    centers = grid[np.unique((grid / (0.5 * step_m)).round(), axis=0, return_index=True)[1]]
    radii = -union_distance(solids, centers) + protrusion_m
    covers: NDArray[np.bool_] = (
        np.linalg.norm(surface[None] - centers[:, None], axis=2) <= radii[:, None] + COVER_M
    )
    left = np.ones(len(surface), dtype=np.bool_)
    chosen = []
    while left.any():
        best = int((covers & left).sum(axis=1).argmax())
        chosen.append(best)
        left &= ~covers[best]
    return centers[chosen], radii[chosen]


def worst_gap(solids: tuple[Primitive, ...], centers: Array, radii: Array, step_m: float) -> float:
    """Largest distance of a surface point from the nearest sphere [m]; negative is covered."""
    grid = np.concatenate([solid.grid(step_m) for solid in solids])
    surface = grid[union_distance(solids, grid) >= -1e-6]
    gaps = np.linalg.norm(surface[:, None] - centers[None], axis=2) - radii[None]
    return float(gaps.min(axis=1).max())


def main() -> None:
    """Print the spheres of the named links."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("robot_dir", type=Path)
    parser.add_argument("links", nargs="+")
    parser.add_argument("--protrusion", type=float, default=0.012, help="of a sphere beyond the link [m]")
    parser.add_argument("--step", type=float, default=0.012, help="spacing of samples [m]")
    args = parser.parse_args()
    urdf = load_robot(args.robot_dir).urdf
    for link in args.links:
        solids = primitives(urdf, link)
        centers, radii = fit(solids, args.protrusion, args.step)
        # What the coarse samples missed is closed by growing all spheres alike.
        grow = max(0.0, worst_gap(solids, centers, radii, 0.5 * args.step))
        radii = radii + grow
        lines = [
            f"  # {len(radii)} spheres, sticking out at most {(args.protrusion + grow) * 1e3:.0f} mm.",
            f"  {link}:",
            *(
                f"  - {{center: {c.tolist()}, radius: {r:.4f}}}"
                for c, r in zip(centers.round(4), radii, strict=True)
            ),
        ]
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
