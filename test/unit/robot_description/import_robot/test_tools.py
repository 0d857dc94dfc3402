"""Suction cups of new robots, and room for objects in hands with short fingers."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_core.robot.urdf import read_urdf
from handiwork_core.robot_files.loader import expand, load_robot
from robot_description.import_robot.cup_facts import CupFacts, cup_yaml, with_cup, with_rim
from robot_description.import_robot.gripper_facts import GripperFacts
from robot_description.import_robot.hand_spheres import ROOM_M, room, with_room
from robot_description.import_robot.new_robot import describe
from robot_description.import_robot.new_robot_arms import Wanted
from robot_description.import_robot.survey import FoundArm, find_arms
from robot_description.solids.primitives import Solid
from robot_description.spheres.sphere_cover import all_solids, fitted
from support.paths import DATA, ROBOTS

UR10 = ROBOTS / "ur10_suction" / "ur10_suction.urdf.xacro"
BENCH = DATA / "robots" / "bench_arm" / "bench_arm.urdf"


def test_a_cup_gets_the_frames_and_the_length_that_the_robot_of_the_project_has() -> None:
    model, _ = (read_urdf(expand(UR10), UR10), None)
    (found,) = find_arms(model)
    arms, cup = with_cup({"ur10_arm": found}, model, "suction_cup")
    written = load_robot(ROBOTS / "ur10_suction").arm("")
    assert written.gripper is not None and written.gripper.suction is not None
    assert cup.tcp_m == pytest.approx(written.gripper.tcp_offset_m, abs=1e-9)
    assert (arms["ur10_arm"].tcp_link, arms["ur10_arm"].joints) == ("suction_tip", tuple(written.joint_names))
    lines = "\n".join(cup_yaml(cup))
    assert "max_pull: 100.5" in lines and "link: suction_cup" in lines


def cup_of_the_ur10() -> tuple[CupFacts, tuple[Solid, ...]]:
    """Return the cup and the shapes of its link, which end 3 mm before the rim."""
    text = expand(UR10)
    model = read_urdf(text, UR10)
    (found,) = find_arms(model)
    _, cup = with_cup({"ur10_arm": found}, model, "suction_cup")
    return cup, all_solids(ET.fromstring(text), UR10)["suction_cup"]


def test_the_rim_is_as_wide_as_the_end_of_the_shape() -> None:
    cup, shapes = cup_of_the_ur10()
    seen, source = with_rim(cup, shapes, None)
    assert seen.radius_m == pytest.approx(0.02, abs=1e-4)
    assert source == "the end of suction_cup's shape"
    given, _ = with_rim(cup, shapes, 0.011)
    assert given.radius_m == 0.011
    assert "max_pull: 30.4" in "\n".join(cup_yaml(given))


def test_a_rim_without_a_shape_has_the_usual_width() -> None:
    cup, shapes = cup_of_the_ur10()
    far = replace(cup, link_T_tip=Pose.of((0.0, 0.0, 0.05)))
    for one, given in ((cup, ()), (far, shapes)):
        seen, source = with_rim(one, given, None)
        assert (seen.radius_m, source) == (0.02, "no shape of suction_cup ends there")


@pytest.mark.parametrize("radius_m", [0.0, -0.01, float("nan"), float("inf")])
def test_a_radius_that_is_none_is_refused(radius_m: float) -> None:
    cup, shapes = cup_of_the_ur10()
    with pytest.raises(ConfigError, match=r"--cup-radius: .* mm; give the radius of the rim"):
        with_rim(cup, shapes, radius_m)


@pytest.mark.parametrize(
    ("link", "words"), [("nozzle", "there is no link 'nozzle'"), ("upper_arm_link", "no arm carries")]
)
def test_a_link_that_is_no_cup_is_refused(link: str, words: str) -> None:
    model = read_urdf(expand(UR10), UR10)
    (found,) = find_arms(model)
    with pytest.raises(ConfigError, match=words):
        with_cup({"ur10_arm": found}, model, link)


def test_fingers_beside_a_cup_are_refused() -> None:
    model = read_urdf(BENCH.read_text(encoding="utf-8"), BENCH)
    (found,) = find_arms(model)
    with pytest.raises(ConfigError, match="has fingers too"):
        with_cup({"bench_arm": found}, model, "palm_tcp")


def coarse() -> tuple[Robot, FoundArm]:
    """Return a robot whose spheres stick out by 10 mm, and its arm."""
    text = BENCH.read_text(encoding="utf-8")
    model = read_urdf(text, BENCH)
    (arm,) = find_arms(model)
    solids = all_solids(ET.fromstring(text), BENCH)
    hand = {link: solids[link] for link in ("palm", "left_finger", "right_finger")}
    spheres = fitted(hand, 0.01)
    return Robot("bench", model.links[0], model.links, model.joints, spheres, frozenset(), {}, text), arm


@pytest.mark.parametrize(("more_m", "is_tight"), [(-0.001, True), (0.001, False)])
def test_a_hand_whose_palm_leaves_no_room_gets_tighter_spheres(more_m: float, is_tight: bool) -> None:
    robot, arm = coarse()
    one = GripperFacts(
        np.zeros((2, 2)), np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]), ("left_finger",)
    )
    palm = 1.0 - room(robot, arm, one)
    facts = replace(one, tcp_m=np.array([0.0, 0.0, palm + ROOM_M + more_m]))
    solids = all_solids(ET.fromstring(BENCH.read_text(encoding="utf-8")), BENCH)
    made = with_room(robot, {"a": arm}, {"a": facts}, solids, lambda _: None)
    gained = room(made, arm, facts) - room(robot, arm, facts)
    assert gained > 0.005 if is_tight else gained == 0.0


@pytest.mark.parametrize(
    ("tip", "words"),
    [("link_tcp", ()), ("nozzle", ("arms.r_arm.tcp_link: the URDF has no TCP frame",))],
)
def test_a_hand_without_joints_is_named_and_a_last_link_that_is_the_tcp_is_one(
    tip: str, words: tuple[str, ...]
) -> None:
    text = BENCH.read_text(encoding="utf-8")
    root = ET.fromstring(text)
    fingers = {"left_finger", "right_finger", "palm_tcp"}
    for element in list(root):
        child = element.find("child")
        if element.get("name") in fingers or (child is not None and child.get("link") in fingers):
            root.remove(element)
    ET.SubElement(root, "link", name=tip)
    fixed = ET.SubElement(root, "joint", name="tool", type="fixed")
    ET.SubElement(fixed, "parent", link="palm")
    ET.SubElement(fixed, "child", link=tip)
    made = describe(
        BENCH, Wanted("r", "r.urdf", samples=50, is_coarse=True), text=ET.tostring(root, "unicode")
    )
    no_hand, *others = made.remarks.missing
    assert no_hand.startswith(
        f"arms.r_arm.gripper: no joint moves a finger at {tip!r}; name the link of a suction"
    )
    assert len(others) == len(words)
    assert all(other.startswith(word) for other, word in zip(others, words, strict=True))
