"""Checks that two robots are the same arms with different tools."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handiwork_core.robot.followers import followers_of_arms
from handiwork_core.robot.robot import Joint, Robot

TOLERANCE = 1e-6
"""Largest difference of poses and axes, m and one."""


def tool_faults(before: Robot, after: Robot) -> list[str]:
    """Return why a robot is not another one with other tools.

    Args:
        before: The robot.
        after: The robot with other tools.

    Returns:
        Sentences; empty if only what the arms carry is different.
    """
    if before.name == after.name:
        return [f"both robots have the name {after.name!r}; give each its own in robot.yaml"]
    if list(before.arms) != list(after.arms):
        return [
            f"the arms are {sorted(after.arms)} instead of {sorted(before.arms)}; name them alike in robot.yaml"
        ]
    faults = []
    if before.root_link != after.root_link:
        faults.append(f"the root link is {after.root_link!r} instead of {before.root_link!r}")
    bases = [
        () if base is None else (base.joint_names, base.controller) for base in (before.base, after.base)
    ]
    if bases[0] != bases[1]:
        faults.append("the mobile bases have different joints or controllers, or one robot has none")
    for name, arm in before.arms.items():
        other = after.arms[name]
        if arm.joint_names != other.joint_names:
            faults.append(
                f"arm {name!r} has the joints {list(other.joint_names)} instead of {list(arm.joint_names)}"
            )
            continue
        if arm.controller != other.controller:
            faults.append(
                f"arm {name!r} has the controller {other.controller!r} instead of {arm.controller!r}"
            )
        faults += _joint_faults(*(_chain(robot, arm.joint_names[-1]) for robot in (before, after)))
    followers = [
        [joint for name, joint in robot.joints.items() if name in followers_of_arms(robot)]
        for robot in (before, after)
    ]
    return faults + _joint_faults(*followers)


def _joint_faults(one: Sequence[Joint], other: Sequence[Joint]) -> list[str]:
    """Compare joints that carry an arm, or that follow its joints."""
    names = [[joint.name for joint in joints] for joints in (one, other)]
    if names[0] != names[1]:
        return [f"the joints that carry or follow an arm are {names[1]} instead of {names[0]}"]
    return [
        f"joint {joint.name!r} is another one: its type, axis, links or place differ"
        for joint, twin in zip(one, other, strict=True)
        if not _is_same(joint, twin)
    ]


def _chain(robot: Robot, last: str) -> list[Joint]:
    to_link = {joint.child: joint for joint in robot.joints.values()}
    chain = [robot.joints[last]]
    while (joint := to_link.get(chain[-1].parent)) is not None:
        chain.append(joint)
    return chain[::-1]


def _is_same(joint: Joint, twin: Joint) -> bool:
    names = (joint.type, joint.parent, joint.child) == (twin.type, twin.parent, twin.child)
    places = (joint.parent_T_joint.matrix(), joint.axis), (twin.parent_T_joint.matrix(), twin.axis)
    return names and all(np.allclose(a, b, atol=TOLERANCE) for a, b in zip(*places, strict=True))
