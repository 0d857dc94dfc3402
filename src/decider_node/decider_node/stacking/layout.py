"""Places of the stack."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Pose, Rotation

from .bin import HEIGHT_M

UPSIDE_DOWN = Rotation.from_rpy(np.pi, 0.0, 0.5 * np.pi)
"""Long side along y, open side down."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns along x and y, layers from the ground [m]; places are filled x first, then y, then layer by layer."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    layers: int
    ground_z_m: float
    layer_m: float = HEIGHT_M
    gap_m: float = 0.0
    """Free height below each bin's middle beyond half a layer."""

    def __len__(self) -> int:
        return len(self.xs) * len(self.ys) * self.layers

    def place(self, index: int) -> Pose:
        """World pose of the middle of a bin, upside down.

        Raises:
            IndexError: there is no such place.
        """
        if not 0 <= index < len(self):
            raise IndexError(f"place {index} is not one of the {len(self)} of the stack")
        layer, rest = divmod(index, len(self.xs) * len(self.ys))
        row, column = divmod(rest, len(self.xs))
        z = self.ground_z_m + (layer + 0.5) * self.layer_m + self.gap_m
        return Pose.of((self.xs[column], self.ys[row], z), UPSIDE_DOWN)

    def below(self, index: int) -> int | None:
        """The place under a place; None for the lowest layer."""
        under = index - len(self.xs) * len(self.ys)
        return under if under >= 0 else None
