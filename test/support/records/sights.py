"""Sights of one world that are written down by hand, as the arrays of an event tracker."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from conditionals_node.events.sight import Aim, Sight
from handiwork_core.model.geometry import Array

TABLE = "table"


@dataclass(frozen=True, slots=True, eq=False)
class ObjectMotion:
    """The place (3,), m, speed, m/s, and tilt, rad, of one object."""

    place_m: Array
    speed_mps: float
    tilt_rad: float


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What is seen in one world at one instant, by names."""

    stamp_s: float
    motions: Mapping[str, ObjectMotion]
    touched: tuple[str, ...] = ()
    gripped: tuple[str, ...] = ()
    touches_surface: bool = False
    closed: float = math.nan
    intended: frozenset[str] = frozenset()
    goals: frozenset[str] = frozenset()
    settled: frozenset[str] = frozenset()
    names: tuple[str, ...] = field(default=("target", "other1", "other2", "bin", "cube", "can", "mug"))

    def arrays(self) -> tuple[Sight, Aim]:
        """Return the sight and the aim of one world; the table is the last object."""
        names = (*dict.fromkeys((*self.motions, *self.names)), TABLE)
        nowhere = ObjectMotion(np.full(3, np.nan), math.nan, math.nan)
        motions = [self.motions.get(name, nowhere) for name in names]
        touched = (*self.touched, TABLE) if self.touches_surface else self.touched
        sight = Sight(
            names,
            np.array([self.stamp_s]),
            np.array([motion.place_m for motion in motions])[:, None],
            np.array([[motion.speed_mps] for motion in motions]),
            np.array([[motion.tilt_rad] for motion in motions]),
            movable=np.array([name != TABLE for name in names]),
            surface=np.array([name == TABLE for name in names]),
            solid=np.ones(len(names), dtype=bool),
            touched=np.array([[name in touched] for name in names]),
            gripped=np.array([[name in self.gripped] for name in names]),
            closed=np.array([self.closed]),
        )
        sets = (self.intended, self.goals, self.settled)
        return sight, Aim(*(np.array([[name in wanted] for name in names]) for wanted in sets))
