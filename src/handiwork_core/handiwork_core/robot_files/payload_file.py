"""The rated payload of an arm as ``robot.yaml`` writes it."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PayloadFile:
    """The rated payload as written.

    Attributes:
        mass: Greatest mass at the flange, the tool included, kg.
        flange: Link at which the arm ends and the tool begins; empty: the arm's ``ee_link``.
    """

    mass: float
    flange: str = ""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mass) and self.mass > 0.0):
            raise ValueError(
                f"mass: is {self.mass:g}; write the rated payload of the arm's maker, more than 0 kg"
            )
