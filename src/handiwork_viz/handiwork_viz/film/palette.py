"""Colours of objects by their names: messages carry none."""

from __future__ import annotations

import zlib

from .solids import Color

KNOWN: dict[str, Color] = {
    "cube": (0.87, 0.27, 0.22),
    "bin": (0.27, 0.47, 0.76),
    "can": (0.36, 0.64, 0.40),
    "ball": (0.95, 0.73, 0.22),
    "peg": (0.60, 0.38, 0.70),
    "table": (0.80, 0.70, 0.57),
    "pedestal": (0.42, 0.44, 0.48),
    "wall": (0.66, 0.67, 0.70),
}
BRIGHT: tuple[Color, ...] = (
    (0.90, 0.49, 0.20),
    (0.20, 0.62, 0.66),
    (0.76, 0.36, 0.54),
    (0.58, 0.66, 0.26),
    (0.42, 0.44, 0.76),
)
MUTED: tuple[Color, ...] = ((0.66, 0.67, 0.70), (0.70, 0.64, 0.58), (0.58, 0.64, 0.66))


def color_of(name: str, is_static: bool) -> Color:
    """Return the colour of a name; an unknown name gets one chosen by its hash.

    Args:
        name: Name of an object.
        is_static: The object never moves; an unknown name then gets a muted colour.

    Returns:
        sRGB, 0 to 1.
    """
    choice = MUTED if is_static else BRIGHT
    return KNOWN.get(name) or choice[zlib.crc32(name.encode()) % len(choice)]
