"""Reads the triangles of COLLADA files (``.dae``), in which makers of robots also keep collision meshes.

As in RViz and MoveIt the file's unit counts and its up axis does not: the frame of the mesh is that of the link.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Rotation
from handiwork_core.model.world import Indices

DEEPEST = 50
"""Largest depth of nodes in the scene: deeper ones name themselves."""


@dataclass(frozen=True, slots=True, eq=False)
class _Surface:
    points: Array
    triangles: Indices


def collada_mesh(data: bytes) -> tuple[Array, Indices]:
    """Return all triangles of the scene of a COLLADA file, or of all its geometries if it has no scene.

    Args:
        data: Content of the file.

    Returns:
        Vertices, (n, 3), in metres by the file's unit, and triangles, (m, 3); polygons are cut into fans.

    Raises:
        ValueError: The content is no COLLADA; the text ends a sentence that begins with the mesh.
    """
    try:
        root = ET.fromstring(data)
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2]
        unit = root.find("asset/unit")
        metres = 1.0 if unit is None else float(unit.get("meter", "1"))
        placed = list(_placed(root))
    except (ET.ParseError, ValueError, KeyError, IndexError, TypeError) as error:
        raise ValueError(f"is no COLLADA that can be read: {error}; export it again") from error
    if not placed:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    starts = np.cumsum([0, *(len(surface.points) for surface in placed)])
    triangles = [surface.triangles + start for surface, start in zip(placed, starts, strict=False)]
    return np.concatenate([surface.points for surface in placed]) * metres, np.concatenate(triangles)


def _placed(root: ET.Element) -> Iterator[_Surface]:
    """Yield the surfaces in the frame of the scene, in the file's units."""
    named = {f"#{item.get('id')}": item for item in root.iter() if item.get("id")}
    surfaces = {f"#{item.get('id')}": _surface(item, named) for item in root.iter("geometry")}
    scene = root.find("scene/instance_visual_scene")
    if scene is None:
        yield from surfaces.values()
        return
    for node in named[scene.get("url", "")].findall("node"):
        yield from _below(node, np.eye(4), surfaces, named, 0)


def _below(
    node: ET.Element, above: Array, surfaces: dict[str, _Surface], named: dict[str, ET.Element], depth: int
) -> Iterator[_Surface]:
    """Yield the surfaces of a node and of those below it, placed in the scene."""
    if depth > DEEPEST:
        raise ValueError(f"nodes are nested deeper than {DEEPEST}")
    here = above @ _transform(node)
    for child in node:
        if child.tag == "instance_geometry":
            surface = surfaces[child.get("url", "")]
            yield _Surface(surface.points @ here[:3, :3].T + here[:3, 3], surface.triangles)
        elif child.tag == "node":
            yield from _below(child, here, surfaces, named, depth + 1)
        elif child.tag == "instance_node":
            yield from _below(named[child.get("url", "")], here, surfaces, named, depth + 1)


def _transform(node: ET.Element) -> Array:
    """Return the product of a node's transforms, (4, 4), in their order."""
    product = np.eye(4)
    for item in node:
        step = np.eye(4)
        values = _numbers(item) if item.tag in ("matrix", "translate", "rotate", "scale") else np.zeros(0)
        if item.tag == "matrix":
            step = values.reshape(4, 4)
        elif item.tag == "translate":
            step[:3, 3] = values
        elif item.tag == "rotate" and values[3] != 0.0:
            step[:3, :3] = Rotation.from_axis_angle(values[:3], float(np.deg2rad(values[3]))).matrix()
        elif item.tag == "scale":
            step[:3, :3] = np.diag(values)
        product = product @ step
    return product


def _surface(geometry: ET.Element, named: dict[str, ET.Element]) -> _Surface:
    """Return the triangles of a geometry; lines and points have none."""
    points: list[Array] = [np.zeros((0, 3))]
    triangles: list[Indices] = [np.zeros((0, 3), dtype=np.int64)]
    for item in geometry.findall("mesh/*"):
        if item.tag in ("triangles", "polylist", "polygons"):
            corners, place = _positions(item, named)
            triangles.append(_fans(item, place, len(corners)) + sum(len(each) for each in points))
            points.append(corners)
    return _Surface(np.concatenate(points), np.concatenate(triangles))


def _positions(item: ET.Element, named: dict[str, ET.Element]) -> tuple[Array, int]:
    """Return the vertices that an element of triangles names, (n, 3), and the place of their index in its rows."""
    vertex = next(each for each in item.findall("input") if each.get("semantic") == "VERTEX")
    inputs = named[vertex.get("source", "")].findall("input")
    position = next(each for each in inputs if each.get("semantic") == "POSITION")
    source = named[position.get("source", "")]
    accessor, values = source.find("technique_common/accessor"), source.find("float_array")
    if values is None:
        raise ValueError(f"source {source.get('id')!r} has no float_array")
    stride = 3 if accessor is None else int(accessor.get("stride", "3"))
    return _numbers(values).reshape(-1, stride)[:, :3], int(vertex.get("offset", "0"))


def _fans(item: ET.Element, place: int, count: int) -> Indices:
    """Return triangles (m, 3) of the polygons of an element."""
    width = 1 + max(int(each.get("offset", "0")) for each in item.findall("input"))
    rows = [_numbers(each).astype(np.int64).reshape(-1, width)[:, place] for each in item.findall("p")]
    if item.tag == "triangles":
        found = np.concatenate([np.zeros(0, dtype=np.int64), *rows]).reshape(-1, 3)
    else:
        sizes = item.find("vcount")
        if sizes is not None and rows:
            rows = np.split(rows[0], np.cumsum(_numbers(sizes).astype(np.int64))[:-1])
        fans = [(row[0], row[k], row[k + 1]) for row in rows for k in range(1, len(row) - 1)]
        found = np.array(fans, dtype=np.int64).reshape(-1, 3)
    if len(found) and not 0 <= found.min() <= found.max() < count:
        raise ValueError(f"a triangle names vertex {found.max()} of {count}")
    return found


def _numbers(item: ET.Element) -> Array:
    return np.array((item.text or "").split(), dtype=np.float64)
