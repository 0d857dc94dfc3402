"""The parameter ``ctrl_list``: joints by name or number, each with an angle to reach or to add."""

from __future__ import annotations

import math

import numpy as np

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.model.geometry import Array
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.params import checks

JointList = tuple[tuple[int | str, float, str], ...]
"""Entries [joint, value, abs or delta]; values in deg, or m for a prismatic joint."""
MODES = ("abs", "delta")


def check(entries: JointList, robot: Robot, arm: ArmSpec, q: Array) -> Outcome:
    """Check that the joints are known, the values are plausible, and the goal is within the joint limits.

    Args:
        entries: Field ``ctrl_list``.
        robot: Robot with the joint limits.
        arm: Arm whose joints are named.
        q: Present configuration, (dof,), rad or m.

    Returns:
        OK, or the faults.
    """
    found = checks.all_faults(_entry(f"ctrl_list[{i}]", entry, arm) for i, entry in enumerate(entries))
    return found if not found.ok else _limits(entries, robot, arm, q)


def _entry(key: str, entry: tuple[int | str, float, str], arm: ArmSpec) -> Outcome:
    joint, value, mode = entry
    count = len(arm.joint_names)
    if isinstance(joint, int) and not 0 <= joint < count:
        return checks.fault(
            Code.BAD_GOAL, f"{key}[0]", f"{key}[0] is {joint}; the arm's joints are 0 to {count - 1}"
        )
    if isinstance(joint, str) and joint not in arm.joint_names:
        text = f"{key}[0] is {joint!r}; {nearest(joint, arm.joint_names)}"
        return checks.fault(Code.BAD_GOAL, f"{key}[0]", text)
    return checks.all_faults(
        (checks.number(f"{key}[1]", value, -720.0, 720.0, "deg"), checks.choice(f"{key}[2]", mode, MODES))
    )


def goal(entries: JointList, robot: Robot, arm: ArmSpec, q: Array) -> Array:
    """Return the configuration that the entries lead to.

    Args:
        entries: Field ``ctrl_list``; they are applied in order.
        robot: Robot with the types of the joints.
        arm: Arm whose joints are named.
        q: Present configuration, (dof,), rad or m.

    Returns:
        Configuration, (dof,), rad or m.
    """
    found = np.array(q)
    for joint, value, mode in entries:
        index = joint if isinstance(joint, int) else arm.joint_names.index(joint)
        slides = robot.joints[arm.joint_names[index]].type is JointKind.PRISMATIC
        amount = value if slides else math.radians(value)
        found[index] = amount if mode == "abs" else found[index] + amount
    return found


def _limits(entries: JointList, robot: Robot, arm: ArmSpec, q: Array) -> Outcome:
    for name, value in zip(arm.joint_names, goal(entries, robot, arm, q), strict=True):
        joint = robot.joints[name]
        if not joint.lower <= value <= joint.upper:
            text = f"joint {name!r} would go to {value:.3f}; its limits are {joint.lower:.3f} to {joint.upper:.3f} rad"
            return checks.fault(Code.JOINT_LIMIT, "ctrl_list", text)
    return OK
