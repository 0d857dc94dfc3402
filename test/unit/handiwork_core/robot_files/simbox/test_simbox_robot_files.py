"""Robot files of the SimBox format: their changes, the checked agreements, and every fault at once."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from handiwork_core.config.dataclass_loader import ConfigError, read_yaml
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.robot_files.simbox.configured import configured
from handiwork_core.robot_files.simbox.robot_fields import FIELDS
from support.paths import DATA, ROBOTS

FILES = DATA / "robots/simbox"
NAMES = ("fr3", "fr3_robotiq", "genie1", "lift2", "split_aloha")
LOADED: dict[str, Robot] = {}


def robot(name: str) -> Robot:
    if name not in LOADED:
        LOADED[name] = load_robot(ROBOTS / name)
    return LOADED[name]


def file(name: str, **changes: Any) -> dict[str, Any]:
    """Return the published file of a robot with changes; None removes a field."""
    return {k: v for k, v in {**read_yaml(FILES / f"{name}.yaml"), **changes}.items() if v is not None}


def faults(name: str, **changes: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        configured(robot(name), file(name, **changes), "my.yaml", folder=FILES)
    assert str(caught.value).startswith("my.yaml: ")
    return caught.value.faults


@pytest.mark.parametrize("name", NAMES)
def test_the_published_file_of_each_robot_fits_its_description(name: str) -> None:
    own, made = robot(name), configured(robot(name), file(name, extra_depth_file=None), "x")
    assert [note.partition(":")[0] for note in made.notes] == ["path", "robot_file"]
    assert made.robot.posture == own.posture
    for arm in own.arms.values():
        new = made.robot.arms[arm.name]
        assert arm.gripper is not None
        assert new.gripper is not None
        assert new.home_q.tolist() == arm.home_q.tolist()
        assert not new.home_std.any()
        assert new.gripper.home_width_m == pytest.approx(arm.gripper.home_width_m, abs=1e-4)
        assert new.gripper.keypoints is not None
        if name != "fr3":  # its published offset is 0.9 mm longer than the hand, and it forbids the palm
            assert new.gripper.tcp_offset_m == arm.gripper.tcp_offset_m
            assert new.forbid_collision_links == tuple(x for x in arm.forbid_collision_links)
    assert made.robot.physx is not None
    assert made.robot.physx.velocity_iterations == 4


def test_each_field_that_may_differ_takes_effect() -> None:
    changes = {
        "tcp_offset": 0.13,
        "gripper_max_width": 0.08,
        "gripper_min_width": 0.004,
        "left_joint_home": [0.1, 0.2, 0.3, 0.0, 0.0, 0.0],
        "left_joint_home_std": [0.01] * 6,
        "left_gripper_home": [0.03],
        "lift_home": [0.3],
        "fl_forbid_collision_paths": ["fl/link1", "fl_link2"],
        "fl_gripper_keypoints": {
            "tool_head": [0.14, 0, 0, 1],
            "tool_tail": [0.08, 0, 0],
            "tool_side": [0.14, -0.04, 0, 1],
        },
        "solver_position_iteration_count": 64,
        "stabilization_threshold": 0.001,
    }
    made = configured(robot("lift2"), file("lift2", **changes), "x").robot
    arm, other = made.arms["left_arm"], made.arms["right_arm"]
    assert arm.gripper is not None and other.gripper is not None
    assert arm.gripper.keypoints is not None
    assert (arm.gripper.tcp_offset_m, other.gripper.tcp_offset_m) == (0.13, 0.13)
    assert (other.gripper.min_width_m, other.gripper.max_width_m) == (0.004, 0.08)
    assert arm.home_q.tolist() == changes["left_joint_home"]
    assert arm.home_std.tolist() == [0.01] * 6
    assert not other.home_std.any()
    assert arm.gripper.home_width_m == pytest.approx(0.06)
    assert other.gripper.home_width_m == pytest.approx(0.08)
    assert made.posture["lift_joint"] == 0.3
    assert arm.forbid_collision_links == ("fl_link1", "fl_link2")
    assert arm.gripper.keypoints.head.tolist() == [0.14, 0.0, 0.0]
    assert made.physx is not None
    assert (made.physx.position_iterations, made.physx.stabilization_threshold) == (64, 0.001)


def test_a_table_of_depths_is_read_without_its_first_entry_and_bounds_the_widths() -> None:
    made = configured(robot("fr3_robotiq"), file("fr3_robotiq"), "x", folder=FILES).robot
    gripper = made.arm("").gripper
    assert gripper is not None
    assert gripper.extra_depth == ((0.0, 0.0135), (0.03, 0.0095), (0.06, 0.005), (0.085, 0.0))
    assert gripper.max_width_m == pytest.approx(0.08492)


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("fr3", {"tcp_offset": None}, ["tcp_offset: missing", "add it"]),
        ("fr3", {"tcp_offset": "long"}, ["tcp_offset: is 'long'", "write a number"]),
        ("fr3", {"tcp_offset": 0.2}, ["tcp_offset: is 0.2", "is 0.1034 m from the EE frame"]),
        ("fr3", {"tcp_ofset": 0.1}, ["tcp_ofset", "'tcp_offset'"]),
        ("fr3", {"arm_dof": 7}, ["arm_dof: is no field of a robot file", "take it out"]),
        ("fr3", {"euler": [0, 0, 0]}, ["euler: belongs to the entry of robots in a task file"]),
        ("fr3", {"target_class": "Lift2"}, ["target_class: is 'Lift2'", "'FR3'"]),
        ("fr3", {"right_joint_home": [0] * 7}, ["right_joint_home", "no right arm", "take it out"]),
        ("fr3", {"fl_ee_path": "fr3/panda_link7"}, ["fl_ee_path", "'fr3_link7'", "'fr3_hand'"]),
        ("fr3", {"fl_base_path": "fr3/panda_lnk0"}, ["fl_base_path: is 'fr3/panda_lnk0'", "no link"]),
        ("fr3", {"left_joint_indices": [0, 1, 2, 3, 4, 5]}, ["left_joint_indices", "write 7"]),
        ("fr3", {"left_joint_indices": [0, 1, 2, 3, 4, 6, 5]}, ["[5]: is 6, fr3_joint7", "has index 5"]),
        ("fr3", {"left_gripper_indices": [6]}, ["left_gripper_indices[0]: is 6", "left_joint_indices too"]),
        ("fr3", {"left_gripper_home": [0.05]}, ["left_gripper_home: is [0.05]", "0.0 to 0.04"]),
        ("fr3", {"left_gripper_home": [0.04, 0.04]}, ["one position for each of left_gripper_indices"]),
        ("fr3", {"gripper_max_width": 0.12}, ["gripper_max_width: is 0.12", "0.0800 m"]),
        ("fr3", {"gripper_min_width": 0.09}, ["gripper_min_width: is 0.09", "0 <= min < max"]),
        ("fr3", {"ee_axis": "x"}, ["ee_axis: is 'x'", "'z'"]),
        ("fr3", {"ee_axis": "w"}, ["ee_axis: is 'w'", "x, y or z"]),
        ("fr3", {"R_ee_graspnet": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}, ["R_ee_graspnet", "[0.0, 0.0, -1.0]"]),
        ("fr3", {"R_ee_graspnet": [[1, 0, 0], [0, 1, 0], [0, 0, 2]]}, ["R_ee_graspnet: is no rotation"]),
        ("fr3", {"left_joint_home_std": [-1] + [0] * 6}, ["left_joint_home_std", "0 or more"]),
        ("fr3", {"left_joint_home": [9] + [0, 0, -1, 0, 1, 0]}, ["left_joint_home[0]: is 9.0", "limits"]),
        ("fr3", {"fl_filter_paths": ["fr3/panda_hand"]}, ["fl_filter_paths", "'fr3_leftfinger'"]),
        ("fr3", {"fl_forbid_collision_paths": ["a/b"]}, ["fl_forbid_collision_paths[0]: is 'a/b'"]),
        ("fr3", {"body_home": [0.1]}, ["body_home", "body_indices None", "write both"]),
        ("fr3", {"solver_position_iteration_count": 0}, ["solver_position_iteration_count: is 0"]),
        (
            "fr3",
            {"solver_velocity_iteration_count": 4.5},
            ["solver_velocity_iteration_count", "whole number"],
        ),
        ("lift2", {"lift_indices": [7]}, ["lift_indices[0]: is 7", "no joint of 'lift2'"]),
        ("lift2", {"lift_home": [4.6]}, ["lift_home[0]: is 4.6", "lift_joint's limits"]),
        ("genie1", {"head_indices": [2, 1]}, ["head_indices[1]: is 1", "body_indices too"]),
        ("fr3_robotiq", {"left_gripper_home": [0.0, 0.3]}, ["left_gripper_home", "write 0 for it"]),
        ("fr3_robotiq", {"extra_depth_file": "no.json"}, ["extra_depth_file", "no.json cannot be read"]),
        ("fr3_robotiq", {"extra_depth_file": "fr3.yaml"}, ["extra_depth_file", "no JSON"]),
    ],
)
def test_a_fault_is_reported_with_field_value_and_remedy(
    name: str, changes: dict[str, Any], words: list[str]
) -> None:
    found = faults(name, **changes)
    assert any(all(word in fault for word in words) for fault in found), found
    assert len(found) <= 2, found


@pytest.mark.parametrize("shift", [0.02, -0.02])
def test_keypoints_follow_the_axes_of_the_hand(shift: float) -> None:
    points = file("split_aloha")["fl_gripper_keypoints"]
    for point, axis in (("tool_head", 0), ("tool_side", 1)):
        moved = list(points[point])
        moved[axis] += shift
        found = faults("split_aloha", fl_gripper_keypoints={**points, point: moved})
        assert any(f"fl_gripper_keypoints.{point}: is" in fault for fault in found), found


def test_faults_of_all_kinds_are_reported_at_once() -> None:
    found = faults("fr3", tcp_offset="x", ee_axis="y", gripper_max_width=1.0, fl_ee_path=None, colour="red")
    for name in ("tcp_offset", "ee_axis", "gripper_max_width", "fl_ee_path", "colour"):
        assert sum(fault.startswith(f"{name}: ") for fault in found) == 1, found
    assert len(found) == 5


def test_every_documented_field_is_in_one_of_the_published_files() -> None:
    used = {key for name in NAMES for key in file(name)}
    assert used == set(FIELDS)


def test_a_robot_that_is_like_another_takes_its_robot_file(tmp_path: Path) -> None:
    shutil.copytree(ROBOTS / "lift2", tmp_path / "lift2")
    shutil.copytree(ROBOTS / "parts", tmp_path / "parts")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "robot.yaml").write_text("{name: mine, like: ../lift2, config: lift2.yaml}", encoding="utf-8")
    changed = file("lift2", tcp_offset=0.12, right_joint_home_std=[0.02] * 6)
    (mine / "lift2.yaml").write_text(yaml.safe_dump(changed), encoding="utf-8")
    made, own = load_robot(mine), robot("lift2")
    assert made.name == "mine"
    assert made.arms["right_arm"].home_std.tolist() == [0.02] * 6
    assert made.arms["left_arm"].gripper is not None
    assert made.arms["left_arm"].gripper.tcp_offset_m == 0.12
    assert (made.links, made.ignored_pairs) == (own.links, own.ignored_pairs)
    (mine / "lift2.yaml").write_text(yaml.safe_dump({**changed, "ee_axis": "y"}), encoding="utf-8")
    with pytest.raises(ConfigError, match="ee_axis: is 'y'") as caught:
        load_robot(mine)
    assert caught.value.source == str(mine / "lift2.yaml")
    (mine / "robot.yaml").write_text("{name: mine, like: ../nobody, config: lift2.yaml}", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"like: is '\.\./nobody'"):
        load_robot(mine)


def test_a_robot_that_names_no_format_is_checked_by_its_joints_alone() -> None:
    own = dataclasses.replace(robot("lift2"), simbox=None)
    fields = file("lift2", lift_indices=None, lift_home=None, target_class="Mine")
    made = configured(own, fields, "x").robot
    assert np.array_equal(made.arms["left_arm"].home_q, own.arms["left_arm"].home_q)
    with pytest.raises(ConfigError, match=r"add simbox\.indices to its robot\.yaml"):
        configured(own, file("lift2"), "x")


def test_another_name_of_the_class_is_taken() -> None:
    fields = file("fr3_robotiq", target_class="FrankaRobotiq", extra_depth_file=None)
    assert configured(robot("fr3_robotiq"), fields, "x").robot.name == "fr3_robotiq"
