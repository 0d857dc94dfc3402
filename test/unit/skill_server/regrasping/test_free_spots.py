"""Spots to put an object down: inside of the support, beside all else, in reach, in every stable orientation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind, World, WorldObject
from handiwork_core.scene.bounds import hull_points, world_aabb
from skill_server.regrasping.free_spots import EDGE_M, FARTHER, NEARER, SPOTS, TURNS, Spots, free_spots
from skill_server.regrasping.planning import carriers
from skill_server.regrasping.stable_placements import stable_placements
from unit.skill_server.execution.test_executor import made

NEAR = (np.array((0.4, 0.1, 0.0)), np.array((0.4, -0.3, 0.0)))
BASE = np.zeros(3)
TIP_M = 0.008


def world() -> World:
    return made().context.world.snapshot()


def spots(at: World, support: str = "table", seed: int = 0) -> Spots:
    faces = stable_placements(at.objects["cube"])
    return free_spots(at, "cube", (support,), faces, NEAR, BASE, np.random.default_rng(seed))


def test_spots_are_inside_of_the_support_and_in_reach() -> None:
    at = world()
    found = spots(at).placements
    assert {spot.face for spot in found} == set(range(6))
    assert len(found) <= 6 * SPOTS * TURNS
    low, high = world_aabb(at.objects["table"], at.states["table"].world_T_object)
    for spot in found:
        least, most = world_aabb(at.objects["cube"], spot.pose)
        assert least[2] == pytest.approx(high[2], abs=1e-6)
        assert (least[:2] >= low[:2] + EDGE_M - 1e-9).all()
        assert (most[:2] <= high[:2] - EDGE_M + 1e-9).all()
        distance = float(np.linalg.norm(spot.pose.translation_m[:2]))
        assert NEARER * 0.41 <= distance <= FARTHER * 0.51


def test_spots_keep_out_of_other_objects_but_not_of_where_the_object_is() -> None:
    at = world()
    tray_low, tray_high = world_aabb(at.objects["tray"], at.states["tray"].world_T_object)
    for spot in (spot for seed in range(3) for spot in spots(at, seed=seed).placements):
        least, most = world_aabb(at.objects["cube"], spot.pose)
        # The tip of a corner between two lines of the lattice may be over it: the planner decides on that.
        assert (most[:2] <= tray_low[:2] + TIP_M).any() or (least[:2] >= tray_high[:2] - TIP_M).any()


def test_the_orientations_take_turns_so_that_a_bounded_search_sees_all() -> None:
    assert {spot.face for spot in spots(world()).placements[:6]} == set(range(6))


def test_equal_seeds_give_equal_spots() -> None:
    first, second = spots(world(), seed=4), spots(world(), seed=4)
    assert [one.pose.translation_m.tolist() for one in first.placements] == [
        one.pose.translation_m.tolist() for one in second.placements
    ]


def test_a_support_out_of_reach_has_no_spots() -> None:
    at = world()
    states = {**at.states, "table": replace(at.states["table"], world_T_object=Pose.of((9.0, 0.0, -0.025)))}
    found = spots(replace(at, states=states))
    assert found.placements == ()
    assert found.taken > 0


def test_an_object_stands_on_the_table_and_not_on_the_tray_beside_it() -> None:
    at = world()
    assert carriers(at, "cube") == ("table",)
    place = at.states["tray"].world_T_object.translation_m
    beside = Pose.of((place[0], place[1] + 0.15 + 0.0225 + 0.001, 0.0225))
    on = Pose.of((place[0], place[1], 0.02 + 0.0225))
    for pose, expected in ((beside, ("table",)), (on, ("tray", "table"))):
        states = {**at.states, "cube": replace(at.states["cube"], world_T_object=pose)}
        assert carriers(replace(at, states=states), "cube") == expected


@pytest.mark.parametrize(
    ("shape", "inside"),
    [
        (
            Shape(ShapeKind.BOX, np.array([0.6, 0.6, 0.05]), Pose.identity()),
            lambda at: np.abs(at).max(axis=1),
        ),
        (
            Shape(ShapeKind.CYLINDER, np.array([0.3, 0.05]), Pose.identity()),
            lambda at: np.linalg.norm(at, axis=1),
        ),
    ],
    ids=["turned", "round"],
)
def test_the_whole_foot_is_on_a_table_whose_bounds_are_larger_than_it_is(shape: Shape, inside: Any) -> None:
    at, pose = world(), Pose.of((0.5, 0.0, -0.025), Rotation.from_rpy(0.0, 0.0, np.pi / 4))
    table = WorldObject("table", (shape,), True)
    states = {**at.states, "table": replace(at.states["table"], world_T_object=pose)}
    objects = {"cube": at.objects["cube"], "table": table}
    at = replace(at, objects=objects, states=states)
    found = [spot for seed in range(3) for spot in spots(at, seed=seed).placements]
    assert len(found) > 100
    for spot in found:
        corners = spot.pose.apply(hull_points(at.objects["cube"].shapes[0]))
        assert (inside(pose.inverse().apply(corners)[:, :2]) <= 0.3).all()
