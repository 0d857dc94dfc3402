"""Reads the numbers of collision shapes, and refuses sizes that no link has before anything is computed from them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from handiwork_core.model.geometry import Array

LARGEST_M, LEAST_M = 8.0, 1e-4
"""Wider and narrower shapes are a mistake of the unit, m: sampling the first would fill the memory."""


def three(element: ET.Element | None, key: str, default: str) -> Array:
    """Return three numbers of an attribute.

    Args:
        element: The element; None: the default.
        key: Name of the attribute.
        default: Its text where it is absent.

    Raises:
        ValueError: They are not three finite numbers.
    """
    text = default if element is None else element.get(key, default)
    values = _floats(text)
    if values.shape != (3,):
        tag = "" if element is None else f"{element.tag} "
        raise ValueError(f"{tag}{key} is {text!r}; write three finite numbers")
    return values


def lengths(shape: ET.Element, key: str, count: int) -> Array:
    """Return the lengths of a box, a cylinder or a sphere.

    Args:
        shape: The element.
        key: Name of the attribute.
        count: Their number.

    Returns:
        Lengths, (count,), m.

    Raises:
        ValueError: They are absent, not finite, or not above 0.
    """
    text = shape.get(key, "")
    values = _floats(text)
    if values.shape != (count,) or (values <= 0.0).any():
        number = "a length" if count == 1 else f"{count} lengths"
        raise ValueError(f"{shape.tag} {key} is {text!r}; write {number} above 0 in metres")
    return values


def scale_of(mesh: ET.Element) -> Array:
    """Return the factors by which a mesh is scaled; negative ones mirror it.

    Args:
        mesh: The element.

    Raises:
        ValueError: They are not three finite numbers other than 0.
    """
    scale = three(mesh, "scale", "1 1 1")
    if not scale.all():
        raise ValueError(f"mesh scale is {mesh.get('scale')!r}; write three numbers other than 0")
    return scale


def check_width(points: Array) -> None:
    """Check that a shape is as wide as a link can be.

    Args:
        points: Points that bound it, (n, 3), m.

    Raises:
        ValueError: It is wider than 8 m, or narrower than 0.1 mm.
    """
    width = float(np.ptp(points, axis=0).max())
    remedy = 'write metres, for a mesh in millimetres scale="0.001 0.001 0.001"'
    if width > LARGEST_M:
        raise ValueError(f"its collision shapes are {width:.0f} m wide, as if in millimetres; {remedy}")
    if width < LEAST_M:
        text = "as if scaled twice; correct its size or its scale"
        raise ValueError(f"its collision shapes are {width * 1e3:.2g} mm wide, {text}")


def _floats(text: str) -> Array:
    """Return the numbers of a text, (n,); none if one of them is not finite."""
    try:
        values = np.array([float(word) for word in text.split()], dtype=np.float64)
    except ValueError:
        return np.empty(0)
    return values if np.isfinite(values).all() else np.empty(0)
