"""One stack from an empty pallet, and the accuracy of its bins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from decider_node.motion.command import MotionCommand
from decider_node.network.errors import NetworkError
from decider_node.network.network import Network
from decider_node.stacking.application import stacking_network
from decider_node.stacking.bin import WIDTH_M, open_side, stands_at
from decider_node.stacking.cell import STANDARD, StackingCell
from decider_node.stacking.choice import CannotGoOn
from decider_node.stacking.context import StackContext
from decider_node.stacking.feeding import is_belt_free
from decider_node.stacking.layout import Layout
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import ObjectState
from sim_bridge.mujoco.cup_slip import CupSlip

from .simulated_cell import CYCLE_S, UR10, SimulatedCell

SECONDS_PER_BIN = 60.0
STAYS_S = 1.0
FEED_STEPS = 10
JUDGED_S = 0.8
"""Time after the release at which a placing is judged, s."""
LEVEL_DEG, REST_MPS = 10.0, 0.05


@dataclass(frozen=True)
class Result:
    """The end of an episode. ``worst_m``, ``worst_deg``: largest distance from its place over all bins."""

    stacked: int
    places: int
    worst_m: float
    worst_deg: float
    dropped: int
    upside_up: int
    simulated_s: float
    placings: int = 0
    """Bins that were let go over a place."""
    right: int = 0
    """Those of them that were in their place a second later."""
    refusal: str = ""
    """The reason why the network refused to continue, if the simulation confirms it."""

    @property
    def good(self) -> bool:
        """All bins are within 10 mm and 2 degrees, none upside up."""
        full = self.stacked == self.places and self.upside_up == 0
        return full and self.worst_m <= 0.01 and self.worst_deg <= 2.0


def is_true(context: StackContext, bins: Mapping[str, ObjectState]) -> bool:
    """Check whether a refusal holds in the simulation, by its poses alone.

    Each bin that is named leans by more than 10 degrees, whichever side is taken for its bottom, and is at rest; or,
    if none leans, each empty place has a bin within it.

    Args:
        context: The network's context.
        bins: True states of the bins.
    """
    if context.refused:
        return all(
            tilt_deg(bins[n]) > LEVEL_DEG - 0.1 and _speed(bins[n]) < REST_MPS for n in context.refused
        )
    loose = [n for n in bins if n not in context.places.values()]
    empty = [context.layout.place(k) for k in range(len(context.layout)) if k not in context.places]
    return all(any(_apart(bins[n], place) < WIDTH_M for n in loose) for place in empty)


def tilt_deg(state: ObjectState) -> float:
    """Return the smallest angle between the vertical and an axis of a bin, deg.

    Args:
        state: State of the bin.
    """
    upward = np.abs(state.world_T_object.rotation.matrix()[2])
    return float(np.degrees(np.arccos(min(float(upward.max()), 1.0))))


def _speed(state: ObjectState) -> float:
    return float(np.linalg.norm(state.world_v_object))


def _apart(state: ObjectState, place: Pose) -> float:
    return float(np.linalg.norm(state.world_T_object.translation_m - place.translation_m))


class Episode:
    """Cell and network; ``step`` is one tick."""

    def __init__(
        self,
        layout: Layout | None,
        seed: int,
        *,
        corrects: bool = True,
        spares: int = 2,
        site: StackingCell = STANDARD,
        robot_dir: Path = UR10,
        slip: CupSlip | None = None,
    ) -> None:
        self._site = site if layout is None else replace(site, layout=layout)
        self.cell = SimulatedCell(len(self._site.layout) + spares, seed, self._site, robot_dir, slip)
        self._corrects = corrects
        self.context, self.network = self._new()
        self._steps = 0
        self._placed: tuple[str, int, float] | None = None
        self._aimed: tuple[str, int] | None = None
        self.placings = self.right = 0
        self.fault = self._refusal = ""
        """The reason why the network stopped, if it did."""

    def _new(self) -> tuple[StackContext, Network[StackContext]]:
        context = StackContext(self.cell, self._site, self._corrects)
        home = self._site.world_T_home
        posture = self.cell.configuration(home, None)
        return context, stacking_network(context, lambda _: MotionCommand(home, posture=posture))

    def restart(self, pause_s: float) -> None:
        """Restart network and controller without any state, as when the node is killed; the arm brakes meanwhile.

        Args:
            pause_s: Simulated time of the pause, s.
        """
        self.cell.stop()
        for _ in range(round(pause_s / CYCLE_S)):
            self.cell.advance()
        self.cell.restart()
        self.context, self.network = self._new()

    @property
    def time_s(self) -> float:
        """The simulated time, s."""
        return self.cell.world.time_s

    def step(self) -> None:
        """Feed the belt ten times a second, tick the network, move the world."""
        if self._steps % FEED_STEPS == 0 and not self.context.is_complete:
            self._feed()
        self._steps += 1
        if not self.cell.is_stale:
            self.network.tick(self.time_s)
        self.cell.advance()
        self._judge_placing()

    def _judge_placing(self) -> None:
        """Count bins that are let go over a place, and those of them that are in it a second later."""
        context, path = self.context, self.network.descent.path
        leaf = path[-1].name if path else ""
        is_let_go = leaf == "place_bin" and not context.suction.on and context.place is None
        if self._placed is None and is_let_go and self._aimed is not None:
            self._placed = (*self._aimed, self.time_s + JUDGED_S)
            self.placings += 1
        if leaf == "place_bin" and context.is_attached and context.active and context.place is not None:
            self._aimed = (context.active, context.place)
        elif not is_let_go:
            self._aimed = None
        if self._placed is not None and self.time_s >= self._placed[2]:
            name, index, _ = self._placed
            pose = self.cell.true_bins()[name].world_T_object
            self.right += stands_at(pose, context.layout.place(index))
            self._placed = None

    def _feed(self) -> None:
        """Feed the next bin when none is on the belt, or the only one is lifted clear of it."""
        if is_belt_free(self._site, self.cell.true_bins()):
            self.cell.feed()

    def run(self, watch: Callable[[Episode], None] = lambda _: None) -> Result:
        """Run until the stack is complete, and stays so for ``STAYS_S``, or the time is over.

        Args:
            watch: Called after each step.
        """
        limit_s = SECONDS_PER_BIN * len(self.context.layout)
        complete_s = 0.0
        try:
            while complete_s < STAYS_S and self.time_s < limit_s:
                self.step()
                watch(self)
                complete_s = complete_s + CYCLE_S if self.context.is_complete else 0.0
        except NetworkError as error:
            self.fault = str(error)
            if isinstance(error.__cause__, CannotGoOn):
                self._refusal = str(error.__cause__)
        return self.result()

    def result(self) -> Result:
        """Return the accuracy of all stacked bins, by their true poses."""
        context, worst_m, worst_deg, wrong = self.context, 0.0, 0.0, 0
        bins = self.cell.true_bins()
        for index, name in context.places.items():
            pose, place = bins[name].world_T_object, context.layout.place(index)
            worst_m = max(worst_m, float(np.linalg.norm(pose.translation_m - place.translation_m)))
            half = Pose.of((0, 0, 0), Rotation.from_axis_angle((0.0, 0.0, 1.0), np.pi))
            turns = [pose.rotation.angle_to(p.rotation) for p in (place, place @ half)]
            worst_deg = max(worst_deg, float(np.degrees(min(turns))))
            wrong += bool(open_side(pose)[2] > 0.0)
        return Result(
            len(context.places),
            len(context.layout),
            worst_m,
            worst_deg,
            context.dropped,
            wrong,
            self.time_s,
            self.placings,
            self.right,
            self._refusal if self._refusal and is_true(context, bins) else "",
        )
