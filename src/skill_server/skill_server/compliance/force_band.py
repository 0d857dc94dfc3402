"""The normal force of a tool that presses, as it was measured: within its band, or not."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from handiwork_core.model.geometry import Array

ENOUGH = 0.9
"""Share of the time that the force must be within its band."""


@dataclass
class ForceBand:
    """Collects forces.

    Attributes:
        force_n: Middle of the band, N.
        band_n: Largest deviation, N.
        at_s: Times of the measurements, s.
        normal_n: The normal forces, N.
    """

    force_n: float
    band_n: float
    at_s: list[float] = field(default_factory=list)
    normal_n: list[float] = field(default_factory=list)

    def add(self, at_s: float, normal_n: float) -> None:
        """Keep a measurement; one of a time that is kept already is no new one.

        Args:
            at_s: Its time, s.
            normal_n: Normal force, N, positive where the tool is pressed back.
        """
        if not self.at_s or at_s > self.at_s[-1]:
            self.at_s.append(at_s)
            self.normal_n.append(normal_n)

    @property
    def share(self) -> float:
        """Share of the time within the band, 0 to 1; each measurement counts until the next one."""
        if len(self.at_s) < 2:
            return 0.0
        lasts: Array = np.diff(self.at_s)
        inside = np.abs(np.array(self.normal_n[:-1]) - self.force_n) <= self.band_n
        return float(lasts[inside].sum() / lasts.sum())

    def text(self) -> str:
        """Return least, greatest and mean force, and the time within the band, in words."""
        if len(self.at_s) < 2:
            return "no force was measured"
        low, high = self.force_n - self.band_n, self.force_n + self.band_n
        lasts_s = self.at_s[-1] - self.at_s[0]
        least, most, mean = min(self.normal_n), max(self.normal_n), float(np.mean(self.normal_n))
        return (
            f"{least:.1f} to {most:.1f} N, {mean:.1f} N on average; {100.0 * self.share:.0f} % of {lasts_s:.1f} s "
            f"within {low:g} to {high:g} N"
        )
