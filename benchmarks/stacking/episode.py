"""One stack from an empty pallet, and how well the bins stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from decider_node.motion.command import MotionCommand
from decider_node.network.errors import NetworkError
from decider_node.network.network import Network
from decider_node.stacking.application import HOME, stacking_network
from decider_node.stacking.bin import open_side
from decider_node.stacking.cell import BELT_END_Y_M
from decider_node.stacking.context import StackContext
from decider_node.stacking.layout import Layout
from handiwork_core.geometry import Pose, Rotation

from .simulated_cell import CYCLE_S, SimulatedCell

FEED_Y_M = 1.0
SECONDS_PER_BIN = 60.0


@dataclass(frozen=True)
class Result:
    """How an episode ended. ``worst_m``, ``worst_deg``: farthest from its place over all bins."""

    stacked: int
    places: int
    worst_m: float
    worst_deg: float
    dropped: int
    upside_up: int
    simulated_s: float

    @property
    def good(self) -> bool:
        """All within 10 mm and 2 degrees, none upside up."""
        full = self.stacked == self.places and self.upside_up == 0
        return full and self.worst_m <= 0.01 and self.worst_deg <= 2.0


class Episode:
    """Cell and network; ``step`` is one tick."""

    def __init__(self, layout: Layout, seed: int, *, corrects: bool = True, spares: int = 2) -> None:
        self.cell = SimulatedCell(len(layout) + spares, seed)
        self._layout, self._corrects = layout, corrects
        self.context, self.network = self._new()
        self.fault = ""
        """Why the network stopped, if it did."""

    def _new(self) -> tuple[StackContext, Network[StackContext]]:
        context = StackContext(self.cell, self._layout, self._corrects)
        posture = self.cell.configuration(HOME, None)
        return context, stacking_network(context, lambda _: MotionCommand(HOME, posture=posture))

    def begin_anew(self, pause_s: float) -> None:
        """As when the node is killed and started again: nothing is remembered, the arm brakes meanwhile."""
        self.cell.stop()
        for _ in range(round(pause_s / CYCLE_S)):
            self.cell.advance()
        self.cell.begin_anew()
        self.context, self.network = self._new()

    @property
    def time_s(self) -> float:
        """Simulated time."""
        return self.cell.world.time_s

    def step(self) -> None:
        """Feeds the belt, ticks the network, moves the world."""
        bins = self.cell.bins()
        coming = [bins[n].world_T_object.translation_m for n in bins if n not in self.context.stacked]
        on_belt = [p for p in coming if p[1] > BELT_END_Y_M and abs(p[0]) < 0.4 and p[2] > -0.3]
        held = self.cell.cup.object
        if (
            not on_belt or (held and not [p for p in on_belt if p[2] < 0.0])
        ) and not self.context.is_complete:
            self.cell.feed()
        self.network.tick(self.time_s)
        self.cell.advance()

    def run(self, watch: Callable[[Episode], None] = lambda _: None) -> Result:
        """Until the stack is complete or the time is over."""
        limit_s = SECONDS_PER_BIN * len(self.context.layout)
        try:
            while not self.context.is_complete and self.time_s < limit_s:
                self.step()
                watch(self)
            for _ in range(round(1.0 / CYCLE_S)):
                self.step()
        except NetworkError as error:
            self.fault = str(error)
        return self.result()

    def result(self) -> Result:
        """Looks at all bins that were stacked."""
        context, worst_m, worst_deg, wrong = self.context, 0.0, 0.0, 0
        bins = self.cell.bins()
        for index, name in enumerate(context.stacked):
            pose, place = bins[name].world_T_object, context.layout.place(index)
            worst_m = max(worst_m, float(np.linalg.norm(pose.translation_m - place.translation_m)))
            half = Pose.of((0, 0, 0), Rotation.from_axis_angle((0.0, 0.0, 1.0), np.pi))
            turns = [pose.rotation.angle_to(p.rotation) for p in (place, place @ half)]
            worst_deg = max(worst_deg, float(np.degrees(min(turns))))
            wrong += bool(open_side(pose)[2] > 0.0)
        return Result(
            len(context.stacked), len(context.layout), worst_m, worst_deg, context.dropped, wrong, self.time_s
        )
