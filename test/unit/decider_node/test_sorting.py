"""The sorting network on a cell without physics: what becomes of a cube that leaves the world."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from decider_node.motion.command import MotionCommand
from decider_node.sorting.application import HOME, OPEN_M, SortingContext, look, sorting_network
from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import ObjectState

STILL = frozen(np.zeros(3))
BIN = Pose.of((0.3, 0.5, 0.2), HOME.rotation)


class Cell:
    """The tip is at its target at once; closed fingers hold the cube between them."""

    def __init__(self) -> None:
        self.poses: dict[str, Pose] = {}
        self.at, self.opening_m = HOME, OPEN_M
        self.before = self.at
        self.is_late = False
        """Cubes are seen where they were before the last command."""

    def cubes(self) -> Mapping[str, ObjectState]:
        stamp_s = -1.0 if self.is_late else 0.0
        return {name: ObjectState(pose, STILL, STILL, stamp_s) for name, pose in self.poses.items()}

    def tip(self) -> Pose:
        return self.at

    def tip_at(self, stamp_s: float) -> Pose:
        return self.before if stamp_s < 0.0 else self.at

    def joints(self) -> Array:
        return np.zeros(7)

    def width(self) -> float:
        return self.opening_m

    def grip(self, width_m: float) -> None:
        self.opening_m = max(width_m, 0.04)

    def go(self, command: MotionCommand) -> None:
        self.before, self.at = self.at, command.aim(self.at)

    def stop(self) -> None:
        raise AssertionError("the network has stopped")


@pytest.mark.parametrize("when", ["before the grasp is locked", "while the grasp is locked"])
def test_a_cube_that_leaves_the_world_is_given_up_for_the_next_one(when: str) -> None:
    cell = Cell()
    context = SortingContext(cell, {"red": BIN}, np.zeros(3))
    network, now_s = sorting_network(context), 0.0
    cell.poses["red_0"] = Pose.of((0.5, 0.0, 0.0))

    def tick(times: int) -> None:
        nonlocal now_s
        for _ in range(times):
            now_s += 0.02
            network.tick(now_s)

    tick(1)
    if when.startswith("while"):
        while cell.opening_m == OPEN_M:
            tick(1)
    assert context.active == "red_0"
    del cell.poses["red_0"]
    tick(1)
    assert context.active is None and not context.held
    tick(100)
    assert cell.at.almost_equal(HOME, within_m=1e-6, within_rad=1e-6)
    cell.poses["red_1"] = Pose.of((0.5, 0.0, 0.0))
    tick(1)
    assert context.active == "red_1"


def test_a_held_cube_that_is_seen_later_than_the_hand_stays_held() -> None:
    """The hand swings to the bin by 6 cm from one observation of the cube to the next."""
    cell = Cell()
    context = SortingContext(cell, {"red": BIN}, np.zeros(3))
    cell.poses["red_0"], cell.is_late, cell.opening_m = HOME, True, 0.045
    cell.before, cell.at = HOME, Pose.of(HOME.translation_m + (0.0, 0.06, 0.0), HOME.rotation)
    context.active = "red_0"
    look(context, 0.0)
    assert context.held
    cell.before = Pose.of(HOME.translation_m - (0.0, 0.06, 0.0), HOME.rotation)
    look(context, 0.0)
    assert not context.held, "the cube was not between the fingers at its own time"
