"""The area where a hand points down is measured, and a scene of a new robot stays in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from handiwork_cli.commands.files.new_robot import _add_scene
from handiwork_core.model.geometry import frozen
from handiwork_core.robot.robot import Robot, Spheres
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.layout import world_boxes
from handiwork_core.scene.loader import load_scene
from handiwork_core.testing.gantry import gantry
from robot_description.import_robot.new_robot_arms import Remarks
from robot_description.import_robot.output_files.scene_text import scene_yaml
from robot_description.import_robot.working_area import WorkingArea, working_area
from support.paths import ROBOTS


def limited(**bounds: tuple[float, float]) -> Robot:
    """Return a gantry with other limits of some joints."""
    robot = gantry()
    changed = {
        name: replace(joint, lower=bounds[name][0], upper=bounds[name][1]) if name in bounds else joint
        for name, joint in robot.joints.items()
    }
    return replace(robot, joints=changed)


def measured(robot: Robot) -> WorkingArea | None:
    return working_area(robot, robot.arms["arm"])


def test_the_area_is_what_the_limits_leave() -> None:
    # At -0.55 rad 0.375 m have x = 0.3197 m and 0.4 m have 0.341 m, at 0 rad 0.55 m have 0.55 m.
    area = measured(limited(rail_x=(0.33, 0.52)))
    assert area is not None
    assert (area.near_m, area.far_m) == pytest.approx((0.4, 0.5))


def test_a_hand_that_cannot_come_down_has_no_area() -> None:
    assert measured(limited(rail_z=(0.2, 1.0))) is None  # 0.1 m above the TCP
    assert measured(limited(wrist_roll=(-1.0, 1.0), wrist_pitch=(-1.0, 1.0))) is None


def test_places_where_the_robot_touches_itself_do_not_count() -> None:
    robot = gantry()
    post = Spheres("base", frozen([(0.0, 0.0, 0.1)]), frozen([0.6]))
    area = measured(replace(robot, spheres=(*robot.spheres, post)))
    assert area is not None
    assert area.near_m > 0.6


@pytest.mark.parametrize("area", [WorkingArea(0.15, 0.35), WorkingArea(0.2, 0.5), WorkingArea(0.25, 0.8)])
def test_cube_and_bin_of_the_scene_are_in_the_area(area: WorkingArea, tmp_path: Path) -> None:
    robot = gantry()
    text = scene_yaml(robot, robot.arms["arm"], area)
    assert text is not None
    (tmp_path / "scene.yaml").write_text(text)
    scene = load_scene(tmp_path / "scene.yaml")
    for seed in range(30):
        drawn = {item.name: item for item in scene.randomized(seed).objects}
        for name in ("cube", "bin"):
            place = drawn[name].world_T_object.translation_m
            assert area.near_m <= np.hypot(place[0], place[1]) <= area.far_m, (seed, name)
        cube_y = float(np.min([box[0, 1] for box in world_boxes(drawn["cube"])]))
        bin_y = float(np.max([box[1, 1] for box in world_boxes(drawn["bin"])]))
        assert cube_y - bin_y >= 0.08, seed  # the gripper's opening
        low, high = world_boxes(drawn["table"])[0]
        cube = world_boxes(drawn["cube"])[0]
        assert (low[:2] <= cube[0, :2]).all()
        assert (cube[1, :2] <= high[:2]).all()
        assert cube[0, 2] == pytest.approx(0.0, abs=1e-9)


def test_the_full_scene_is_that_of_the_common_table_and_small_hands_get_small_cubes(tmp_path: Path) -> None:
    robot = gantry()
    arm = robot.arms["arm"]
    assert arm.gripper is not None
    full = scene_yaml(robot, arm, WorkingArea(0.25, 0.8))
    assert full is not None
    assert "position: [0.500, 0.120, 0.0225]" in full
    small = scene_yaml(
        robot, replace(arm, gripper=replace(arm.gripper, max_width_m=0.05)), WorkingArea(0.25, 0.8)
    )
    assert small is not None
    assert "size: [0.030, 0.030, 0.050]" in small  # as high as the fingers reach beyond the TCP
    narrow = replace(arm.gripper, min_width_m=0.022, max_width_m=0.038)
    between = scene_yaml(robot, replace(arm, gripper=narrow), WorkingArea(0.25, 0.8))
    assert between is not None
    assert "size: [0.027, 0.027, 0.050]" in between  # wider than the closed fingers
    assert scene_yaml(robot, arm, WorkingArea(0.4, 0.5)) is None


def test_an_arm_that_points_down_only_near_the_table_gets_a_flat_bin(tmp_path: Path) -> None:
    remarks = Remarks()
    _add_scene(tmp_path, limited(rail_z=(-1.0, 0.2)), remarks)  # the TCP is 0.1 m over the base at most
    container = {item.name: item for item in load_scene(tmp_path / "scene.yaml").objects}["bin"]
    cube = {item.name: item for item in load_scene(tmp_path / "scene.yaml").objects}["cube"]
    tall = float(np.diff(world_boxes(cube)[0], axis=0)[0, 2])
    rim = max(float(box[1, 2]) for box in world_boxes(container))
    assert 0.02 < rim <= 0.1 - 0.5 * tall - 0.02


def test_a_hand_with_a_fixed_jaw_gets_an_object_that_clears_it() -> None:
    robot = gantry()
    arm = robot.arms["arm"]
    assert arm.gripper is not None
    jaws = replace(arm, gripper=replace(arm.gripper, finger_links=("left_finger", "hand")))
    text = scene_yaml(robot, jaws, WorkingArea(0.2, 0.6))
    assert text is not None
    assert "size: [0.024, 0.024, 0.050]" in text
    assert "position: [0.437, 0.105, 0.0250]" in text


def test_a_suction_cup_gets_a_cube_under_its_rim_that_clears_the_bin_below_it(tmp_path: Path) -> None:
    robot = load_robot(ROBOTS / "ur10_suction")
    arm = robot.arm("")
    assert arm.gripper is not None
    cup = arm.gripper.suction
    assert cup is not None
    area = WorkingArea(0.25, 0.8, 0.14)
    for radius_m, edge_m in ((0.01, 0.045), (0.03, 0.07)):
        spec = replace(arm, gripper=replace(arm.gripper, suction=replace(cup, radius_m=radius_m)))
        text = scene_yaml(robot, spec, area)
        assert text is not None
        (tmp_path / "scene.yaml").write_text(text)
        drawn = {item.name: item for item in load_scene(tmp_path / "scene.yaml").objects}
        size = np.diff(world_boxes(drawn["cube"])[0], axis=0)[0]
        assert size == pytest.approx((edge_m, edge_m, edge_m), abs=1e-9)
        rim_m = max(float(box[1, 2]) for box in world_boxes(drawn["bin"]))
        assert rim_m <= area.over_m - edge_m - 0.01 + 1e-9  # the held cube hangs below the cup, over the rim


def test_new_robot_writes_a_scene_that_loads_or_says_why_there_is_none(tmp_path: Path) -> None:
    remarks = Remarks()
    _add_scene(tmp_path, limited(rail_x=(0.2, 0.8)), remarks)
    assert {"cube", "bin", "table"} <= {item.name for item in load_scene(tmp_path / "scene.yaml").objects}
    assert remarks.assumed[0].startswith("scene.yaml: the hand points straight down 0.25 to ")
    (tmp_path / "scene.yaml").unlink()
    _add_scene(tmp_path, limited(rail_z=(0.2, 1.0)), remarks)
    assert not (tmp_path / "scene.yaml").exists()
    assert remarks.missing[0].startswith("scene.yaml: the hand points straight down nowhere")
