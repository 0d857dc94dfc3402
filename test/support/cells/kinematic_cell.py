"""A cell without physics: the tip moves straight to its target, a held object moves with it, a released one stays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from decider_node.motion.command import MotionCommand
from decider_node.stacking.application import stacking_network
from decider_node.stacking.bin import HEIGHT_M
from decider_node.stacking.cell import STANDARD, StackingCell
from decider_node.stacking.context import StackContext
from decider_node.stacking.layout import Layout
from handiwork_core.model.geometry import (
    Array,
    Pose,
    Rotation,
    frozen,
)
from handiwork_core.model.suction import SuctionState
from handiwork_core.model.world import ObjectState

STEP_M, TICK_S = 0.02, 0.02
BELT_Z_M = STANDARD.belt.top_z
HOME = Pose.of((0.0, 0.62, 0.2), Rotation.from_rpy(np.pi, 0.0, 0.0))
STILL = frozen(np.zeros(3))


def state(pose: Pose) -> ObjectState:
    return ObjectState(pose, STILL, STILL, 0.0)


def on_belt(y_m: float, *, upside_down: bool, heading: float = 0.3) -> Pose:
    turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), heading)
    over = Rotation.from_axis_angle((1.0, 0.0, 0.0), np.pi if upside_down else 0.0)
    return Pose.of((0.05, y_m, BELT_Z_M + 0.5 * HEIGHT_M), turn @ over)


class KinematicCell:
    def __init__(self, bins: dict[str, Pose]) -> None:
        self.poses, self.at = dict(bins), HOME
        self.on, self.held, self.stops = False, "", 0
        self.belt_runs = True
        self.slip_m = np.zeros(3)
        self.off: frozenset[str] = frozenset()

    def bins(self) -> dict[str, ObjectState]:
        return {name: state(pose) for name, pose in self.poses.items()}

    def tip(self) -> Pose:
        return self.at

    def joints(self) -> Array:
        return np.zeros(6)

    def suction(self) -> SuctionState:
        return SuctionState(0.0, self.on, bool(self.held), self.held)

    def suck(self, *, on: bool) -> None:
        self.on = on
        if not on:
            self.held = ""

    def run_belt(self, *, on: bool) -> None:
        self.belt_runs = on

    def stop(self) -> None:
        self.stops += 1

    def set_off(self, names: frozenset[str]) -> None:
        self.off = names

    def configuration(self, world_T_tip: Pose, near: Array | None) -> Array | None:
        return np.zeros(6)

    def go(self, command: MotionCommand) -> None:
        goal = command.aim(self.at)
        away = goal.translation_m - self.at.translation_m
        share = min(1.0, STEP_M / max(float(np.linalg.norm(away)), 1e-9))
        before = self.at
        self.at = Pose.of(self.at.translation_m + share * away, goal.rotation)
        if self.held:
            self.poses[self.held] = self.at @ before.inverse() @ self.poses[self.held]
        elif self.on:
            self._seal()

    def _seal(self) -> None:
        """The bin slips as the cup closes on it."""
        for name, pose in self.poses.items():
            if np.linalg.norm(pose.translation_m - self.at.translation_m) < 0.155:
                self.held = name
                self.poses[name] = replace(pose, translation_m=frozen(pose.translation_m + self.slip_m))


class Stacking:
    """A network on a kinematic cell."""

    def __init__(
        self, bins: dict[str, Pose], layout: Layout, *, corrects: bool = True, site: StackingCell = STANDARD
    ) -> None:
        self.cell = KinematicCell(bins)
        self.context = StackContext(self.cell, replace(site, layout=layout), corrects)
        self.network = stacking_network(self.context, lambda _: MotionCommand(HOME))
        self.now_s, self.leaves = 0.0, [""]

    def tick(self) -> None:
        self.now_s += TICK_S
        self.network.tick(self.now_s)
        leaf = self.network.descent.path[-1].name
        if leaf != self.leaves[-1]:
            self.leaves.append(leaf)

    def run(self, ticks: int) -> list[str]:
        for _ in range(ticks):
            self.tick()
        return self.leaves[1:]
