"""Reads the parts that XRDF and cuRobo's configuration share: spheres, pairs, names and rows of numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from handiwork_core.config.dataclass_loader import shown
from handiwork_core.model.geometry import frozen
from handiwork_core.robot.robot import Spheres
from robot_description.collision_pairs.pair_sampling import Pair


def spheres_of(
    data: object, buffer: Mapping[str, float] | float, notes: list[str], faults: list[str]
) -> tuple[Spheres, ...]:
    """Return spheres by link, enlarged by a buffer; those without a radius are left out with a note.

    Args:
        data: Rows of ``center`` and ``radius``, m, by link.
        buffer: Added to the radii, m; one value, or values by link.
        notes: Receives the notes.
        faults: Receives the faults.
    """
    if not isinstance(data, Mapping):
        faults.append(f"spheres: is {shown(data)}; write spheres by link")
        return ()
    found = []
    for link, items in data.items():
        grow = buffer if isinstance(buffer, float) else buffer.get(link, 0.0)
        rows = [_sphere(item, f"spheres.{link}[{i}]", faults) for i, item in enumerate(items or ())]
        kept = [(center, radius + grow) for center, radius in rows if radius + grow > 0.0]
        if len(kept) < len(rows):
            notes.append(f"spheres.{link}: {len(rows) - len(kept)} without a radius were left out")
        if kept:
            found.append(Spheres(str(link), frozen([c for c, _ in kept]), frozen([r for _, r in kept])))
    return tuple(found)


def _sphere(item: object, key: str, faults: list[str]) -> tuple[list[float], float]:
    center = item.get("center") if isinstance(item, Mapping) else None
    radius = item.get("radius") if isinstance(item, Mapping) else None
    if not (isinstance(center, Sequence) and len(center) == 3 and all(map(_is_number, [*center, radius]))):
        faults.append(f"{key}: is {shown(item)}; write center: [x, y, z] and radius in metres")
        return [0.0, 0.0, 0.0], 1.0
    return [float(x) for x in center], float(radius)  # type: ignore[arg-type]


def pairs_of(data: object, links: Sequence[str], faults: list[str]) -> frozenset[Pair]:
    """Return the pairs of a mapping from a link to its partners, if both have spheres.

    Args:
        data: Lists of links by link; None for none.
        links: Links with spheres.
        faults: Receives the faults.

    Returns:
        Pairs, each sorted by name.
    """
    if data is None:
        return frozenset()
    if not isinstance(data, Mapping) or not all(isinstance(v, Sequence) for v in data.values()):
        faults.append(f"self_collision ignore: is {shown(data)}; write lists of links by link")
        return frozenset()
    pairs = [(str(a), str(b)) for a, partners in data.items() for b in partners]
    return frozenset((min(a, b), max(a, b)) for a, b in pairs if a in links and b in links)


def names_of(data: Mapping[str, Any], key: str, faults: list[str]) -> tuple[str, ...]:
    """Return a list of names.

    Args:
        data: The mapping ``cspace``.
        key: Its key.
        faults: Receives the faults.

    Returns:
        The names; empty after a fault.
    """
    names = data.get(key)
    if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
        faults.append(f"cspace.{key}: is {shown(names)}; list the joints' names")
        return ()
    return tuple(names)


def rows_by_joint(
    data: Mapping[str, Any], key: str, names: Sequence[str], faults: list[str]
) -> dict[str, float]:
    """Return one number for each joint; a missing key is no fault.

    Args:
        data: The mapping ``cspace``.
        key: Its key; the value is one number for each joint, or one for all.
        names: Names of the joints.
        faults: Receives the faults.

    Returns:
        Numbers by joint name; empty if they are missing or have a fault.
    """
    values = data.get(key)
    if values is None:
        return {}
    if _is_number(values):
        values = [values] * len(names)
    if not isinstance(values, Sequence) or len(values) != len(names) or not all(map(_is_number, values)):
        faults.append(f"cspace.{key}: is {shown(values)}; write {len(names)} numbers, one for each joint")
        return {}
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def number_by_link(data: Mapping[str, Any], key: str, faults: list[str]) -> Mapping[str, float] | float:
    """Return one number for all links, or numbers by link; missing is zero.

    Args:
        data: A mapping.
        key: Its key.
        faults: Receives the faults.
    """
    value = data.get(key, 0.0) or 0.0
    if _is_number(value):
        return float(value)
    if isinstance(value, Mapping) and all(map(_is_number, value.values())):
        return {str(link): float(number) for link, number in value.items()}
    faults.append(f"{key}: is {shown(value)}; write a number, or numbers by link")
    return 0.0


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
