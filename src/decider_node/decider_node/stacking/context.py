"""The logical state of the application, and its interface to the cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from decider_node.motion.command import MotionCommand
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import ObjectState

from .bin import CupPose
from .cell import StackingCell
from .layout import Layout


class CellPort(Protocol):
    """The interface of the application to a cell, simulated or real."""

    def bins(self) -> Mapping[str, ObjectState]:
        """Return the present states of the bins that were observed, by name."""

    def tip(self) -> Pose:
        """Return the measured pose of the cup's rim in world."""

    def joints(self) -> Array:
        """Return the measured joint positions, (n,), rad."""

    def suction(self) -> SuctionState:
        """Return the state of the cup."""

    def suck(self, *, on: bool) -> None:
        """Switch the cup.

        Args:
            on: True to hold, False to let go.
        """

    def run_belt(self, *, on: bool) -> None:
        """Start or stop the belt.

        Args:
            on: True to run it.
        """

    def go(self, command: MotionCommand) -> None:
        """Send a command to the arm.

        Args:
            command: A command for the tip of the cup.
        """

    def stop(self) -> None:
        """Bring the arm to rest."""

    def set_off(self, names: frozenset[str]) -> None:
        """Set which regions do not count now.

        Args:
            names: Their names.
        """

    def configuration(self, world_T_tip: Pose, near: Array | None) -> Array | None:
        """Return a configuration for a pose of the tip.

        Args:
            world_T_tip: Pose of the tip.
            near: Joint positions to stay near, (n,), rad; None: any.

        Returns:
            Joint positions, (n,), rad; None when the pose is out of reach.
        """


@dataclass
class StackContext:
    """The logical state: monitors write it and deciders read it."""

    cell: CellPort
    site: StackingCell
    corrects: bool = True
    bins: Mapping[str, ObjectState] = field(default_factory=dict)
    tip: Pose = field(default_factory=Pose.identity)
    suction: SuctionState = field(default_factory=lambda: SuctionState(0.0, False, False))
    places: dict[int, str] = field(default_factory=dict)
    """Place of the stack -> the bin that is observed in it; without the empty places."""
    place: int | None = None
    """The place for the held bin; None: no bin is held as it is placed, or no place is open."""
    active: str | None = None
    grasp: CupPose | None = None
    posture: Array | None = None
    is_lifted: bool = False
    """True when the bin in the cup was lifted clear of its surroundings; after a new start that is not known."""
    half_turned: bool = False
    drift: Array = field(default_factory=lambda: np.zeros(3))
    """Velocity of the active bin on the belt in world, (3,), m/s; 0 where it only trembles."""
    mean_velocity: Array = field(default_factory=lambda: np.zeros(3))
    grasp_reached: bool = False
    target: Pose | None = None
    """The target of the tip; None without one."""
    correction: Array = field(default_factory=lambda: np.zeros(3))
    """Correction of the place: x, y, m, and heading, rad."""
    status: str = ""
    dropped: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    """Bins within reach that cannot be held, and why."""
    is_new: bool = True
    """True when all places of the stack have to be checked."""

    @property
    def layout(self) -> Layout:
        """The places of the stack."""
        return self.site.layout

    @property
    def stacked(self) -> list[str]:
        """The bins that stand in the stack, in the order of their places."""
        return [self.places[index] for index in sorted(self.places)]

    @property
    def is_attached(self) -> bool:
        """True when the cup holds the active bin."""
        return self.suction.sealed and self.suction.object == self.active and self.active is not None

    @property
    def needs_flip(self) -> bool:
        """True when the cup holds a bin, or will hold it, from inside or by a wall."""
        if not self.is_attached or self.active is None:
            return self.grasp is not None and self.grasp.needs_flip
        return self._hold() < 0.7

    @property
    def holds_wall(self) -> bool:
        """True when the cup holds a bin by a wall."""
        return self.is_attached and abs(self._hold()) < 0.7

    def _hold(self) -> float:
        """Return the cosine between the axes of cup and held bin: 1 from outside the bottom, -1 from inside."""
        assert self.active is not None
        tool_z = self.tip.rotation.matrix()[:, 2]
        return float(tool_z @ self.bins[self.active].world_T_object.rotation.matrix()[:, 2])

    @property
    def is_complete(self) -> bool:
        """True when all places are filled, and were checked since the last placing."""
        return len(self.places) >= len(self.layout) and not self.is_new

    def renew(self) -> None:
        """Forget the present action after a reset; the world and the stack are observed again."""
        self.active = self.grasp = self.posture = self.target = self.place = None
        self.correction[:] = 0.0
        self.is_lifted, self.is_new = False, True
