"""URDF and SRDF texts of a sphere robot, for planners that read nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as Xml

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import Joint, Robot, Spheres


def write_urdf(name: str, links: Sequence[str], joints: Sequence[Joint], spheres: Sequence[Spheres]) -> str:
    """Return a URDF whose collision shapes are the spheres.

    Args:
        name: Name of the robot.
        links: Names of its links.
        joints: Its joints.
        spheres: Spheres of its links.
    """
    root = Xml.Element("robot", name=name)
    shapes = {s.link: s for s in spheres}
    for link in links:
        element = Xml.SubElement(root, "link", name=link)
        if link in shapes:
            for centre, radius in zip(shapes[link].centers, shapes[link].radii, strict=True):
                collision = Xml.SubElement(element, "collision")
                Xml.SubElement(collision, "origin", xyz=_words(centre), rpy="0 0 0")
                Xml.SubElement(Xml.SubElement(collision, "geometry"), "sphere", radius=repr(float(radius)))
    for joint in joints:
        _add_joint(root, joint)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode")


def write_srdf(robot: Robot) -> str:
    """Return an SRDF with the arm as a group, and every pair of links that is not checked, neighbours included.

    Args:
        robot: The robot.
    """
    root, arm = Xml.Element("robot", name=robot.name), robot.arm("")
    group = Xml.SubElement(root, "group", name=arm.name)
    Xml.SubElement(group, "chain", base_link=arm.base_link, tip_link=arm.ee_link)
    for a, b in sorted(robot.ignored_pairs):
        Xml.SubElement(root, "disable_collisions", link1=a, link2=b, reason="Never")
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode")


def _add_joint(root: Xml.Element, joint: Joint) -> None:
    element = Xml.SubElement(root, "joint", name=joint.name, type=joint.type.word)
    Xml.SubElement(element, "parent", link=joint.parent)
    Xml.SubElement(element, "child", link=joint.child)
    place = joint.parent_T_joint
    Xml.SubElement(element, "origin", xyz=_words(place.translation_m), rpy=_words(roll_pitch_yaw(place)))
    if joint.type is JointKind.FIXED:
        return
    Xml.SubElement(element, "axis", xyz=_words(joint.axis))
    limits = {
        "lower": joint.lower,
        "upper": joint.upper,
        "velocity": joint.velocity,
        "effort": joint.effort,
    }
    Xml.SubElement(element, "limit", {key: repr(float(value)) for key, value in limits.items()})


def roll_pitch_yaw(pose: Pose) -> Array:
    """Return the fixed-axis angles of a pose's rotation, (3,), rad.

    Args:
        pose: The pose.
    """
    m = pose.rotation.matrix()
    level = float(np.hypot(m[0, 0], m[1, 0]))
    pitch = np.arctan2(-m[2, 0], level)
    if level < 1e-9:  # gimbal lock: roll and yaw turn about one axis
        return np.array([np.arctan2(-m[1, 2], m[1, 1]), pitch, 0.0])
    return np.array([np.arctan2(m[2, 1], m[2, 2]), pitch, np.arctan2(m[1, 0], m[0, 0])])


def _words(values: Array) -> str:
    return " ".join(repr(float(v)) for v in values)
