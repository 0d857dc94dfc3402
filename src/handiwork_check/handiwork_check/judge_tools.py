"""Grippers and suction cups: whether they do what they say, and say what they do. Knows no ROS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handiwork_core.robot.robot import GripperSpec

from .findings import Finding, failed, missing, passed
from .recording import GripperMotion, SuctionTrial

NEAR_SHARE = 0.06
"""Part of a gripper's stroke within which it is where it was told."""

WIDTH_M = 0.006
"""How far the opening may be from the width of what it holds [m]."""


def judge_gripper(spec: GripperSpec, motions: Sequence[GripperMotion]) -> Iterator[Finding]:
    """Free motions first, then what was held."""
    free = [motion for motion in motions if not motion.object_m]
    held = [motion for motion in motions if motion.object_m]
    stroke = abs(spec.position(spec.max_width_m) - spec.position(spec.min_width_m))
    yield _free(spec, free, stroke)
    check = f"gripper stall {spec.name}"
    if not held:
        mend = (
            "put something between the fingers and close; the result must say stalled, the reading its width"
        )
        yield missing(check, "nothing could be put between the fingers", mend, required=False)
    for motion in held:
        yield _stall(check, spec, motion)


def _free(spec: GripperSpec, motions: Sequence[GripperMotion], stroke: float) -> Finding:
    check, near = f"gripper truth {spec.name}", NEAR_SHARE * stroke
    if not motions:
        mend = f"serve {spec.name}_controller/gripper_cmd"
        return missing(check, "was not moved", mend, required=True)
    for motion in motions:
        told = f"was told {motion.target:.4f} and is at {motion.after:.4f}"
        there = abs(motion.after - motion.target) <= near
        if motion.fault:
            mend = "let the action end: reached_goal when it is there, stalled when something stops it"
            return failed(check, motion.fault, mend)
        if motion.reached and not there:
            mend = "say reached_goal by the measured position, not by the command"
            return failed(check, f"says reached_goal, {told}", mend)
        if not motion.reached and there:
            mend = "say reached_goal when the measured position is the commanded one"
            return failed(check, f"does not say reached_goal, {told}", mend)
        if not there:
            mend = "clear the fingers, or mend how command and reading are coupled (unit, sign, mimic joint)"
            return failed(check, told + (" (stalled)" if motion.stalled else ""), mend)
    way = max(abs(motion.after - motion.before) for motion in motions)
    if way < 0.5 * stroke:
        return failed(
            check, f"moved by {way:.4f} of {stroke:.4f}", "publish the measured position of its joint"
        )
    return passed(check, f"moved by {way:.4f}, and was where it said")


def _stall(check: str, spec: GripperSpec, motion: GripperMotion) -> Finding:
    width_m = spec.width(motion.after)
    told = f"{motion.object_m * 1e3:.0f} mm between the fingers, the reading says {width_m * 1e3:.0f} mm"
    if motion.fault:
        return failed(check, motion.fault, "end the action when the fingers stand still short of the goal")
    if motion.stalled and not motion.reached and abs(width_m - motion.object_m) <= WIDTH_M:
        return passed(check, told)
    said = f"says reached_goal {motion.reached}, stalled {motion.stalled}"
    mend = "judge the stall by measured positions: still for 0.1 s short of the goal is stalled, not reached"
    return failed(check, f"{said}: {told}", mend)


def judge_suction(name: str, trials: Sequence[SuctionTrial]) -> Iterator[Finding]:
    """In free air, then on an object."""
    for what, group in (
        ("air", [trial for trial in trials if not trial.object]),
        ("seal", [trial for trial in trials if trial.object]),
    ):
        check = f"suction {what} {name}"
        if not group:
            where = "the cup was not switched" if what == "air" else "nothing could be put before the cup"
            mend = f"serve {name}_controller/set_suction and publish its suction_state"
            yield missing(check, where, mend, required=what == "air")
            continue
        faults = [fault for trial in group if (fault := _suction_fault(check, trial)) is not None]
        yield faults[0] if faults else passed(check, f"{len(group)} states were as they are")


def _suction_fault(check: str, trial: SuctionTrial) -> Finding | None:
    state, told = trial.state, "on" if trial.on else "off"
    if state is None:
        return failed(check, f"no suction_state after {told}", "publish suction_state all the time, 50 Hz")
    if state.on is not trial.on:
        return failed(
            check, f"was switched {told} and says on is {state.on}", "tell the commanded state in on"
        )
    if state.sealed and not (trial.on and trial.object):
        mend = "tell the measured seal: by the vacuum, or by what the gripper holds; never the command"
        return failed(check, f"says sealed, and is {told} with {trial.object or 'nothing'} before it", mend)
    if trial.on and trial.object and not state.sealed:
        mend = f"let the cup hold what it touches; it says {state.why or 'nothing of why'}"
        return failed(check, f"has {trial.object} before it and no seal", mend)
    if state.sealed and state.object not in ("", trial.object):
        mend = "name what is held, or nothing"
        return failed(check, f"holds {trial.object} and says {state.object}", mend)
    if trial.on and not state.sealed and not state.why:
        return failed(check, "has no seal and says not why", "say in why what is missing for a seal")
    return None
