"""Writes the folder of a robot of spheres, so that nodes can load it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import yaml

from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import Robot

UNIT = {"ixx": "0.01", "iyy": "0.01", "izz": "0.01", "ixy": "0", "ixz": "0", "iyz": "0"}


def write_robot(robot: Robot, folder: Path) -> None:
    """Write ``robot.yaml``, the URDF and the spheres; masses, which planning does not use, are 1 kg.

    Args:
        robot: A robot with one arm.
        folder: The folder; it must exist.
    """
    root = ElementTree.fromstring(robot.urdf)
    for link in root.findall("link"):
        inertial = ElementTree.SubElement(link, "inertial")
        ElementTree.SubElement(inertial, "mass", value="1.0")
        ElementTree.SubElement(inertial, "inertia", UNIT)
    (folder / "robot.urdf").write_text(ElementTree.tostring(root, encoding="unicode"), encoding="utf-8")
    spheres = {
        one.link: [
            {"center": center, "radius": radius}
            for center, radius in zip(one.centers.tolist(), one.radii.tolist(), strict=True)
        ]
        for one in robot.spheres
    }
    (folder / "spheres.yaml").write_text(yaml.safe_dump({"links": spheres}), encoding="utf-8")
    moving = [joint for joint in robot.joints.values() if joint.type is not JointKind.FIXED]
    (name, arm), *_ = robot.arms.items()
    content = {
        "name": robot.name,
        "urdf": "robot.urdf",
        "spheres": "spheres.yaml",
        "limits": {j.name: {"acceleration": j.acceleration, "jerk": j.jerk} for j in moving},
        "ignored_pairs": [list(pair) for pair in sorted(robot.ignored_pairs)],
        "arms": {
            name: {
                "base_link": arm.base_link,
                "ee_link": arm.ee_link,
                "tcp_link": arm.tcp_link,
                "joints": list(arm.joint_names),
                "home": arm.home_q.tolist(),
            }
        },
    }
    (folder / "robot.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
