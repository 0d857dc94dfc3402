"""The key ``robots`` of a task file: the named robot, its pose, and the changes that its robot file makes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from skill_server.params.registry import load_catalog
from skill_server.skills import BUILTIN
from skill_server.task.model import Task
from skill_server.task.reading.entries import Site
from skill_server.task.reading.read import read_task
from skill_server.task.reading.robot_files import with_robot_files
from support.paths import ROBOTS, ROOT

FILES = ROOT / "test/data/robots/simbox"
CATALOG = load_catalog(BUILTIN, ())
TURNED = Pose.of((0.0, -0.86, -0.75), Rotation.from_rpy(0.0, 0.0, np.pi / 2))
PICKS = [{"right": [{"name": "pick", "object": "cube"}, {"name": "home"}]}]


@pytest.fixture(scope="module")
def lift2() -> Robot:
    return load_robot(ROBOTS / "lift2")


def entry(**fields: Any) -> dict[str, Any]:
    return {"name": "lift2", **fields}


def text_of(robot: dict[str, Any], steps: Any = PICKS, name: str = "lift2") -> str:
    return yaml.safe_dump({"tasks": [{"name": "t", "robots": [robot], "skills": [{name: steps}]}]})


def world() -> World:
    boxes = {
        name: WorldObject(name, (Shape(ShapeKind.BOX, np.full(3, 0.04), Pose.identity()),))
        for name in ("cube", "table")
    }
    zero = np.zeros(3)
    states = {name: ObjectState(Pose.of((0.3, 0.0, 0.1)), zero, zero, 0.0) for name in boxes}
    return World(0.0, 1, boxes, states)


def read(text: str, robot: Robot, pose: Pose | None = TURNED) -> Task:
    return read_task(text, "demo.yaml", Site(CATALOG, robot, world(), pose))


def faults(text: str, robot: Robot) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        read(text, robot)
    return caught.value.faults


def test_an_entry_of_the_format_is_used(lift2: Robot) -> None:
    fields = {
        "euler": [0, 0, 90],
        "translation": [0, -0.86, -0.75],
        "ignore_substring": ["material", "table"],
    }
    task = read(text_of(entry(**fields)), lift2)
    assert task.robot is not None and task.robot.name == "lift2"
    assert task.entries[0].arm == "right_arm"
    assert task.entries[0].params.ignore_substring == ("material", "table")
    assert [note for note in task.notes if "ignore_substring" in note] == [
        "tasks[0].robots[0].ignore_substring: 'material': is in no object's name",
        "tasks[0].robots[0].ignore_substring: 'table': ['table'] are no obstacles to any skill of this task",
    ]


def test_a_skill_s_own_ignore_substring_goes_before_the_robot_s(lift2: Robot) -> None:
    steps = [{"left": [{"name": "pick", "object": "cube", "ignore_substring": ["x"]}]}]
    task = read(text_of(entry(ignore_substring=["table"]), steps), lift2)
    assert task.entries[0].params.ignore_substring == ("x",)


def test_a_robot_may_have_another_name_in_a_task_that_says_its_class(lift2: Robot) -> None:
    robot = entry(name="my_arms", target_class="Lift2")
    assert (
        read(text_of(robot, name="my_arms"), lift2).entries[0].path.startswith("tasks[0].skills[0].my_arms")
    )
    (fault,) = faults(text_of(entry(name="my_arms", target_class="FR3"), name="my_arms"), lift2)
    assert "robots[0].target_class: is 'FR3'" in fault
    found = faults(text_of(entry(name="my_arms")), lift2)
    assert "robots[0].name: is 'my_arms'; the robot here is 'lift2'" in found[0]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"euler": [0, 0, 0]}, ["robots[0].euler: is [0.0, 0.0, 0.0] deg", "yaw: 1.5708"]),
        ({"euler": [90, 0, 0]}, ["robots[0].euler", "quaternion_wxyz: [0.7071, 0.7071, 0.0, 0.0]"]),
        ({"euler": [0, 0]}, ["robots[0].euler: has 2 entries; write 3"]),
        ({"translation": [1, 0, 0]}, ["robots[0].translation: is [1.0, 0.0, 0.0] m", "[0.0, -0.86, -0.75]"]),
        ({"ignore_substring": "table"}, ["robots[0].ignore_substring: is 'table'; write a list"]),
        ({"eular": [0, 0, 0]}, ["robots[0].eular: unknown key; did you mean 'euler'?"]),
        ({"tcp_offset": 0.3}, ["robots[0].tcp_offset: is 0.3; the robot's TCP frame is 0.1250 m"]),
        ({"lift_indices": [6], "lift_home": [0.3]}, ["robots[0].lift_home: wants lift_joint at 0.3", "0.46"]),
        ({"robot_config_file": "robots/no.yaml"}, ["robots[0].robot_config_file: is 'robots/no.yaml'"]),
    ],
)
def test_what_is_wrong_in_an_entry_has_its_path_value_and_mend(
    lift2: Robot, fields: dict[str, Any], words: list[str]
) -> None:
    found = faults(text_of(entry(**fields)), lift2)
    assert len(found) == 1
    assert all(word in found[0] for word in words), found


@pytest.mark.parametrize("robots", [[], [{"name": "lift2"}, {"name": "b"}], {"name": "lift2"}, "lift2"])
def test_one_robot_runs_here(lift2: Robot, robots: Any) -> None:
    found = faults(yaml.safe_dump({"robots": robots, "skills": [{"lift2": PICKS}]}), lift2)
    assert len(found) == 1
    assert "robots: is" in found[0] and "write a list of one entry" in found[0]


def test_without_a_scene_the_place_is_noted_as_unchecked(lift2: Robot) -> None:
    assert "robots[0].euler: is not checked" in read(text_of(entry(euler=[0, 0, 0])), lift2, None).notes[0]


def test_a_robot_file_above_the_task_changes_the_robot_of_the_task_alone(
    lift2: Robot, tmp_path: Path
) -> None:
    (tmp_path / "robots").mkdir()
    changed = yaml.safe_load((FILES / "lift2.yaml").read_text(encoding="utf-8"))
    changed |= {"tcp_offset": 0.13, "left_joint_home": [0.1, 0.2, 0.3, 0, 0, 0]}
    (tmp_path / "robots/lift2.yaml").write_text(yaml.safe_dump(changed), encoding="utf-8")
    path = tmp_path / "tasks/pick/task.yaml"
    own = text_of(entry(robot_config_file="robots/lift2.yaml", gripper_max_width=0.08))
    sent = with_robot_files(own, path)
    task = read(sent, lift2)
    assert task.robot is not None
    arm = task.robot.arms["left_arm"]
    assert arm.gripper is not None and lift2.arms["left_arm"].gripper is not None
    assert (arm.gripper.tcp_offset_m, arm.gripper.max_width_m) == (0.13, 0.08)
    assert arm.home_q.tolist() == [0.1, 0.2, 0.3, 0.0, 0.0, 0.0]
    assert lift2.arms["left_arm"].gripper.tcp_offset_m == 0.125
    assert sum("is not read" in note for note in task.notes) == 2
    assert with_robot_files(sent, path) == sent


def test_faults_of_a_robot_file_name_it(lift2: Robot, tmp_path: Path) -> None:
    (tmp_path / "lift2.yaml").write_text("{ee_axis: y, tcp_offset: 0.5}", encoding="utf-8")
    found = faults(
        with_robot_files(text_of(entry(robot_config_file="lift2.yaml")), tmp_path / "t.yaml"), lift2
    )
    assert any("robot_config_file lift2.yaml.ee_axis: is 'y'" in fault for fault in found), found
    assert any("robot_config_file lift2.yaml.fl_ee_path: missing" in fault for fault in found)
    assert any("robot_config_file lift2.yaml.tcp_offset: is 0.5" in fault for fault in found)


def test_a_table_of_depths_travels_with_the_task(tmp_path: Path) -> None:
    for name in ("fr3_robotiq.yaml", "tcp2base_offset.json"):
        shutil.copy(FILES / name, tmp_path / name)
    robot = load_robot(ROBOTS / "fr3_robotiq")
    steps = [{"left": [{"name": "home"}]}]
    own = text_of({"name": "franka", "robot_config_file": "fr3_robotiq.yaml"}, steps, "franka")
    task = read(with_robot_files(own, tmp_path / "t.yaml"), robot)
    assert task.robot is not None
    gripper = task.robot.arm("").gripper
    assert gripper is not None and len(gripper.extra_depth) == 4
    (tmp_path / "tcp2base_offset.json").unlink()
    (fault,) = faults(with_robot_files(own, tmp_path / "t.yaml"), robot)
    assert "extra_depth_file: is 'tcp2base_offset.json', which is not beside the robot file" in fault


@pytest.mark.parametrize("text", ["", "[", "robots: 3", "tasks: 3", "robots: [{robot_config_file: [1]}]"])
def test_a_text_that_names_no_robot_file_stays_as_it_is(text: str, tmp_path: Path) -> None:
    assert with_robot_files(text, tmp_path / "t.yaml") == text
