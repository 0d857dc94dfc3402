"""The configuration for cuRobo agrees with the robot, and has the fields that cuRobo's loader needs."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from handiwork_core.robot_files.loader import load_robot
from robot_description.formats.curobo_config import CuroboUse, curobo_config, held_link
from support.paths import ROBOTS

ROBOT = load_robot(ROBOTS / "fr3")
USE = CuroboUse(("fr3_arm",), {"fr3_finger_joint1": 0.03}, held_spheres=7)
KINEMATICS = curobo_config(ROBOT, Path("/r/fr3.urdf"), USE)["robot_cfg"]["kinematics"]


def test_it_survives_yaml() -> None:
    assert yaml.safe_load(yaml.safe_dump(KINEMATICS)) == KINEMATICS


def test_every_free_joint_is_planned_or_locked_and_no_mimic_is_named() -> None:
    cspace, arm = KINEMATICS["cspace"], ROBOT.arm("")
    assert cspace["joint_names"] == [*arm.joint_names, "fr3_finger_joint1"]
    assert KINEMATICS["lock_joints"] == {"fr3_finger_joint1": 0.03}
    assert {len(row) for row in cspace.values()} == {8}
    assert cspace["default_joint_position"] == [*arm.home_q.tolist(), 0.03]
    assert cspace["max_acceleration"][:7] == [ROBOT.joints[name].acceleration for name in arm.joint_names]
    assert cspace["max_jerk"][:7] == [ROBOT.joints[name].jerk for name in arm.joint_names]


def test_a_joint_that_is_not_locked_is_at_its_home() -> None:
    made = curobo_config(ROBOT, Path("/r/fr3.urdf"), CuroboUse(("fr3_arm",)))["robot_cfg"]["kinematics"]
    assert made["lock_joints"] == {"fr3_finger_joint1": 0.04}


def test_spheres_are_the_robots_own_and_the_held_link_has_room() -> None:
    for item in ROBOT.spheres:
        rows = KINEMATICS["collision_spheres"][item.link]
        assert [row["center"] for row in rows] == item.centers.tolist()
        assert [row["radius"] for row in rows] == item.radii.tolist()
    assert KINEMATICS["extra_collision_spheres"] == {"attached_object": 7}
    assert KINEMATICS["extra_links"]["attached_object"]["parent_link_name"] == "fr3_hand"
    links = [item.link for item in ROBOT.spheres]
    assert KINEMATICS["collision_link_names"] == [*links, "attached_object"]
    assert set(KINEMATICS["self_collision_buffer"]) == {*links, "attached_object"}


def test_pairs_that_are_checked_are_those_that_we_check() -> None:
    ignored = {
        frozenset((a, b)) for a, partners in KINEMATICS["self_collision_ignore"].items() for b in partners
    }
    links = [item.link for item in ROBOT.spheres]
    for a, b in combinations(links, 2):
        assert (frozenset((a, b)) in ignored) == ((min(a, b), max(a, b)) in ROBOT.ignored_pairs)
    assert frozenset(("fr3_hand", "attached_object")) in ignored
    assert frozenset(("fr3_leftfinger", "attached_object")) in ignored
    # No link between the last joint and the hand moves against the held object; all others do.
    assert frozenset(("fr3_link7", "attached_object")) in ignored
    assert frozenset(("fr3_link6", "attached_object")) not in ignored


def test_links_that_only_locked_joints_part_are_not_checked() -> None:
    loose = replace(ROBOT, ignored_pairs=frozenset())
    made = curobo_config(loose, Path("/r/fr3.urdf"), USE)["robot_cfg"]["kinematics"]["self_collision_ignore"]
    found = {frozenset((a, b)) for a, partners in made.items() for b in partners}
    body = ["fr3_link7", "fr3_hand", "fr3_leftfinger", "fr3_rightfinger", "attached_object"]
    assert found == {frozenset(pair) for pair in combinations(body, 2)}


def test_only_links_with_spheres_are_named_as_touching_the_grasped() -> None:
    assert KINEMATICS["grasp_contact_link_names"] == [
        "fr3_hand",
        "fr3_leftfinger",
        "fr3_rightfinger",
        "attached_object",
    ]


@pytest.mark.parametrize("joint", ["fr3_joint1", "fr3_finger_joint2", "fr3_hand_joint", "nothing"])
def test_what_cannot_be_locked_is_named(joint: str) -> None:
    with pytest.raises(ValueError, match=rf"'{joint}' cannot be locked; lock one of \['fr3_finger_joint1'\]"):
        curobo_config(ROBOT, Path("/r/fr3.urdf"), CuroboUse(("fr3_arm",), {joint: 0.0}))


def test_held_links_of_two_arms_differ() -> None:
    use = CuroboUse(("left", "right"))
    assert held_link(use, "left") != held_link(use, "right")
