"""Arms, tools and grippers are found in known robots and in artificial ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from handiwork_core.robot.urdf import UrdfModel, read_urdf
from handiwork_core.robot_files.loader import expand, load_robot
from robot_description.import_robot.survey import find_arms
from support.paths import ROBOTS

FOLDERS = sorted(
    path.parent for path in ROBOTS.glob("*/*.urdf.xacro") if (path.parent / "robot.yaml").is_file()
)
LIMIT = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<link name="{child}"/><joint name="{name}" type="{kind}">{ends}{LIMIT}{inside}</joint>'


def chain(prefix: str, start: str, count: int) -> str:
    links = [start, *(f"{prefix}{i}" for i in range(1, count + 1))]
    return "".join(joint(f"{prefix}j{i}", links[i - 1], links[i]) for i in range(1, count + 1))


def model_of(inside: str) -> UrdfModel:
    return read_urdf(f'<robot name="r"><link name="root"/>{inside}</robot>', Path("r.urdf"))


def pair(hand: str, mimic: bool = True) -> str:
    follow = f'<mimic joint="{hand}_f1"/>' if mimic else ""
    first = joint(f"{hand}_f1", hand, f"{hand}_left", "prismatic")
    return first + joint(f"{hand}_f2", hand, f"{hand}_right", "prismatic", follow)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_the_arms_of_our_robots_are_found(folder: Path) -> None:
    robot = load_robot(folder)
    (urdf,) = folder.glob("*.urdf.xacro")
    found = {arm.joints: arm for arm in find_arms(read_urdf(expand(urdf), urdf))}
    for arm in robot.arms.values():
        assert arm.joint_names in found, sorted(found)
        gripper = found[arm.joint_names].gripper
        if arm.gripper is not None and arm.gripper.joint:
            assert gripper is not None
            assert gripper.joint == arm.gripper.joint
            assert set(arm.gripper.finger_links) <= set(gripper.links)


def test_two_arms_on_a_lift_share_none_of_its_joints() -> None:
    lift = joint("lift", "root", "torso", "prismatic")
    head = joint("pan", "torso", "neck") + joint("tilt", "neck", "head")
    text = lift + head + chain("a", "torso", 6) + pair("a6") + chain("b", "torso", 6) + pair("b6")
    left, right = find_arms(model_of(text))
    assert left.joints == tuple(f"aj{i}" for i in range(1, 7))
    assert right.joints == tuple(f"bj{i}" for i in range(1, 7))
    assert (left.base_link, left.ee_link) == ("torso", "a6")
    assert right.gripper is not None
    assert right.gripper.links == ("b6_left", "b6_right")


def test_fingers_without_a_mimic_are_no_gripper() -> None:
    arms = find_arms(model_of(chain("a", "root", 5) + pair("a5", mimic=False)))
    assert all(arm.gripper is None for arm in arms)


def test_a_linkage_that_one_joint_drives_is_a_gripper() -> None:
    follow = '<mimic joint="drive" multiplier="-1"/>'
    hand = joint("drive", "a5", "knuckle") + joint("k2", "knuckle", "tip", inside=follow)
    hand += joint("k3", "a5", "other", inside=follow) + joint("k4", "other", "other_tip", inside=follow)
    (arm,) = find_arms(model_of(chain("a", "root", 5) + hand))
    assert arm.gripper is not None
    assert (arm.gripper.joint, len(arm.gripper.links), arm.ee_link) == ("drive", 4, "a5")


def test_the_tool_is_the_last_fixed_link_and_the_tcp_the_one_named_so() -> None:
    flange = joint("f1", "a6", "flange", "fixed") + joint("f2", "flange", "tool0", "fixed")
    (arm,) = find_arms(model_of(chain("a", "root", 6) + flange + joint("f3", "flange", "my_tcp", "fixed")))
    assert (arm.ee_link, arm.tcp_link) == ("tool0", "my_tcp")


def test_short_chains_are_no_arms() -> None:
    assert find_arms(model_of(chain("a", "root", 3))) == ()


def test_a_part_that_only_spins_beside_the_fingers_is_no_second_gripper() -> None:
    spinning = (
        '<link name="horn"/><joint name="motor" type="revolute"><parent link="a5"/><child link="horn"/>'
    )
    spinning += '<limit lower="-6.2831854" upper="6.2831854" velocity="1" effort="1"/></joint>'
    (arm,) = find_arms(model_of(chain("a", "root", 5) + spinning + pair("a5")))
    assert arm.gripper is not None
    assert (arm.gripper.joint, arm.gripper.links) == ("a5_f1", ("a5_left", "a5_right"))
    # A wrist that turns as far stays a joint of the arm.
    wrist = chain("a", "root", 5) + spinning.replace("horn", "hand")
    assert find_arms(model_of(wrist + pair("hand")))[0].joints[-1] == "motor"
