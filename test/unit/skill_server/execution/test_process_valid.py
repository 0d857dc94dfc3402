"""Speeds are checked during the whole run: an object that was too fast and is at rest at the end is no success."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.model.outcome import BodyPair, Code
from handiwork_core.model.world import Contact, World
from handiwork_core.testing.fakes import Fakes
from handiwork_core.testing.gantry import gantry
from skill_server.execution.run import run_skill
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from skill_server.state.scene_query import touch_pairs

from .test_executor import made


def once(f: Fakes, change: Callable[[World], World], from_s: float = 0.0) -> None:
    """Change the world once, during a motion of the arm that begins after ``from_s``."""
    source = f.context.world
    shown, begun, changed = source.snapshot, list[float](), list[float]()

    def snapshot() -> World:
        world = shown()
        if f.arm.followed == 0 or world.stamp_s < from_s:
            return world
        begun.append(world.stamp_s)
        if world.stamp_s == begun[0] or (changed and changed[0] != world.stamp_s):
            return world
        changed.append(world.stamp_s)
        return change(world)

    source.snapshot = snapshot  # type: ignore[method-assign]


def startle(f: Fakes, joint: float = 0.0, cube: float = 0.0, from_s: float = 0.0) -> None:
    """Report these speeds [rad/s, m/s] once."""

    def change(world: World) -> World:
        velocity = {**world.joints.velocity, f.context.arm_spec.joint_names[0]: -joint}
        state = replace(world.states["cube"], world_v_object=np.array([0.0, cube, 0.0]))
        return replace(
            world,
            states={**world.states, "cube": state},
            joints=replace(world.joints, velocity=velocity),
        )

    once(f, change, from_s)


@pytest.mark.parametrize(
    ("speeds", "words"),
    [({"joint": 5.1}, "joint"), ({"cube": 5.1}, "'cube'"), ({"joint": 4.9, "cube": 4.9}, "")],
)
def test_pick(speeds: dict[str, float], words: str) -> None:
    f = made()
    startle(f, **speeds)
    outcome = run_skill(Pick(), PickParams(object="cube"), f.context).outcome
    if not words:
        assert outcome.ok, outcome
        return
    assert (outcome.code, outcome.field_name) == (Code.NOTHING_GRASPED, "process_valid")
    assert words in outcome.message
    assert "5.1" in outcome.message


def test_what_is_not_asked_for_is_not_judged() -> None:
    f = made()
    startle(f, joint=9.0, cube=9.0)
    assert run_skill(Pick(), PickParams(object="cube", process_valid=False), f.context).outcome.ok


def test_place_judges_its_own_way_and_not_that_of_the_pick_before() -> None:
    f: Any = made()
    startle(f, joint=9.0)
    assert run_skill(Pick(), PickParams(object="cube", process_valid=False), f.context).outcome.ok
    assert max(f.context.fastest.joints.values()) == 9.0
    params = PlaceParams(container="tray")
    assert run_skill(Place(), params, f.context).outcome.ok
    f = made()
    assert run_skill(Pick(), PickParams(object="cube"), f.context).outcome.ok
    startle(f, cube=5.1, from_s=f.cell.now_s)
    outcome = run_skill(Place(), params, f.context).outcome
    assert (outcome.code, outcome.field_name) == (Code.NOT_IN_PLACE, "process_valid")


@pytest.mark.parametrize(
    ("forbidden", "other", "is_valid"),
    [("base", "table", False), ("base", "gantry/tool", True), ("tool", "table", True)],
)
def test_a_link_that_may_touch_nothing_touches_nothing_on_the_way(
    forbidden: str, other: str, is_valid: bool
) -> None:
    f = made()
    f.context.arm_spec = replace(f.context.arm_spec, forbid_collision_links=(forbidden,))
    new = Contact(other, "gantry/base", np.ones(3), np.zeros(3))
    once(f, lambda world: replace(world, contacts=(*(world.contacts or ()), new)))
    outcome = run_skill(Pick(), PickParams(object="cube"), f.context).outcome
    assert outcome.ok == is_valid, outcome
    if not is_valid:
        assert (outcome.code, outcome.field_name) == (Code.NOTHING_GRASPED, "process_valid")
        assert "'gantry/base' touched 'table'" in outcome.message


def test_a_hand_that_may_touch_nothing_may_not_touch_what_its_fingers_grasp() -> None:
    robot = gantry()
    arm = robot.arm("")
    free = touch_pairs(robot, arm, {}, frozenset({"cube"}))
    strict = replace(arm, forbid_collision_links=(arm.ee_link,))
    assert free - touch_pairs(robot, strict, {}, frozenset({"cube"})) == {
        BodyPair(f"gantry/{arm.ee_link}", "cube")
    }
