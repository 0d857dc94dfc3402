"""The judge by true poses: what is in a container, beside it, above its rim, and not there."""

from __future__ import annotations

import pytest

from handiwork_cli.stack.truth_watch import outside
from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import ObjectState
from handiwork_core.scene.loader import load_scene
from support.paths import ROOT

OBJECTS = {item.name: item.body for item in load_scene(ROOT / "config/scenes/tabletop.yaml").objects}
REST = frozen((0.0, 0.0, 0.0))
TURNED = Pose.of((0.5, -0.3, 0.0), Rotation.from_axis_angle((0.0, 0.0, 1.0), 0.5))


def judged(place: tuple[float, float, float], above_m: float = 0.0) -> str:
    poses = {"bin": TURNED, "cube": TURNED @ Pose.of(place)}
    states = {name: ObjectState(pose, REST, REST, 1.0) for name, pose in poses.items()}
    return outside(OBJECTS, states, "cube", "bin", above_m)


def test_what_is_between_the_walls_is_inside() -> None:
    assert judged((0.08, -0.08, 0.03)) == ""


@pytest.mark.parametrize(
    ("place", "mm"), [((0.15, 0.0, 0.03), 30), ((0.0, 0.0, 0.12), 30), ((0.0, 0.0, -0.02), 20)]
)
def test_what_is_beside_or_above_is_named_with_its_distance(
    place: tuple[float, float, float], mm: int
) -> None:
    assert judged(place) == f"the true 'cube' is {mm} mm outside of 'bin'"


def test_a_flat_tray_may_ask_for_some_height_above() -> None:
    assert judged((0.0, 0.0, 0.12), above_m=0.05) == ""


def test_what_is_not_in_the_simulation_is_named() -> None:
    states = {"bin": ObjectState(TURNED, REST, REST, 1.0)}
    assert outside(OBJECTS, states, "cube", "bin", 0.0) == "'cube' is not in the simulation"
