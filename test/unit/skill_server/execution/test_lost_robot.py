"""A robot that is lost at any call of a port: every later wait ends, whatever its clock is.

The lost robot's clock and measurements do not change, and its controllers report success. So each wait for a
measurement would last for ever; the watchdog sets the token, and that ends all of them.
"""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import (
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from skill_server.execution.run import run_skill
from skill_server.skills.motion.wait import Wait, WaitParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams

CUBE = 0.045
WHY = "no joint_states for 1.3 s"
PATIENCE = 5
"""Calls of ports that a skill makes of a dead robot before the watchdog sets the token."""
ENDLESS = 2000
"""A skill that calls so often waits for ever."""


class DeadPorts:
    """Ports of a cell that are lost with a given call."""

    def __init__(self, f: Fakes, dies_at: int) -> None:
        self.f, self.dies_at, self.calls = f, dies_at, 0
        self._frozen: World | None = None
        self._arm, self._gripper, self._world = f.context.arm, f.context.gripper, f.context.world
        self._clock = f.context.clock
        f.cell.before = self._on_call
        context = f.context
        context.arm = context.gripper = context.world = context.clock = self  # type: ignore[assignment]

    @property
    def is_dead(self) -> bool:
        return self._frozen is not None

    def _on_call(self, _call: str) -> None:
        self.calls += 1
        assert self.calls < self.dies_at + ENDLESS, "a wait without an end"
        if self.calls == self.dies_at:
            self._frozen = self._world.snapshot()
        if self.calls == self.dies_at + PATIENCE:
            self.f.context.token.set(Code.ROBOT_LOST, WHY)

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        if self.is_dead:
            self.f.cell.call("arm.follow")
            return OK
        return self._arm.follow(trajectory, should_stop=should_stop)

    def stop(self) -> Outcome:
        if self.is_dead:
            return Outcome(Code.ROBOT_LOST, "the arm's joints were at rest 1.4 s ago")
        return self._arm.stop()

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        if self.is_dead:
            self.f.cell.call("gripper.move")
            return OK
        return self._gripper.move(width_m, should_stop=should_stop)

    def snapshot(self) -> World:
        return self._frozen or self._world.snapshot()

    def world_T_base(self) -> Pose:
        return self._world.world_T_base()

    def now_s(self) -> float:
        return self._frozen.stamp_s if self._frozen else self._clock.now_s()

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        if self.is_dead:
            self.f.cell.call("clock.sleep")
            return
        self._clock.sleep(seconds, should_stop=should_stop)


def made() -> Fakes:
    def box(name: str, x: float, y: float, z: float, static: bool) -> WorldObject:
        return WorldObject(name, (Shape(ShapeKind.BOX, np.array([x, y, z]), Pose.identity()),), static)

    objects = {
        "cube": box("cube", CUBE, CUBE, CUBE, False),
        "tray": box("tray", 0.3, 0.3, 0.02, True),
        "table": box("table", 2.0, 2.0, 0.05, True),
    }
    poses = {"cube": (0.4, 0.1, CUBE / 2), "tray": (0.4, -0.3, 0.01), "table": (0.0, 0.0, -0.025)}
    return fakes(Cell(objects, {name: Pose.of(p) for name, p in poses.items()}, {"cube": CUBE}), 0)


def pick(context: Context) -> Outcome:
    return run_skill(Pick(), PickParams(object="cube"), context).outcome


def place(context: Context) -> Outcome:
    return run_skill(Place(), PlaceParams(container="tray"), context).outcome


def calls_of_a_good_run() -> tuple[int, int]:
    f = made()
    counted: list[str] = []
    f.cell.before = counted.append
    assert pick(f.context).ok
    picked = len(counted)
    assert place(f.context).ok
    return picked, len(counted)


PICKED, PLACED = calls_of_a_good_run()


def assert_lost(outcome: Outcome) -> None:
    assert outcome.code is Code.ROBOT_LOST, outcome
    assert WHY in outcome.message
    assert "joints were at rest 1.4 s ago" in outcome.message, "what is known of the arm"


@pytest.mark.parametrize("dies_at", range(1, PICKED))
def test_a_pick_ends_at_whatever_call_the_robot_dies(dies_at: int) -> None:
    f = made()
    DeadPorts(f, dies_at)
    assert_lost(pick(f.context))


@pytest.mark.parametrize("dies_at", range(1, PLACED - PICKED))
def test_a_place_ends_at_whatever_call_the_robot_dies(dies_at: int) -> None:
    f = made()
    assert pick(f.context).ok
    DeadPorts(f, dies_at)
    assert_lost(place(f.context))


def test_a_wait_in_the_robots_time_ends() -> None:
    f = made()
    DeadPorts(f, 1)
    assert_lost(run_skill(Wait(), WaitParams(wait_steps=3000), f.context).outcome)
