"""The logical state of the application, and the cell as it is seen from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from decider_node.motion.command import MotionCommand
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import ObjectState

from .bin import Grasp
from .layout import Layout


class CellPort(Protocol):
    """What the application needs of a cell, simulated or real."""

    def bins(self) -> Mapping[str, ObjectState]:
        """Bins that have been seen, where they are now."""

    def tip(self) -> Pose:
        """World pose of the cup's rim, measured."""

    def joints(self) -> Array:
        """(n,) measured joints [rad]."""

    def suction(self) -> SuctionState:
        """The cup."""

    def suck(self, *, on: bool) -> None:
        """Switches the cup."""

    def run_belt(self, *, on: bool) -> None:
        """Lets the belt run, or stand."""

    def go(self, command: MotionCommand) -> None:
        """Sends the arm; ``command`` is for the tip of the cup."""

    def stop(self) -> None:
        """Brings the arm to rest."""

    def set_off(self, names: frozenset[str]) -> None:
        """Says which regions do not count now."""

    def configuration(self, world_T_tip: Pose, near: Array | None) -> Array | None:
        """Joints (n,) for a pose of the tip, near ``near`` if given; None: out of reach."""


@dataclass
class StackContext:
    """What monitors write and deciders read."""

    cell: CellPort
    layout: Layout
    corrects: bool = True
    bins: Mapping[str, ObjectState] = field(default_factory=dict)
    tip: Pose = field(default_factory=Pose.identity)
    suction: SuctionState = field(default_factory=lambda: SuctionState(0.0, False, False))
    places: dict[int, str] = field(default_factory=dict)
    """The bin that stands in each place of the stack that is filled, as it is seen."""
    place: int | None = None
    """Where the held bin is brought; None: no bin is held as it is placed, or no place is open."""
    active: str | None = None
    grasp: Grasp | None = None
    posture: Array | None = None
    is_lifted: bool = False
    """What the cup holds was lifted clear of what is around; after a new start nobody knows."""
    half_turned: bool = False
    drift: Array = field(default_factory=lambda: np.zeros(3))
    """(3,) velocity of the active bin on the belt [m/s]; 0 where it only trembles."""
    mean_velocity: Array = field(default_factory=lambda: np.zeros(3))
    grasp_reached: bool = False
    target: Pose | None = None
    """Where the tip is going."""
    correction: Array = field(default_factory=lambda: np.zeros(3))
    """Of the place: x, y [m], heading [rad]."""
    status: str = ""
    dropped: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    """Bins within reach that cannot be held, and why."""
    is_new: bool = True
    """All places of the stack have to be looked at."""

    @property
    def stacked(self) -> list[str]:
        """Bins that stand in the stack, in the order of their places."""
        return [self.places[index] for index in sorted(self.places)]

    @property
    def is_attached(self) -> bool:
        """The cup holds the active bin."""
        return self.suction.sealed and self.suction.object == self.active and self.active is not None

    @property
    def needs_flip(self) -> bool:
        """What the cup holds, it holds from inside or by a wall."""
        if not self.is_attached or self.active is None:
            return self.grasp is not None and self.grasp.needs_flip
        return self._hold() < 0.7

    @property
    def holds_wall(self) -> bool:
        """What the cup holds, it holds by a wall."""
        return self.is_attached and abs(self._hold()) < 0.7

    def _hold(self) -> float:
        """Cosine between the cup's axis and that of the held bin: 1 for the bottom from outside, -1 from inside."""
        assert self.active is not None
        tool_z = self.tip.rotation.matrix()[:, 2]
        return float(tool_z @ self.bins[self.active].world_T_object.rotation.matrix()[:, 2])

    @property
    def is_complete(self) -> bool:
        """All places are filled, and were looked at since the last placing."""
        return len(self.places) >= len(self.layout) and not self.is_new

    def renew(self) -> None:
        """After a reset the world is looked at anew, the stack too."""
        self.active = self.grasp = self.posture = self.target = self.place = None
        self.correction[:] = 0.0
        self.is_lifted, self.is_new = False, True
