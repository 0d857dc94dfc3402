"""Joints that follow a joint of an arm by ``<mimic>``, such as those of a palletiser.

The parallel links of a palletiser keep its flange level so. An arm's configuration has its own joints only: a follower
moves by its leader, and the limits of a follower are limits of its leader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from handiwork_core.model.joint_kind import JointKind

from .robot import GripperSpec, Joint, Robot


@dataclass(frozen=True, slots=True)
class Driven:
    """The law by which an arm moves a joint: ``multiplier * q[index] + offset``.

    Attributes:
        index: Index of the arm's joint in its configuration.
        multiplier: Change of position for each unit of the arm's joint; 1 for the arm's joint itself.
        offset: Position where the arm's joint is at zero, rad or m.
    """

    index: int
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class ArmJoints:
    """The names that describe the chain of an arm.

    Attributes:
        name: Name of the arm.
        base_link: Its first link.
        ee_link: Its last link.
        joints: Its joints, from base to tool.
    """

    name: str
    base_link: str
    ee_link: str
    joints: tuple[str, ...]


def driven_by(joint: Joint, names: Sequence[str]) -> Driven | None:
    """Return how an arm moves a joint; None if it does not.

    Args:
        joint: The joint.
        names: Joints of the arm in the order of its configuration.
    """
    if joint.type is JointKind.FIXED:
        return None
    if joint.mimic is None:
        return Driven(names.index(joint.name)) if joint.name in names else None
    if joint.mimic.joint not in names or joint.mimic.multiplier == 0.0:
        return None
    return Driven(names.index(joint.mimic.joint), joint.mimic.multiplier, joint.mimic.offset)


def followers_of(joints: Mapping[str, Joint], leader: str) -> Iterator[Joint]:
    """Yield the joints that follow one, in tree order.

    Args:
        joints: All joints of the robot.
        leader: Name of the joint that they follow.
    """
    for joint in joints.values():
        if joint.mimic is not None and joint.mimic.joint == leader and joint.mimic.multiplier != 0.0:
            yield joint


def followers_of_arms(robot: Robot) -> frozenset[str]:
    """Return the joints that follow joints of arms, such as those of parallel links; they have no drive of their own.

    Args:
        robot: The robot.

    Returns:
        Names of the joints.
    """
    names = [name for arm in robot.arms.values() for name in arm.joint_names]
    return frozenset(each.name for name in names for each in followers_of(robot.joints, name))


def links_moved_by(joints: Mapping[str, Joint], names: Sequence[str]) -> frozenset[str]:
    """Return the links that turn or slide with any of an arm's joints, or with a joint that follows one.

    Args:
        joints: All joints of the robot, in tree order.
        names: Joints of the arm.
    """
    moved = set[str]()
    for joint in joints.values():
        if joint.parent in moved or driven_by(joint, names) is not None:
            moved.add(joint.child)
    return frozenset(moved)


def has_fixed_jaw(joints: Mapping[str, Joint], gripper: GripperSpec) -> bool:
    """Return True for a hand one of whose fingers is part of it, which the gripper's joint does not move.

    Args:
        joints: All joints of the robot, in tree order.
        gripper: Gripper of the hand; a suction cup has no fingers.
    """
    return bool(gripper.joint) and not links_moved_by(joints, (gripper.joint,)).issuperset(
        gripper.finger_links
    )


def with_follower_limits(joints: Mapping[str, Joint], names: Iterable[str]) -> dict[str, Joint]:
    """Return all joints, the limits of arms' joints narrowed by those of the joints that follow them.

    Args:
        joints: All joints of the robot, in tree order.
        names: Joints of arms.
    """
    found = dict(joints)
    for name in dict.fromkeys(names):
        for follower in followers_of(joints, name):
            found[name] = _narrowed(found[name], follower)
    return found


def _narrowed(leader: Joint, follower: Joint) -> Joint:
    assert follower.mimic is not None
    ratio = follower.mimic.multiplier
    ends = sorted((end - follower.mimic.offset) / ratio for end in (follower.lower, follower.upper))
    return replace(
        leader,
        lower=max(leader.lower, ends[0]),
        upper=min(leader.upper, ends[1]),
        velocity=_smaller(leader.velocity, follower.velocity / abs(ratio)),
        acceleration=_smaller(leader.acceleration, follower.acceleration / abs(ratio)),
        jerk=_smaller(leader.jerk, follower.jerk / abs(ratio)),
    )


def _smaller(own: float, of_follower: float) -> float:
    """Return the smaller of two limits; 0 is that of a joint whose limit is not known."""
    return min(own, of_follower) if min(own, of_follower) > 0.0 else max(own, of_follower)


def follower_faults(joints: Mapping[str, Joint], arms: Sequence[ArmJoints]) -> list[str]:
    """Return the faults of joints that follow others in or from the chain of an arm.

    Args:
        joints: All joints of the robot, in tree order.
        arms: Its arms.

    Returns:
        Sentences of the form ``joint <name>: what is wrong; what to do``.
    """
    above = {joint.child: joint for joint in joints.values()}
    owners = {name: arm.name for arm in arms for name in arm.joints}
    faults = dict[str, None]()
    for arm in arms:
        chain = _chain(above, arm.ee_link, arm.base_link)
        faults |= dict.fromkeys(_of_chain(chain, arm))
        for leader in (name for name in arm.joints if name in joints):
            ours = {*arm.joints, *(joint.name for joint in _chain(above, joints[leader].parent, ""))}
            theirs = {name: owner for name, owner in owners.items() if name not in ours}
            for follower in followers_of(joints, leader):
                text = f"joint {follower.name}: follows {leader} of arm {arm.name} and is carried by"
                carriers = _chain(above, follower.parent, "")
                if arm.ee_link in {joint.child for joint in carriers}:
                    remedy = "let it follow the joint of the gripper, or make it fixed"
                    faults[f"{text} its hand {arm.ee_link}; {remedy}"] = None
                for other in sorted({theirs[joint.name] for joint in carriers if joint.name in theirs}):
                    faults[f"{text} arm {other}; an arm moves its own links only, make it fixed"] = None
    return [*faults, *_without_range(joints, owners)]


def _of_chain(chain: Sequence[Joint], arm: ArmJoints) -> Iterator[str]:
    """Yield the faults of the joints between the base and the hand of an arm."""
    before = set[str]()
    for joint in chain:
        before.add(joint.name)
        if joint.mimic is None or joint.type is JointKind.FIXED:
            continue
        leader = joint.mimic.joint
        if leader not in arm.joints:
            text = f"is in the chain of arm {arm.name} and follows {leader}, which is no joint of that arm"
            yield f"joint {joint.name}: {text}; let it follow one of {', '.join(arm.joints)}, or make it fixed"
        elif leader not in before:
            text = f"follows {leader}, which comes after it in the chain of arm {arm.name}"
            yield f"joint {joint.name}: {text}; let {leader} follow it instead"


def _without_range(joints: Mapping[str, Joint], names: Iterable[str]) -> Iterator[str]:
    """Yield a fault for each joint to which its followers leave no range."""
    narrowed = with_follower_limits(joints, [name for name in names if name in joints])
    for name, joint in narrowed.items():
        if joint is not joints[name] and joint.lower >= joint.upper:
            several = ", ".join(each.name for each in followers_of(joints, name))
            text = f"the limits of {several}, which follow {name}, leave it no position"
            yield f"joint {name}: {text}; correct their limits, multipliers or offsets"


def _chain(above: Mapping[str, Joint], tip: str, base: str) -> list[Joint]:
    """Return the joints from a base, or the root, to a link, in order."""
    found, link = list[Joint](), tip
    while link != base and link in above:
        found.append(above[link])
        link = found[-1].parent
    return found[::-1]
