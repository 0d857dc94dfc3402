"""Checks of joints: names, numbers, units and order, by their limits and by their motion. Imports no ROS."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.robot import ArmSpec, Robot

from .findings import CheckFinding, failed, missing, passed
from .recording import ArmMotion, JointSample, Recording, joined

FIRST, SPACING = 0.03, 0.01
"""Move of the first joint of an arm [rad], and the additional move of each further one: all are different."""

SLIDE = 0.3
"""Sliding joints move by this part of it [m]."""

NEAR = 0.4
"""Part of the spacing within which a motion counts as that of one joint."""

BEYOND = 0.02
"""Readings may be this far beyond a limit [rad or m]."""

DEGREES = math.degrees(1.0)


def judge_readings(robot: Robot, recording: Recording) -> Iterator[CheckFinding]:
    """Judge names, lengths, numbers and limits of joints at rest.

    Args:
        robot: The robot.
        recording: The received messages.

    Yields:
        The findings.
    """
    if not recording.joints:
        remedy = "publish sensor_msgs/JointState on joint_states"
        yield missing("joints names", "no joint_states came", remedy, required=True)
        return
    sample = joined(recording.joints)
    lost = sorted(set(needed_joints(robot)) - set(sample.names))
    if lost:
        remedy = f"publish every joint of {robot.name!r} under its name in the URDF"
        yield failed("joints names", f"joint_states lacks {lost}; it has {sorted(sample.names)}", remedy)
    else:
        yield passed("joints names", f"{len(sample.names)} joints")
    yield _numbers(sample)
    yield _limits(robot, sample)


def needed_joints(robot: Robot) -> tuple[str, ...]:
    """Return the joints of arms, of grippers and of a mobile base.

    Args:
        robot: The robot.
    """
    found = [name for arm in robot.arms.values() for name in arm.joint_names]
    tools = [arm.gripper for arm in robot.arms.values() if arm.gripper is not None]
    found += [tool.joint for tool in tools if tool.suction is None]
    return (*found, *(robot.base.joint_names if robot.base is not None else ()))


def _numbers(sample: JointSample) -> CheckFinding:
    check, count = "joints numbers", len(sample.names)
    if len(sample.position) != count or len(sample.velocity) != count:
        text = f"{count} names, {len(sample.position)} positions, {len(sample.velocity)} velocities"
        return failed(check, text, "publish a position and a velocity for every name")
    bad = [
        name
        for name, *values in zip(sample.names, sample.position, sample.velocity, strict=True)
        if not all(map(math.isfinite, values))
    ]
    if bad:
        return failed(
            check, f"not finite: {bad}", "publish numbers; nan comes from an array of a wrong length"
        )
    return passed(check, "positions and velocities are finite")


def _limits(robot: Robot, sample: JointSample) -> CheckFinding:
    out = {}
    for name in needed_joints(robot):
        joint, here = robot.joints[name], sample.of(name)
        if here is not None and not joint.lower - BEYOND <= here <= joint.upper + BEYOND:
            out[name] = here
    if not out:
        return passed("joints limits", "every reading is within its limits")
    name, here = next(iter(out.items()))
    joint = robot.joints[name]
    unit = "m" if joint.type is JointKind.PRISMATIC else "rad"
    text = f"{name} is at {here:.4g}, outside of {joint.lower:.4g} to {joint.upper:.4g} {unit}"
    by = 1e-3 if unit == "m" else 1.0 / DEGREES
    small = joint.lower - BEYOND <= here * by <= joint.upper + BEYOND
    looks = f"; it looks like {'mm' if unit == 'm' else 'degrees'}" if small else ""
    return failed("joints limits", text + looks, f"publish positions in {unit}, from the URDF's zero")


def amounts(robot: Robot, arm: ArmSpec, sample: JointSample) -> dict[str, float]:
    """Return the move of each joint, rad or m: all different, and towards the middle of its range.

    Args:
        robot: The robot.
        arm: The arm that moves.
        sample: The joints now.
    """
    found = {}
    for number, name in enumerate(arm.joint_names):
        joint, here = robot.joints[name], sample.of(name) or 0.0
        amount = FIRST + SPACING * number
        if joint.type is JointKind.PRISMATIC:
            amount *= SLIDE
        found[name] = amount if here < (joint.lower + joint.upper) / 2.0 else -amount
    return found


def judge_motion(motion: ArmMotion) -> Iterator[CheckFinding]:
    """Judge that each joint, and no other, moved as commanded, and that speeds agree with the motion.

    Args:
        motion: The motion.

    Yields:
        The findings.
    """
    check = f"joints order {motion.arm}"
    if motion.fault:
        remedy = "let the trajectory action succeed when the goal is reached, and say why when not"
        yield failed(check, motion.fault, remedy)
        return
    if len(motion.samples) < 2:
        yield failed(check, "no joint_states came during the motion", "publish joint_states all the time")
        return
    moved = moved_by(motion)
    faults = [text for name in motion.asked if (text := _fault(name, motion.asked, moved))]
    if faults:
        remedy = "match command and feedback by joint names, never by place, in rad and m"
        yield failed(check, "; ".join(faults[:4]), remedy)
        return
    worst = max(abs(moved[name] - asked) for name, asked in motion.asked.items())
    yield passed(check, f"each of {len(moved)} joints moved as commanded, to {worst * 1e3:.2g} mrad or mm")
    yield _speeds(motion, moved)


def moved_by(motion: ArmMotion) -> dict[str, float]:
    """Return the distance of each commanded joint from its start, rad or m; nan if it has no reading.

    Args:
        motion: The motion, with two samples or more.
    """
    first, last = motion.samples[0], motion.samples[-1]
    ends = {name: (first.of(name), last.of(name)) for name in motion.asked}
    return {n: math.nan if a is None or b is None else b - a for n, (a, b) in ends.items()}


def _fault(name: str, asked: Mapping[str, float], moved: Mapping[str, float]) -> str:
    """Return what is wrong with one joint's motion; empty when nothing is."""
    wanted, found = asked[name], moved[name]
    near = NEAR * SPACING * min(1.0, abs(wanted) / FIRST)
    if abs(found - wanted) <= near:
        return ""
    text = f"{name} was commanded {wanted:+.3f} and moved {found:+.3f}"
    if abs(found) <= near:
        return f"{name} did not move"
    if abs(found + wanted) <= near:
        return f"{text}, the other way"
    others = [other for other in asked if other != name and abs(found - asked[other]) <= near]
    if others:
        return f"{text}, as {others[0]} was commanded"
    if abs(found / DEGREES - wanted) <= near:
        return f"{text}, which is in degrees"
    return text


def _speeds(motion: ArmMotion, moved: Mapping[str, float]) -> CheckFinding:
    """Compare the sum of speeds over time with the way, for the joint that went farthest."""
    name = max(moved, key=lambda joint: abs(moved[joint]))
    check = f"joints speeds {motion.arm}"
    way, summed = _path(name, motion.samples)
    ratio = summed / way if way > 0.0 else math.nan
    text = f"the speeds of {name} add up to {summed:.3f} over a way of {way:.3f}"
    if 0.6 <= ratio <= 1.4:
        return passed(check, text)
    return failed(
        check, text, "publish velocities in rad/s and m/s of simulated time, in the order of the names"
    )


def _path(name: str, samples: Sequence[JointSample]) -> tuple[float, float]:
    """Return the way there and back, and the same by speeds, each the mean of two samples [rad or m]."""
    way = summed = 0.0
    for before, after in pairwise(samples):
        a, b = before.of(name), after.of(name)
        if a is not None and b is not None:
            way += abs(b - a)
            mean = (abs(before.speed_of(name)) + abs(after.speed_of(name))) / 2.0
            summed += mean * (after.stamp_s - before.stamp_s)
    return way, summed
