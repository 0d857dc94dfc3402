"""The contact of a simulated suction cup's rim, found by rays. The simulator's module is an argument."""

# ruff: noqa: ANN401 the simulator's module is an argument

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.model.suction import SuctionSpec

RIM_POINTS = 12
RAY_BACK_M, RAY_AHEAD_M = 0.012, 0.1
"""Rays start this far behind the rim, and end this far ahead of it."""


@dataclass(frozen=True, slots=True)
class RimView:
    """The surface before the rim; see ``SuctionState`` for the numbers.

    Attributes:
        body: Body that the whole rim meets; empty when it meets none, or several.
        nearest_m: Distance of the nearest point, m.
        gap_m: Distance of the farthest point, m.
        angle_rad: Angle between the surface and the rim's plane, rad.
        why: Reason why the rim cannot seal; empty when it can.
    """

    body: str
    nearest_m: float
    gap_m: float
    angle_rad: float
    why: str


class Rim:
    """Finds the surface before a cup's rim by rays from points of the rim.

    Args:
        mj: The simulator's module.
        model: The compiled model.
        data: Its state.
        spec: Size and limits of the cup.
        liftable: Names of bodies that may be held.
    """

    def __init__(self, mj: Any, model: Any, data: Any, spec: SuctionSpec, liftable: frozenset[str]) -> None:
        self._mj, self._model, self._data = mj, model, data
        self._spec, self._liftable = spec, liftable
        angles = 2.0 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
        self._circle = np.stack([np.cos(angles), np.sin(angles)], axis=1) * spec.radius_m

    def look(self, middle: Array, turn: Array, own_body: int) -> RimView:
        """Find the surface before the rim.

        Args:
            middle: Middle of the rim in the world, (3,), m.
            turn: Columns of axes in the world, (3, 3): the axis out of the cup, then two sides.
            own_body: Index of the cup's body, which rays ignore.

        Returns:
            The surface.
        """
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
