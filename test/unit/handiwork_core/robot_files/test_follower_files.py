"""Folders of robots whose links follow the arm's joints: limits of both files, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot
from support.paths import DATA

ROBOT = """\
name: palletiser
urdf: palletiser.urdf
spheres: spheres.yaml
limits:
  waist: {acceleration: 10, jerk: 100}
  shoulder: {acceleration: 8, jerk: 80}
  elbow: {acceleration: 8, jerk: 80}
  yaw: {acceleration: 16, jerk: 160}
  left_finger_joint: {acceleration: 1, jerk: 10}
ignored_pairs: []
arms:
  arm:
    base_link: base_link
    ee_link: hand
    tcp_link: hand
    joints: [waist, shoulder, elbow, yaw]
    home: [0.0, 0.0, 0.0, 0.0]
    gripper:
      name: gripper
      joint: left_finger_joint
      finger_links: [left_finger, right_finger]
      min_width: 0.0
      max_width: 0.07
      width_per_joint: 2.0
      max_force: 40
      home_width: 0.07
      ee_axis: 2
      closing_axis: 1
      tcp_offset: 0.05
      R_ee_graspnet: [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
"""


def written(folder: Path, old: str = "", new: str = "") -> Path:
    assert old in ROBOT
    (folder / "robot.yaml").write_text(ROBOT.replace(old, new, 1) if old else ROBOT)
    (folder / "spheres.yaml").write_text("links:\n  forearm:\n  - {center: [0.1, 0, 0], radius: 0.03}\n")
    shutil.copy(DATA / "robots" / "palletiser" / "palletiser.urdf", folder)
    return folder


def test_limits_of_followers_narrow_those_of_the_arm(tmp_path: Path) -> None:
    robot = load_robot(written(tmp_path))
    elbow, level = robot.joints["elbow"], robot.joints["level"]
    assert (elbow.lower, elbow.upper, elbow.velocity) == (-0.8, 1.2, 1.8)
    assert (elbow.acceleration, elbow.jerk) == (8.0, 80.0)
    assert (level.lower, level.upper, level.acceleration) == (-1.2, 0.9, 0.0)


def test_acceleration_and_jerk_of_a_follower_count_where_they_are_given(tmp_path: Path) -> None:
    folder = written(tmp_path, "limits:\n", "limits:\n  level: {acceleration: 5, jerk: 200}\n")
    elbow = load_robot(folder).joints["elbow"]
    assert (elbow.acceleration, elbow.jerk) == (5.0, 80.0)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "home: [0.0, 0.0, 0.0, 0.0]",
            "home: [0.0, 0.0, 1.22, 0.0]",
            ["arms.arm.home[2]: 1.22 is outside elbow's limits -0.8 to 1.2", "joints that follow it narrow"],
        ),
        (
            "joints: [waist, shoulder, elbow, yaw]",
            "joints: [waist, shoulder, level, yaw]",
            ["joints[2]: level mimics elbow; name that one"],
        ),
        (
            "joint: left_finger_joint",
            "joint: right_finger_joint",
            ["arms.arm.gripper.joint: right_finger_joint follows left_finger_joint", "moves by itself"],
        ),
        (
            "joints: [waist, shoulder, elbow, yaw]\n    home: [0.0, 0.0, 0.0, 0.0]",
            "joints: [waist, shoulder, yaw]\n    home: [0.0, 0.0, 0.0]",
            ["joint level: is in the chain of arm arm and follows elbow, which is no joint of that arm"],
        ),
    ],
)
def test_what_the_arm_cannot_move_is_refused(tmp_path: Path, old: str, new: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        load_robot(written(tmp_path, old, new))
    assert all(word in str(refused.value) for word in words), refused.value
