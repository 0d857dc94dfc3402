"""What the rim of a simulated suction cup meets, by rays. The simulator's module is handed in."""

# ruff: noqa: ANN401 the simulator's module is handed in as a value

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.suction import SuctionSpec

RIM_POINTS = 12
RAY_BACK_M, RAY_AHEAD_M = 0.012, 0.1
"""Rays start this far behind the rim, and see this far ahead of it."""


@dataclass(frozen=True, slots=True)
class RimView:
    """What the rim meets: ``body`` only when all of it does. See ``SuctionState`` for the numbers."""

    body: str
    nearest_m: float
    gap_m: float
    angle_rad: float
    why: str


class Rim:
    """Looks ahead from points of a cup's rim; ``liftable``: bodies that may be held."""

    def __init__(self, mj: Any, model: Any, data: Any, spec: SuctionSpec, liftable: frozenset[str]) -> None:
        self._mj, self._model, self._data = mj, model, data
        self._spec, self._liftable = spec, liftable
        angles = 2.0 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
        self._circle = np.stack([np.cos(angles), np.sin(angles)], axis=1) * spec.radius_m

    def look(self, middle: Array, turn: Array, own_body: int) -> RimView:
        """What lies before the rim about ``middle`` (3,); ``turn`` (3, 3): the axis out of the cup, then sides."""
        axis = turn[:, 0]
        starts = middle - RAY_BACK_M * axis + self._circle @ turn[:, 1:].T
        bodies, gaps = np.full(RIM_POINTS, -1), np.full(RIM_POINTS, np.inf)
        found = np.zeros(1, dtype=np.int32)
        for i, start in enumerate(starts):
            distance = self._mj.mj_ray(self._model, self._data, start, axis, None, 1, own_body, found)
            if 0.0 <= distance <= RAY_BACK_M + RAY_AHEAD_M:
                bodies[i], gaps[i] = self._model.geom_bodyid[found[0]], distance - RAY_BACK_M
        return self._judge(bodies, gaps)

    def _judge(self, bodies: Array, gaps: Array) -> RimView:
        spec, known = self._spec, np.isfinite(gaps)
        if not known.all():
            words = f"{int((~known).sum())} of {RIM_POINTS} points of the rim are over nothing"
            nearest = float(gaps.min()) if known.any() else float("nan")
            return RimView("", nearest, nearest, float("nan"), words)
        slope = 2.0 * (gaps @ self._circle) / RIM_POINTS / spec.radius_m**2
        angle = float(np.arctan(np.hypot(*slope)))
        names = sorted({self._model.body(int(body)).name for body in bodies})
        nearest, farthest = float(gaps.min()), float(gaps.max())
        why = ""
        if len(names) > 1:
            why = f"the rim is over {' and '.join(map(repr, names))} at once"
        elif names[0] not in self._liftable:
            why = f"the rim is on {names[0]!r}, which cannot be lifted"
        elif angle > spec.max_angle_rad:
            most = np.degrees(spec.max_angle_rad)
            why = f"{names[0]!r} is tilted by {np.degrees(angle):.1f} degrees, at most {most:.1f} seal"
        elif nearest > 0.0 or farthest > spec.reach_m:
            why = f"{names[0]!r} is {farthest * 1e3:.1f} mm from the rim, whose lip reaches {spec.reach_m * 1e3:.1f} mm"
        return RimView(names[0] if len(names) == 1 else "", nearest, farthest, angle, why)
