"""The object that an arm holds is measured for every result, independently of its record."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from handiwork_core.contracts.planning import Attachment
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from skill_server.ros.arm_runner import ArmRunner


def made() -> tuple[Fakes, ArmRunner]:
    cube = WorldObject("cube", (Shape(ShapeKind.BOX, np.array([0.04, 0.04, 0.04]), Pose.identity()),))
    f = fakes(Cell({"cube": cube}, {"cube": Pose.of((0.4, 0.1, 0.02))}, {"cube": 0.04}))
    f.cell.width_m = 0.04
    return f, ArmRunner(
        **{
            item.name: getattr(f.context, item.name)
            for item in fields(ArmRunner)
            if hasattr(f.context, item.name)
        }
    )


def test_a_grasped_object_that_is_not_recorded_is_reported() -> None:
    f, runs = made()
    f.cell.in_hand = "cube"
    assert runs.result(OK, None).held_object == "cube"


def test_a_recorded_object_that_is_gone_is_not_reported() -> None:
    f, runs = made()
    runs.held["cube"] = Attachment("cube", "hand", Pose.identity())
    assert runs.result(OK, None).held_object == ""
    f.cell.in_hand = "cube"
    assert runs.result(OK, None).held_object == "cube"
    f.cell.in_hand, f.cell.has_contacts, f.cell.width_m = "", False, 0.0
    assert runs.result(OK, None).held_object == ""


def test_an_object_that_left_the_world_is_forgotten() -> None:
    f, runs = made()
    runs.held["old"] = Attachment("old", "hand", Pose.identity())
    f.cell.has_contacts = False
    assert runs.result(OK, None).held_object == ""
