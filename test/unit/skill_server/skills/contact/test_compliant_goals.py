"""The goal fields of ``insert``, ``press`` and ``wipe``: what is refused before anything moves, and in which words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.skill import Skill
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from skill_server.execution.run import run_skill
from skill_server.skills.contact.insert import Insert, InsertParams
from skill_server.skills.contact.press import Press, PressParams
from skill_server.skills.contact.wipe import Wipe, WipeParams

TRAY = WorldObject(
    "tray", (Shape(ShapeKind.BOX, np.array((0.3, 0.3, 0.02)), Pose.identity()),), is_static=True
)
INSERT = InsertParams(container="tray", depth=0.02)
PRESS = PressParams(object="tray")
WIPE = WipeParams(object="tray", points=((0.0, 0.0, 0.0), (0.1, 0.0, 0.0)))


def with_tray() -> Fakes:
    return fakes(Cell({"tray": TRAY}, {"tray": Pose.of((0.4, -0.3, 0.01))}))


@pytest.mark.parametrize(
    ("skill", "params", "field", "says"),
    [
        (Insert(), replace(INSERT, container="tary"), "container", "tray"),
        (Insert(), replace(INSERT, direction=(0.0, 0.0, 0.0)), "direction", "has no length"),
        (Insert(), replace(INSERT, depth=1.0), "depth", "0.3"),
        (Insert(), replace(INSERT, force_n=5.0), "force_n", "10"),
        (Insert(), replace(INSERT, search_radius=0.1), "search_radius", "0.02"),
        (Insert(), replace(INSERT, clearance=0.0), "clearance", "0.0002"),
        (Insert(), replace(INSERT, position=(float("nan"), 0.0, 0.0)), "position[0]", "nan"),
        (Press(), replace(PRESS, object="tary"), "object", "tray"),
        (Press(), replace(PRESS, force_n=80.0), "force_n", "50"),
        (Press(), replace(PRESS, band_n=9.0), "band_n", "8"),
        (Press(), replace(PRESS, duration=0.0), "duration", "0.1"),
        (Wipe(), replace(WIPE, points=((0.0, 0.0, 0.0),)), "points", "has 1 points"),
        (Wipe(), replace(WIPE, points=((0.0, 0.0, 0.0),) * 2), "points", "the same place"),
        (Wipe(), replace(WIPE, speed=1.0), "speed", "0.05"),
    ],
)
def test_a_bad_field_is_named_and_nothing_moves(
    skill: Skill[Any], params: Any, field: str, says: str
) -> None:
    f = with_tray()
    done = run_skill(skill, params, f.context).outcome
    assert done.field_name == field, done
    assert says in done.message
    assert not f.arm.followed


@pytest.mark.parametrize(
    ("skill", "params", "cannot"),
    [(Insert(), INSERT, "insert"), (Press(), PRESS, "press"), (Wipe(), WIPE, "wipe")],
)
def test_an_arm_without_an_admittance_controller_refuses_in_words(
    skill: Skill[Any], params: Any, cannot: str
) -> None:
    f = with_tray()
    done = run_skill(skill, params, f.context).outcome
    assert done.code is Code.CONTROLLER_REFUSED
    assert f"commanded by position alone cannot {cannot}" in done.message
    assert not f.arm.followed
