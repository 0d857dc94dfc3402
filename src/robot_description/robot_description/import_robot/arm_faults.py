"""Finds what no arm can have: joints without a range, links as long as if in millimetres, two grippers on one hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from handiwork_core.robot.followers import ArmJoints, follower_faults
from handiwork_core.robot.robot import Joint
from handiwork_core.robot.urdf import UrdfModel

from .survey import FoundArm

LEAST_RANGE = 1e-3
"""A joint with a smaller range does not move, rad or m."""
LONGEST_M = 8.0
"""Two joints of an arm that are farther apart are a mistake of the unit, m."""


def arm_faults(model: UrdfModel, arms: Sequence[FoundArm], *, may_share: bool) -> list[str]:
    """Return the faults of arms and of their grippers.

    Args:
        model: The URDF.
        arms: The arms that were found in it.
        may_share: True if arms may have joints in common, as where a file of another tool names their tips.

    Returns:
        Sentences of the form ``key: what is wrong; what to do``.
    """
    driven = {name for arm in arms for name in (*arm.joints, *([arm.gripper.joint] if arm.gripper else []))}
    joints = [joint for name, joint in model.joints.items() if name in driven]
    faults = [text for joint in joints for text in _of_joint(joint)]
    chains = [ArmJoints(_named(arm), arm.base_link, arm.ee_link, arm.joints) for arm in arms]
    faults += follower_faults(model.joints, chains)
    return faults if may_share else faults + list(_shared(model, arms))


def _named(arm: FoundArm) -> str:
    """Return words for an arm that has no name yet."""
    return f"from {arm.base_link} to {arm.ee_link}"


def _of_joint(joint: Joint) -> Iterator[str]:
    if joint.upper - joint.lower < LEAST_RANGE:
        text = f"moves from {joint.lower:g} to {joint.upper:g} only"
        yield f"joint {joint.name}: {text}; write its lower and upper limit, or make it fixed"
    length = float(np.linalg.norm(joint.parent_T_joint.translation_m))
    if length > LONGEST_M:
        yield f"joint {joint.name}: its origin is {length:.0f} m from its parent's, as if in millimetres; write metres"


def _shared(model: UrdfModel, arms: Sequence[FoundArm]) -> Iterator[str]:
    """Yield a fault for each link from which several arms go on that have joints in common before it."""
    by_last: dict[str, list[FoundArm]] = {}
    for arm in arms:
        others = {name for other in arms if other is not arm for name in other.joints}
        if common := [name for name in arm.joints if name in others]:
            by_last.setdefault(common[-1], []).append(arm)
    for last, several in by_last.items():
        own = [name for arm in several for name in arm.joints[arm.joints.index(last) + 1 :]]
        free = list(dict.fromkeys(own))
        text = f"carries {len(free)} joints that move by themselves, {', '.join(free)}"
        remedy = (
            "let one joint drive the fingers, the others by <mimic>, and make those of a second gripper fixed"
        )
        yield f"link {model.joints[last].child}: {text}; {remedy}"
