"""An arm of five joints, as small educational arms have them: pan, three joints in one vertical plane, and a roll."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from handiwork_core.model.geometry import frozen
from handiwork_core.robot.robot import ArmSpec, Joint, Robot, Spheres
from handiwork_core.robot.urdf import read_urdf

JOINTS = ("pan", "lift", "elbow", "flex", "roll")
AXES = ("0 0 1", "0 1 0", "0 1 0", "0 1 0", "0 0 1")
PLACES = ("0 0 0.06", "0.03 0 0.05", "0 0 0.12", "0 0 0.13", "0 0 0.06")
"""Where each joint is on the link before it, m; the arm stands upright at zero."""
REACH_M = 0.1
"""Distance of the EE from the roll joint, m."""


def five_joint_arm() -> Robot:
    """Return the robot ``small`` with the arm ``arm``, whose EE has z along the roll axis, and one sphere a link."""
    links = ["base", *(f"{name}_link" for name in JOINTS), "hand"]
    inertia = '<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/>'
    text = "".join(
        f'<link name="{n}"><inertial><mass value="0.1"/>{inertia}</inertial></link>' for n in links
    )
    for name, axis, place, parent in zip(JOINTS, AXES, PLACES, links, strict=False):
        text += (
            f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{name}_link"/>'
            f'<origin xyz="{place}"/><axis xyz="{axis}"/>'
            '<limit lower="-1.9" upper="1.9" velocity="3" effort="10"/></joint>'
        )
    text += (
        '<joint name="hand_joint" type="fixed"><parent link="roll_link"/><child link="hand"/>'
        f'<origin xyz="0 0 {REACH_M}"/></joint>'
    )
    urdf = f'<robot name="small">{text}</robot>'
    model = read_urdf(urdf, Path("small.urdf"))
    home = frozen([0.0, -0.5, 1.0, 0.8, 0.0])
    arm = ArmSpec("arm", "base", "hand", "hand", JOINTS, home, None)
    spheres = tuple(Spheres(f"{n}_link", frozen([[0.0, 0.0, 0.03]]), frozen([0.015])) for n in JOINTS)
    names = [item.link for item in spheres]
    pairs = frozenset((min(a, b), max(a, b)) for a in names for b in names if a != b)
    joints = {name: _limited(joint) for name, joint in model.joints.items()}
    return Robot("small", "base", model.links, joints, spheres, pairs, {"arm": arm}, urdf)


def _limited(joint: Joint) -> Joint:
    return replace(joint, acceleration=10.0, jerk=100.0)
