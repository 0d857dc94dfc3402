"""A robot whose links, joints, arms and grippers have a prefix, as ``tf_prefix`` of robots' xacros gives it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from handiwork_core.model.suction import SuctionSpec

from .robot import ArmSpec, BaseSpec, GripperSpec, Joint, Robot, SimboxNames

V = TypeVar("V")

NAMED = frozenset({"link", "joint", "material", "transmission", "actuator", "ros2_control", "sensor"})
"""Elements of a URDF that have a name of their own."""
REFERENCES = {"parent": "link", "child": "link", "mimic": "joint", "gazebo": "reference"}
"""Attributes of elements that name a link or a joint."""


def prefixed(robot: Robot, prefix: str) -> Robot:
    """Return a robot with a prefix before the names of links, joints, arms, grippers, base, tool frames and cameras.

    Names of controllers and actions that its file writes out, and its name, stay, and so does the frame of the map,
    which robots share. The frame of a navigated base gets the prefix, as a driver with one names it on ``/tf``.

    Args:
        robot: The robot.
        prefix: The prefix, such as ``left_``; empty: nothing changes.
    """
    if not prefix:
        return robot
    simbox = robot.simbox
    if simbox is not None:
        words = {link: link for link in robot.links} | dict(simbox.links)
        links = {word: f"{prefix}{link}" for word, link in words.items()}
        simbox = SimboxNames(simbox.target_class, _keys(prefix, simbox.indices), links, simbox.also)
    return replace(
        robot,
        root_link=f"{prefix}{robot.root_link}",
        links=_names(prefix, robot.links),
        joints={f"{prefix}{name}": _joint(prefix, joint) for name, joint in robot.joints.items()},
        spheres=tuple(replace(item, link=f"{prefix}{item.link}") for item in robot.spheres),
        coarse_spheres=tuple(replace(item, link=f"{prefix}{item.link}") for item in robot.coarse_spheres),
        ignored_pairs=frozenset((f"{prefix}{a}", f"{prefix}{b}") for a, b in robot.ignored_pairs),
        arms={f"{prefix}{name}": _arm(prefix, arm) for name, arm in robot.arms.items()},
        urdf=_urdf(prefix, robot.urdf),
        posture=_keys(prefix, robot.posture),
        base=_base(prefix, robot.base),
        simbox=simbox,
        tool_frames={
            f"{prefix}{name}": replace(frame, link=f"{prefix}{frame.link}")
            for name, frame in robot.tool_frames.items()
        },
        cameras=tuple(
            replace(camera, name=f"{prefix}{camera.name}", link=f"{prefix}{camera.link}")
            for camera in robot.cameras
        ),
    )


def _names(prefix: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{prefix}{name}" for name in names)


def _keys(prefix: str, values: Mapping[str, V]) -> dict[str, V]:
    return {f"{prefix}{name}": value for name, value in values.items()}


def _joint(prefix: str, joint: Joint) -> Joint:
    mimic = joint.mimic
    if mimic is not None:
        mimic = replace(mimic, joint=f"{prefix}{mimic.joint}")
    name, parent, child = _names(prefix, (joint.name, joint.parent, joint.child))
    return replace(joint, name=name, parent=parent, child=child, mimic=mimic)


def _arm(prefix: str, arm: ArmSpec) -> ArmSpec:
    return replace(
        arm,
        name=f"{prefix}{arm.name}",
        base_link=f"{prefix}{arm.base_link}",
        ee_link=f"{prefix}{arm.ee_link}",
        tcp_link=f"{prefix}{arm.tcp_link}",
        joint_names=_names(prefix, arm.joint_names),
        gripper=_gripper(prefix, arm.gripper),
        flange_link=f"{prefix}{arm.flange_link}" if arm.flange_link else "",
        filter_links=_names(prefix, arm.filter_links),
        forbid_collision_links=_names(prefix, arm.forbid_collision_links),
    )


def _gripper(prefix: str, gripper: GripperSpec | None) -> GripperSpec | None:
    if gripper is None:
        return None
    suction: SuctionSpec | None = gripper.suction
    return replace(
        gripper,
        name=f"{prefix}{gripper.name}",
        joint=f"{prefix}{gripper.joint}" if gripper.joint else "",
        finger_links=_names(prefix, gripper.finger_links),
        suction=replace(suction, link=f"{prefix}{suction.link}") if suction is not None else None,
    )


def _base(prefix: str, base: BaseSpec | None) -> BaseSpec | None:
    if base is None:
        return None
    names, navigation = _names(prefix, base.joint_names), base.navigation
    if navigation is not None:  # the map and the action are no parts of the robot
        navigation = replace(navigation, base_frame=f"{prefix}{navigation.base_frame}")
    return replace(
        base,
        name=f"{prefix}{base.name}",
        link=f"{prefix}{base.link}",
        joint_names=names,
        navigation=navigation,
    )


def _urdf(prefix: str, text: str) -> str:
    top = ET.fromstring(text)
    for element in top.iter():
        key = "name" if element.tag in NAMED else REFERENCES.get(element.tag)
        if key is not None and element.get(key):
            element.set(key, f"{prefix}{element.get(key)}")
    return ET.tostring(top, encoding="unicode")
