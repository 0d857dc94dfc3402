"""A cup that is drawn up to its rim, as makers do, can still be pressed onto an object. No ROS."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from sim_bridge.mujoco.simulation import Simulation
from support.paths import ROBOTS, ROOT

ROBOT = load_robot(ROBOTS / "ur10_suction")
SCENE = load_scene(ROOT / "config/scenes/suction.yaml")
RIM_M = 0.0237
"""Distance of the rim from the origin of the cup's link; the shape of the project's cup ends 3 mm before it."""


def end_m(shape_m: float) -> float:
    """Return where the shape of a cup that is drawn so long ends in the simulation, from the cup's origin, m."""
    cup = r'(<link name="suction_cup">.*?</link>)'

    def drawn(found: re.Match[str]) -> str:
        text = re.sub(r'xyz="0 0 [^"]+"', f'xyz="0 0 {shape_m / 2}"', found.group(1))
        return re.sub(r'length="[^"]+"', f'length="{shape_m}"', text)

    robot = replace(ROBOT, urdf=re.sub(cup, drawn, ROBOT.urdf, count=1, flags=re.DOTALL))
    model = Simulation(robot, SCENE).world.model
    body = model.body("ur10_suction/suction_cup").id
    (geom,) = range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])
    return float(model.geom_pos[geom][2] + model.geom_size[geom][1])


@pytest.mark.parametrize("shape_m", [0.0207, 0.0222, 0.0237, 0.0245])
def test_no_shape_is_in_the_lip(shape_m: float) -> None:
    assert end_m(shape_m) == pytest.approx(RIM_M - 0.003, abs=1e-6)


def test_a_shorter_cup_stays_where_it_is() -> None:
    assert end_m(0.015) == pytest.approx(0.015)


def test_what_goes_far_beyond_the_rim_is_no_lip() -> None:
    assert end_m(0.04) == pytest.approx(0.04)
