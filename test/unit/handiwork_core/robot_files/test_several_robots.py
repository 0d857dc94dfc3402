"""Robots with a ``tf_prefix``, and several of them on one mount as one robot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot
from handiwork_core.robot.urdf import read_urdf
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

FR3, UR10, MOBILE = ROBOTS / "fr3", ROBOTS / "ur10_suction", ROBOTS / "fr3_mobile"
FR3_Q = (0.1, -0.7, 0.3, -2.1, 0.2, 1.4, 0.5)
UR10_Q = (0.4, -1.2, 1.1, -0.3, 0.6, 0.2)


def written(folder: Path, text: str) -> Path:
    (folder / "robot.yaml").write_text(text, encoding="utf-8")
    return folder


def pair_text(left: Path = FR3, right: Path = UR10, more: str = "") -> str:
    return (
        f"name: pair\nrobots:\n  left: {{like: {left}, xyz: [0.0, 0.5, 0.1]}}\n"
        f"  right: {{like: {right}, xyz: [0.2, -0.6, 0.0], rpy: [0.0, 0.1, 1.2]{more}}}\n"
    )


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return load_robot(written(tmp_path_factory.mktemp("pair"), pair_text()))


def ee(robot: Robot, arm: str, q: tuple[float, ...]) -> Pose:
    spec = robot.arm(arm)
    return link_poses(robot, dict(zip(spec.joint_names, q, strict=True)), (spec.ee_link,))[spec.ee_link]


def test_each_hand_is_where_it_would_be_alone_on_its_place(pair: Robot) -> None:
    places = {
        "left_": (FR3, Pose.of((0.0, 0.5, 0.1)), FR3_Q),
        "right_": (UR10, Pose.of((0.2, -0.6, 0.0), Rotation.from_rpy(0.0, 0.1, 1.2)), UR10_Q),
    }
    for prefix, (folder, place, q) in places.items():
        alone = load_robot(folder)
        arm = next(iter(alone.arms))
        wanted = place @ ee(alone, arm, q)
        assert ee(pair, f"{prefix}{arm}", q).almost_equal(wanted, within_m=1e-12, within_rad=1e-7)


def test_the_urdf_says_the_same_as_the_robot(pair: Robot) -> None:
    model = read_urdf(pair.urdf, Path("pair"), needs_inertia=True)
    assert model.links == pair.links
    assert list(model.joints) == list(pair.joints)
    for name, joint in model.joints.items():
        mine = pair.joints[name]
        assert (joint.parent, joint.child, joint.type) == (mine.parent, mine.child, mine.type)
        assert joint.parent_T_joint.almost_equal(mine.parent_T_joint, within_m=1e-9, within_rad=1e-9)
        assert (joint.mimic and joint.mimic.joint) == (mine.mimic and mine.mimic.joint)


def test_the_arms_are_obstacles_to_each_other_and_their_feet_are_not(pair: Robot) -> None:
    assert ("left_fr3_link0", "right_base_link") in pair.ignored_pairs
    moved = [
        joint.child for joint in pair.joints.values() if joint.name in pair.arm("right_ur10_arm").joint_names
    ]
    crossing = {(min(a, b), max(a, b)) for a in ("left_fr3_link6", "left_fr3_hand") for b in moved}
    assert not crossing & pair.ignored_pairs


def test_every_name_of_a_member_has_its_prefix(pair: Robot) -> None:
    names = [
        *pair.links[1:],
        *pair.joints,
        *pair.arms,
        *(arm.gripper.name for arm in pair.arms.values() if arm.gripper is not None),
        *(item.link for item in pair.spheres),
        *(link for arm in pair.arms.values() for link in (*arm.filter_links, *arm.forbid_collision_links)),
    ]
    assert [name for name in names if not name.startswith(("left_", "right_"))] == []
    cup = pair.arm("right_ur10_arm").gripper
    assert cup is not None
    assert cup.suction is not None
    assert cup.suction.link in pair.links
    controllers = [arm.controller for arm in pair.arms.values()]
    assert len(set(controllers)) == len(controllers)


def test_two_of_one_kind_differ_by_their_prefixes_alone(tmp_path: Path) -> None:
    robot = load_robot(written(tmp_path, pair_text(right=FR3)))
    left, right = robot.arms["left_fr3_arm"], robot.arms["right_fr3_arm"]
    np.testing.assert_array_equal(left.home_q, right.home_q)
    assert [n.removeprefix("left_") for n in left.joint_names] == [
        n.removeprefix("right_") for n in right.joint_names
    ]


def test_a_prefix_alone_makes_a_robot_for_a_driver_with_one(tmp_path: Path) -> None:
    robot = load_robot(written(tmp_path, f"name: left_fr3\nlike: {FR3}\ntf_prefix: left_\n"))
    assert robot.name == "left_fr3"
    assert robot.root_link == "left_fr3_link0"
    assert robot.arm("").controller == "left_fr3_arm_controller"
    assert robot.simbox is not None
    assert robot.simbox.links["panda_hand"] == "left_fr3_hand"
    assert read_urdf(robot.urdf, tmp_path).links == robot.links


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"name: a\nlike: {FR3}\ntf_prefix: left-\n", ["tf_prefix: is 'left-'", "such as left_"]),
        (f"name: a\nlike: {FR3}\n", ["none of base, config, arms and tf_prefix"]),
        (f"name: a\nrobots: {{left: {{like: {FR3}}}}}\n", ["fewer than two", "like and tf_prefix"]),
        (pair_text(left=Path("nowhere")), ["robots.left.like: is 'nowhere'", "write the path"]),
        (
            pair_text(right=FR3, more=", tf_prefix: left_"),
            ["robots.right: its link 'left_fr3_link0' is also in left", "tf_prefix of its own"],
        ),
        (pair_text(right=MOBILE), ["robots.right: has a mobile base", "namespace"]),
        (
            f"{pair_text()}ignored_pairs: [[left_fr3_hand, right_hand]]\n",
            ["ignored_pairs: no link 'right_hand'", "with its prefix"],
        ),
    ],
)
def test_a_fault_is_named(tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        load_robot(written(tmp_path, text))
    for word in words:
        assert word in str(caught.value)
