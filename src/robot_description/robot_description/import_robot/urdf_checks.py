"""Finds doubtful values in a valid URDF: limits, mimic joints, inertias, shapes."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import Joint
from handiwork_core.robot.urdf import UrdfModel
from handiwork_core.robot.urdf_inertia import impossible_inertias

FASTEST = {JointKind.REVOLUTE: 20.0, JointKind.PRISMATIC: 5.0}
"""Greater velocity limits are taken for a mistake, rad/s or m/s."""
ROUNDING = 1e-3


def doubts(model: UrdfModel, root: ET.Element) -> list[str]:
    """Return the doubtful values.

    Args:
        model: The URDF.
        root: Its XML.

    Returns:
        Sentences of the form ``key: what is doubtful; what to do``.
    """
    found = impossible_inertias(root)
    for joint in model.joints.values():
        if joint.type is not JointKind.FIXED:
            found += [f"joint {joint.name}: {text}" for text in _of_joint(joint, model)]
    for link in root.findall("link"):
        if link.find("visual") is not None and link.find("collision") is None:
            found.append(f"link {link.get('name')}: is seen but has no collision shape; add one")
    return found


def _of_joint(joint: Joint, model: UrdfModel) -> list[str]:
    found = []
    if joint.upper - joint.lower < ROUNDING:
        found.append(f"moves from {joint.lower} to {joint.upper} only; make it fixed or widen its limits")
    if joint.velocity > FASTEST[joint.type]:
        found.append(f"velocity limit {joint.velocity:g} is very fast; check its unit")
    if joint.effort <= 0.0:
        found.append(f"effort limit {joint.effort:g} lets nothing move; write its torque or force")
    if joint.type is JointKind.REVOLUTE and joint.upper - joint.lower > 4.0 * math.pi + ROUNDING:
        found.append(f"turns from {joint.lower:g} to {joint.upper:g} rad; plan it only if no cable stops it")
    if joint.mimic is not None:
        source = model.joints[joint.mimic.joint]
        ends = [joint.mimic.multiplier * x + joint.mimic.offset for x in (source.lower, source.upper)]
        if min(ends) < joint.lower - ROUNDING or max(ends) > joint.upper + ROUNDING:
            text = f"follows {source.name} from {min(ends):g} to {max(ends):g}, outside its own limits"
            found.append(f"{text} {joint.lower:g} to {joint.upper:g}; make the ranges agree")
    return found
