"""A container that moves before the release is reported by its own field; one that the release pushes is no matter."""

from __future__ import annotations

from typing import Any

from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.testing.fakes import Fakes
from skill_server.execution.run import run_skill
from skill_server.skills.pick_place.place import Place, PlaceParams

from .test_executor import made, pick


def move_tray(f: Fakes, by: float) -> None:
    f.cell.poses["tray"] = Pose.of((by, 0.0, 0.0)) @ f.cell.poses["tray"]


def test_a_container_that_moved_is_named_by_its_own_field() -> None:
    f = made()
    assert pick(f).outcome.ok
    f.arm.on_tick = lambda t: move_tray(f, 0.02) if t == 0.5 else None
    outcome = run_skill(Place(), PlaceParams(container="tray", follow_speed=0.0), f.context).outcome
    assert (outcome.code, outcome.field_name) == (Code.OBJECT_MOVED, "container")
    assert "'tray' moved by 20 mm" in outcome.message


def test_a_container_that_shifts_when_the_hand_opens_does_not_refuse_the_retreat() -> None:
    f = made()
    assert pick(f).outcome.ok
    move = f.gripper.move

    def open_and_push(*arguments: Any, **named: Any) -> Outcome:
        ended = move(*arguments, **named)
        move_tray(f, 0.015)
        return ended

    f.gripper.move = open_and_push  # type: ignore[method-assign]
    run = run_skill(Place(), PlaceParams(container="tray"), f.context)
    assert run.outcome.ok, run.outcome
    assert run.stages[-1].stage == "retreat"
