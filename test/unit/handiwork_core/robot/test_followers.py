"""Joints that follow a joint of an arm: their limits, what an arm moves, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot.followers import (
    ArmJoints,
    driven_by,
    follower_faults,
    links_moved_by,
    with_follower_limits,
)
from handiwork_core.robot.robot import Joint
from handiwork_core.robot.urdf import read_urdf
from support.paths import DATA

OWN = ("waist", "shoulder", "elbow", "yaw")
URDF = (DATA / "robots" / "palletiser" / "palletiser.urdf").read_text()
ARM = ArmJoints("arm", "base_link", "hand", OWN)


def joints_of(urdf: str = URDF) -> dict[str, Joint]:
    return read_urdf(urdf, Path("palletiser.urdf")).joints


def changed(old: str, new: str) -> dict[str, Joint]:
    assert old in URDF
    return joints_of(URDF.replace(old, new))


def test_an_arm_moves_its_joints_and_their_followers_by_a_law_each() -> None:
    joints = joints_of()
    laws = {name: driven_by(joint, OWN) for name, joint in joints.items()}
    moved = {name: (law.index, law.multiplier, law.offset) for name, law in laws.items() if law is not None}
    assert moved == {
        "waist": (0, 1.0, 0.0), "shoulder": (1, 1.0, 0.0), "shoulder_rod_joint": (1, 1.0, 0.0),
        "elbow_plate_joint": (1, -1.0, 0.0), "elbow": (2, 1.0, 0.0), "elbow_rod_joint": (2, 1.0, 0.0),
        "level": (2, -1.0, 0.0), "yaw": (3, 1.0, 0.0),
    }  # fmt: skip
    assert links_moved_by(joints, OWN) == {joint.child for joint in joints.values()}
    assert links_moved_by(joints, ("yaw",)) == {"flange", "hand", "left_finger", "right_finger"}
    assert "shoulder_rod" in links_moved_by(joints, ("shoulder",))


@pytest.mark.parametrize(
    ("law", "lower", "upper", "velocity"),
    [
        ('multiplier="-1"', -0.8, 1.2, 1.8),
        ('multiplier="-2"', -0.45, 0.6, 0.9),
        ('multiplier="-1" offset="0.5"', -0.4, 1.25, 1.8),
        ('multiplier="0.5"', -0.8, 1.25, 2.0),
        ('multiplier="-0.5"', -0.8, 1.25, 2.0),
        ('multiplier="0"', -0.8, 1.25, 2.0),
    ],
)
def test_the_limits_of_a_follower_are_limits_of_its_leader(
    law: str, lower: float, upper: float, velocity: float
) -> None:
    joints = changed('<mimic joint="elbow" multiplier="-1"/>', f'<mimic joint="elbow" {law}/>')
    elbow = with_follower_limits(joints, OWN)["elbow"]
    assert (elbow.lower, elbow.upper, elbow.velocity) == pytest.approx((lower, upper, velocity))
    assert with_follower_limits(joints, OWN)["waist"] is joints["waist"]
    assert with_follower_limits(joints, ())["elbow"] is joints["elbow"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '<mimic joint="elbow" multiplier="-1"/>',
            '<mimic joint="left_finger_joint"/>',
            [
                "joint level",
                "arm arm",
                "follows left_finger_joint, which is no joint of that arm",
                "waist, shoulder",
            ],
        ),
        (
            '<mimic joint="shoulder" multiplier="-1"/>',
            '<mimic joint="elbow" multiplier="-1"/>',
            ["joint elbow_plate_joint", "follows elbow, which comes after it", "let elbow follow it"],
        ),
        (
            '<mimic joint="left_finger_joint" multiplier="1"/>',
            '<mimic joint="yaw" multiplier="0.01"/>',
            ["joint right_finger_joint", "follows yaw of arm arm", "carried by its hand hand", "gripper"],
        ),
        (
            '<mimic joint="elbow" multiplier="-1"/>',
            '<mimic joint="elbow" multiplier="-1" offset="9"/>',
            ["joint elbow", "level", "leave it no position"],
        ),
    ],
)
def test_a_follower_that_the_arm_cannot_move_is_refused(old: str, new: str, words: list[str]) -> None:
    assert follower_faults(joints_of(), [ARM]) == []
    (fault,) = follower_faults(changed(old, new), [ARM])
    assert all(word in fault for word in words), fault
    assert "; " in fault


def test_a_link_of_one_arm_that_follows_another_arm_is_refused() -> None:
    first = ArmJoints("left", "base_link", "upper_arm", ("waist", "shoulder"))
    second = ArmJoints("right", "elbow_plate", "hand", ("elbow", "yaw"))
    urdf = URDF.replace('<mimic joint="elbow" multiplier="1"/>', '<mimic joint="shoulder" multiplier="1"/>')
    urdf = urdf.replace(
        '<parent link="elbow_plate"/><child link="elbow_rod"/>',
        '<parent link="forearm"/><child link="elbow_rod"/>',
    )
    faults = follower_faults(joints_of(urdf), [first, second])
    assert any(
        "joint elbow_rod_joint: follows shoulder of arm left and is carried by arm right" in f for f in faults
    )


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ('<mimic joint="level" multiplier="-1"/>', ["mimics 'level', which is a mimic itself"]),
        (
            '<mimic joint="elbow_rod_joint" multiplier="-1"/>',
            ["mimics 'elbow_rod_joint', which is a mimic itself"],
        ),
        ('<mimic joint="nowhere" multiplier="-1"/>', ["mimics 'nowhere', which does not exist"]),
    ],
)
def test_a_chain_or_a_cycle_of_followers_is_refused(new: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as refused:
        changed('<mimic joint="elbow" multiplier="-1"/>', new)
    assert all(word in str(refused.value) for word in words), refused.value


def test_a_kinematic_loop_is_refused() -> None:
    closing = (
        '<joint name="closing" type="revolute"><parent link="shoulder_rod"/><child link="elbow_plate"/>'
        '<axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'
    )
    with pytest.raises(ConfigError, match="elbow_plate"):
        changed("</robot>", closing)
