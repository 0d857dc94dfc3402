"""Events in the scenes that ship: what is there has not left, and what falls to the floor has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conditionals_node.events.sight import Aim, Eyes
from conditionals_node.events.task_event import EventCode, EventRules
from conditionals_node.events.tracker import EventTracker
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import ObjectState, World
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from support.paths import ROBOTS, ROOT

SCENES = sorted((ROOT / "config" / "scenes").glob("*.yaml"))
ROBOT = load_robot(ROBOTS / "fr3")
STILL = frozen((0.0, 0.0, 0.0))


def world_of(path: Path) -> World:
    scene = load_scene(path)
    states = {item.name: ObjectState(item.world_T_object, STILL, STILL, 0.0) for item in scene.objects}
    return World(0.0, objects={item.name: item for item in scene.world_objects()}, states=states, contacts=())


def moved(world: World, name: str, x: float, y: float, z: float, t: float) -> World:
    state = replace(world.states[name], world_T_object=Pose.of((x, y, z)))
    return replace(world, stamp_s=t, states={**world.states, name: state})


def left(tracker: EventTracker, world: World, goals: frozenset[str] = frozenset()) -> list[str]:
    sight = Eyes(ROBOT, ("table",)).look(world)
    none = np.zeros((len(sight.names), 1), dtype=bool)
    events = tracker.update(sight, Aim(none, sight.rows(goals)[:, None], none)).of(0)
    return [event.subject for event in events if event.code is EventCode.OBJECT_OUT_OF_SCENE]


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_what_stands_in_a_scene_has_not_left_it(path: Path) -> None:
    assert left(EventTracker(EventRules()), world_of(path)) == []


def test_an_object_that_falls_to_the_floor_has_left() -> None:
    world, tracker = world_of(ROOT / "config" / "scenes" / "tabletop.yaml"), EventTracker(EventRules())
    assert left(tracker, world) == []
    assert left(tracker, moved(world, "cube", 0.6, 0.9, -0.7, 3.0)) == ["cube"]


def test_a_bin_on_the_pallet_that_is_the_goal_has_not_left_but_one_on_the_floor_has() -> None:
    world, tracker = world_of(ROOT / "config" / "scenes" / "bin_stacking.yaml"), EventTracker(EventRules())
    goals = frozenset({"pallet"})
    assert left(tracker, world, goals) == []
    assert left(tracker, moved(world, "bin_0", 0.6, -0.4, -0.52, 3.0), goals) == []
    assert left(tracker, moved(world, "bin_0", 0.6, -2.0, -0.68, 6.0), goals) == ["bin_0"]


def test_the_box_of_a_task_can_be_kept_as_it_is_written() -> None:
    world = world_of(ROOT / "config" / "scenes" / "bin_stacking.yaml")
    assert "bin_1" in left(EventTracker(EventRules(grow_scene=False)), world)
