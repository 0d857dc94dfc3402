"""How far an object slides under the soft lip of a suction cup that holds it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array

CLOSING_S = 0.15
"""Time in which the vacuum draws the lip flat, s."""


@dataclass(frozen=True, slots=True)
class CupSlip:
    """Slip of a cup; all zero is a cup that holds as a weld.

    A lip is never drawn flat evenly: the object slides and turns by a little while the vacuum builds up. After that the
    rubber creeps under a load across the axis, as under the weight of an object that hangs on its side.

    Attributes:
        aside_m: Standard deviation of the sliding along each of the two axes across, while the lip closes, m.
        turn_rad: Standard deviation of the turn about the cup's axis, while the lip closes, rad.
        creep_m_per_ns: Speed of sliding per load across the axis, m/s per N.
        seed: Seed of these choices.
    """

    aside_m: float = 0.0
    turn_rad: float = 0.0
    creep_m_per_ns: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        numbers = (self.aside_m, self.turn_rad, self.creep_m_per_ns)
        if not np.isfinite(numbers).all() or min(numbers) < 0.0:
            raise ValueError(f"slip of the cup is {numbers}; give finite numbers of 0 or more")


class LipMotion:
    """The sliding of the objects that one cup holds, one after the other.

    Args:
        slip: The slip of the cup.
    """

    def __init__(self, slip: CupSlip) -> None:
        self._slip, self._rng = slip, np.random.default_rng(slip.seed)
        self._aside: Array = np.zeros(2)
        self._turn = self._left_s = 0.0

    def close(self) -> None:
        """Begin with another object: draw how the lip closes on it."""
        self._aside = self._rng.normal(0.0, self._slip.aside_m, 2)
        self._turn = float(self._rng.normal(0.0, self._slip.turn_rad))
        self._left_s = CLOSING_S

    def step(self, load: Array, sides: Array, step_s: float) -> tuple[Array, float]:
        """Return by how much the object slides and turns against the cup in a step.

        Args:
            load: Load across the axis that pulls at the object in world, (3,), N.
            sides: Two unit vectors across the axis in world, (2, 3).
            step_s: Length of the step, s.

        Returns:
            Displacement in world, (3,), m, and turn about the axis, rad.
        """
        share = min(step_s, self._left_s) / CLOSING_S
        self._left_s = max(self._left_s - step_s, 0.0)
        shift = share * (self._aside @ sides) + self._slip.creep_m_per_ns * step_s * load
        return np.asarray(shift), share * self._turn
