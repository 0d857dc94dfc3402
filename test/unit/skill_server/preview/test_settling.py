"""What a hand lets go falls straight down to the first surface under it."""

from __future__ import annotations

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import ObjectState, Shape, ShapeKind, World, WorldObject
from skill_server.preview.settling import fall_m, lowered

ZERO = np.zeros(3)
TABLE_M = 0.02


def box(name: str, size: tuple[float, float, float]) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.BOX, np.array(size), Pose.identity()),))


def bin_of(name: str) -> WorldObject:
    """Return a bin with a floor of 10 mm and two walls of 100 mm."""
    shapes = [(0.2, 0.2, 0.01), (0.01, 0.2, 0.1), (0.01, 0.2, 0.1)]
    places = [(0.0, 0.0, 0.005), (-0.1, 0.0, 0.05), (0.1, 0.0, 0.05)]
    made = [
        Shape(ShapeKind.BOX, np.array(size), Pose.of(at)) for size, at in zip(shapes, places, strict=True)
    ]
    return WorldObject(name, tuple(made))


def world(cube_m: float, at: tuple[float, float] = (0.0, 0.0), turn: Rotation | None = None) -> World:
    bodies = [box("cube", (0.04, 0.04, 0.04)), box("table", (1.0, 1.0, TABLE_M)), bin_of("bin")]
    poses = [
        Pose.of((*at, cube_m), turn),
        Pose.of((0.0, 0.0, TABLE_M / 2)),
        Pose.of((0.3, 0.0, TABLE_M)),
    ]
    states = {body.name: ObjectState(pose, ZERO, ZERO, 0.0) for body, pose in zip(bodies, poses, strict=True)}
    return World(0.0, 1, {body.name: body for body in bodies}, states)


@pytest.mark.parametrize(
    ("height_m", "at", "fall"),
    [
        (TABLE_M + 0.02 + 0.005, (0.0, 0.0), 0.005),  # on the table
        (TABLE_M + 0.02 - 0.002, (0.0, 0.0), 0.0),  # measured 2 mm inside of it
        (TABLE_M + 0.01 + 0.02 + 0.03, (0.3, 0.0), 0.03),  # on the floor of the bin, between its walls
        (TABLE_M + 0.10 + 0.02 + 0.03, (0.4, 0.0), 0.03),  # on a wall of the bin
        (0.5, (2.0, 0.0), 0.0),  # nothing is below
    ],
)
def test_the_first_surface_below_counts(height_m: float, at: tuple[float, float], fall: float) -> None:
    assert fall_m(world(height_m, at), "cube", frozenset()) == pytest.approx(fall, abs=1e-6)


def test_the_lowest_corner_of_a_turned_cube_meets_first() -> None:
    turn = Rotation.from_rpy(np.pi / 4, 0.0, 0.0)
    seen = world(TABLE_M + 0.05, turn=turn)
    assert fall_m(seen, "cube", frozenset()) == pytest.approx(0.05 - 0.02 * np.sqrt(2.0), abs=1e-4)


def test_what_falls_as_well_carries_nothing_and_fixtures_do_not_fall() -> None:
    assert fall_m(world(TABLE_M + 0.12), "cube", frozenset({"table"})) == 0.0
    seen = world(TABLE_M + 0.12)
    pose = lowered(seen.states["cube"].world_T_object, 0.1)
    assert pose.translation_m[2] == pytest.approx(TABLE_M + 0.02)
