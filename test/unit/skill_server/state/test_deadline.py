"""Late measurements are awaited: on a busy machine the clock runs ahead of the joints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.model.outcome import Code
from handiwork_core.model.world import JointState, World
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from skill_server.execution.run import run_skill
from skill_server.skills.motion.home import Home, HomeParams
from skill_server.state.deadline import SILENT_S, MeasurementDeadline


@dataclass
class Times:
    now: float = 0.0

    def now_s(self) -> float:
        return self.now

    def sleep(self, seconds: float, *, should_stop: Any) -> None:
        self.now += seconds


def seen(stamp_s: float, joints_s: float) -> World:
    return World(stamp_s, contacts=(), contacts_stamp_s=stamp_s, joints=JointState(joints_s, {"joint": 0.0}))


def test_old_joints_beside_a_new_world_are_not_the_last_word() -> None:
    world, wall = Times(1.0), Times()
    deadline = MeasurementDeadline(world, 0.5, wall.now_s)
    world.now = 9.0
    assert not deadline.is_past(seen(9.0, 1.2))
    assert deadline.is_past(seen(1.5, 1.5))
    assert deadline.is_past(World(1.5))


def test_silence_ends_the_wait() -> None:
    world, wall = Times(1.0), Times()
    deadline = MeasurementDeadline(world, 0.5, wall.now_s)
    wall.now = 100.0
    assert not deadline.is_past(seen(1.4, 1.2))
    world.now = 2.0
    assert not deadline.is_past(seen(2.0, 1.2))
    wall.now += SILENT_S
    assert deadline.is_past(seen(2.0, 1.2))


def delayed(f: Fakes, snapshots: int) -> None:
    """Keep the old joints for some snapshots after the motion; 0.2 s pass in each."""
    live, old, left = f.context.world.snapshot, f.context.world.snapshot().joints, snapshots
    follow = f.context.arm.follow
    moved = False

    def snapshot() -> World:
        nonlocal left
        f.cell.now_s += 0.2 if moved else 0.0
        world = live()
        if not moved or left == 0:
            return world
        left -= 1
        return replace(world, joints=old)

    def tell(trajectory: Any, *, should_stop: Any) -> Any:
        nonlocal moved
        outcome = follow(trajectory, should_stop=should_stop)
        moved = True
        return outcome

    f.context.world.snapshot = snapshot  # type: ignore[method-assign]
    f.context.arm.follow = tell  # type: ignore[method-assign]


@pytest.mark.parametrize("snapshots", [0, 1, 10])
def test_home_is_judged_by_joints_that_were_measured_after_the_motion(snapshots: int) -> None:
    f = fakes(Cell({}, {}, {}))
    f.cell.q = f.cell.q + np.array([0.3, *np.zeros(len(f.cell.q) - 1)])
    delayed(f, snapshots)
    outcome = run_skill(Home(), HomeParams(), f.context).outcome
    assert outcome.code is Code.OK, outcome
