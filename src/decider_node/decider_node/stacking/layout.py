"""Places of the stack."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Pose, Rotation

from .bin import HEIGHT_M

UPSIDE_DOWN = Rotation.from_rpy(np.pi, 0.0, 0.5 * np.pi)
"""Orientation of a bin in the stack: long side along y, open side down."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of a stack, which are filled x first, then y, then layer by layer.

    Attributes:
        xs: x of the columns, m.
        ys: y of the columns, m.
        layers: Number of layers.
        ground_z_m: z of the ground, m.
        layer_m: Height of a layer, m.
    """

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    layers: int
    ground_z_m: float
    layer_m: float = HEIGHT_M
    gap_m: float = 0.0
    """Free height below each bin's middle beyond half a layer, m."""

    def __len__(self) -> int:
        return len(self.xs) * len(self.ys) * self.layers

    def place(self, index: int) -> Pose:
        """Return the pose in world of the middle of a bin, upside down.

        Args:
            index: Number of the place, from 0.

        Raises:
            IndexError: There is no such place.
        """
        if not 0 <= index < len(self):
            raise IndexError(f"place {index} is not one of the {len(self)} of the stack")
        layer, rest = divmod(index, len(self.xs) * len(self.ys))
        row, column = divmod(rest, len(self.xs))
        z = self.ground_z_m + (layer + 0.5) * self.layer_m + self.gap_m
        return Pose.of((self.xs[column], self.ys[row], z), UPSIDE_DOWN)

    def below(self, index: int) -> int | None:
        """Return the place under a place; None for the lowest layer.

        Args:
            index: Number of the place, from 0.
        """
        under = index - len(self.xs) * len(self.ys)
        return under if under >= 0 else None
