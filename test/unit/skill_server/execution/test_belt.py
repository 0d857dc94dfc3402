"""Waiting for an object on a belt: when it comes, when it has passed, when it is at rest, and with a stop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.commands import AwaitObject
from handiwork_core.contracts.skill import StepFailed, Stopped
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import (
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from skill_server.execution.run import run_skill
from skill_server.execution.waits import await_object
from skill_server.motions.conveyor import remaining_s
from skill_server.params.retry_policy import retry_policy_of
from skill_server.skills.pick_place.dynamicpick import DynamicPick, DynamicPickParams

SPEED = np.array([0.0, 0.1, 0.0])
POINT = np.array([0.4, 0.5, 0.02])


class Belt:
    """The world of the fakes with a cube that moves with time."""

    def __init__(self, made: Fakes, speed: np.ndarray) -> None:
        self._source, self._cell, self._speed = made.context.world, made.cell, speed

    def snapshot(self) -> World:
        world = self._source.snapshot()
        place = np.array([0.4, 0.0, 0.02]) + self._speed * (self._cell.now_s - 10.0)
        state = replace(world.states["cube"], world_T_object=Pose.of(place), world_v_object=self._speed)
        return replace(world, states={"cube": state})

    def world_T_base(self) -> Pose:
        return self._source.world_T_base()


def made(speed: np.ndarray) -> Fakes:
    cube = WorldObject("cube", (Shape(ShapeKind.BOX, np.full(3, 0.04), Pose.identity()),))
    f = fakes(Cell({"cube": cube}, {"cube": Pose.of((0.4, 0.0, 0.02))}))
    f.context.world = Belt(f, speed)
    return f


def wait(f: Fakes, lead_s: float = 1.0, timeout_s: float = 10.0) -> None:
    await_object(AwaitObject("cube", POINT, lead_s, timeout_s), f.context, "wait", lambda: None)


def test_the_wait_ends_a_lead_before_the_object_comes() -> None:
    f = made(SPEED)
    assert remaining_s(f.context.world.snapshot(), "cube", POINT, f.cell.now_s) == pytest.approx(5.0)
    wait(f)
    assert f.cell.now_s == pytest.approx(14.0, abs=0.05)


@pytest.mark.parametrize(
    ("speed", "lead_s", "words"),
    [
        (SPEED, 8.0, "came before the hand"),
        (-SPEED, 1.0, "came before the hand"),
        (0.0 * SPEED, 1.0, "did not come"),
    ],
)
def test_an_object_that_does_not_come_in_time_is_told(speed: np.ndarray, lead_s: float, words: str) -> None:
    f = made(speed)
    with pytest.raises(StepFailed, match=words) as caught:
        wait(f, lead_s, 2.0)
    assert caught.value.outcome.code is Code.OBJECT_MOVED


def test_a_stop_ends_the_wait_at_once() -> None:
    f = made(SPEED)
    calls: list[str] = []

    def stop_at_the_third(call: str) -> None:
        calls.append(call)
        if len(calls) == 3:
            f.context.token.set(Code.CANCELED)

    f.cell.before = stop_at_the_third
    with pytest.raises(Stopped):
        wait(f)
    assert f.cell.now_s < 10.1


def test_without_a_place_before_the_grasp_there_is_nowhere_to_wait() -> None:
    f = made(SPEED)
    run = run_skill(DynamicPick(), DynamicPickParams(object="cube", pre_grasp_offset=0.0), f.context)
    assert (run.outcome.code, run.outcome.field_name) == (Code.CONTRADICTION, "pre_grasp_offset")
    assert f.arm.followed == 0


def test_an_object_that_passed_the_meeting_point_ends_the_goal() -> None:
    f = made(SPEED)
    assert not retry_policy_of(DynamicPickParams(object="cube")).follows
    run = run_skill(DynamicPick(), DynamicPickParams(object="cube", follow_speed=0.2), f.context)
    assert (run.outcome.code, run.outcome.field_name) == (Code.CONTRADICTION, "follow_speed")
