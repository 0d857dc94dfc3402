"""The sorting network on a cell without physics: what becomes of a cube that leaves the world."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from decider_node.motion.command import MotionCommand
from decider_node.sorting.application import HOME, OPEN_M, SortingContext, sorting_network
from handiwork_core.model.geometry import Array, Pose, frozen
from handiwork_core.model.world import ObjectState

STILL = frozen(np.zeros(3))
BIN = Pose.of((0.3, 0.5, 0.2), HOME.rotation)


class Cell:
    """The tip is at its target at once; closed fingers hold the cube between them."""

    def __init__(self) -> None:
        self.poses: dict[str, Pose] = {}
        self.at, self.opening_m = HOME, OPEN_M

    def cubes(self) -> Mapping[str, ObjectState]:
        return {name: ObjectState(pose, STILL, STILL, 0.0) for name, pose in self.poses.items()}

    def tip(self) -> Pose:
        return self.at

    def joints(self) -> Array:
        return np.zeros(7)

    def width(self) -> float:
        return self.opening_m

    def grip(self, width_m: float) -> None:
        self.opening_m = max(width_m, 0.04)

    def go(self, command: MotionCommand) -> None:
        self.at = command.aim(self.at)

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
