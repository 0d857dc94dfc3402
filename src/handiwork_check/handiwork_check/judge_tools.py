"""Checks of grippers and suction cups: their motions, and their reports of them. Imports no ROS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from handiwork_core.robot.robot import GripperSpec

from .findings import CheckFinding, failed, missing, passed
from .recording import GripperMotion, SuctionTrial

NEAR_SHARE = 0.06
"""Part of a gripper's stroke within which it is at the commanded position."""

WIDTH_M = 0.006
"""Largest difference of the opening from the width of the held object, m."""


def judge_gripper(spec: GripperSpec, motions: Sequence[GripperMotion]) -> Iterator[CheckFinding]:
    """Judge free motions first, then those on an object.

    Args:
        spec: The gripper.
        motions: Its motions.

    Yields:
        The findings.
    """
    free = [motion for motion in motions if not motion.object_m]
    held = [motion for motion in motions if motion.object_m]
    stroke = abs(spec.position(spec.max_width_m) - spec.position(spec.min_width_m))
    yield _free(spec, free, stroke)
    check = f"gripper stall {spec.name}"
    if not held:
        remedy = (
            "put something between the fingers and close; the result must say stalled, the reading its width"
        )
        yield missing(check, "nothing could be put between the fingers", remedy, required=False)
    for motion in held:
        yield _stall(check, spec, motion)


def _free(spec: GripperSpec, motions: Sequence[GripperMotion], stroke: float) -> CheckFinding:
    check, near = f"gripper truth {spec.name}", NEAR_SHARE * stroke
    if not motions:
        remedy = f"serve {spec.action_name}"
        return missing(check, "was not moved", remedy, required=True)
    for motion in motions:
        place = f"was commanded to {motion.target:.4f} and is at {motion.after:.4f}"
        there = abs(motion.after - motion.target) <= near
        if motion.fault:
            remedy = "let the action end: reached_goal when it is there, stalled when something stops it"
            return failed(check, motion.fault, remedy)
        if motion.reached and not there:
            remedy = "say reached_goal by the measured position, not by the command"
            return failed(check, f"says reached_goal, {place}", remedy)
        if not motion.reached and there:
            remedy = "say reached_goal when the measured position is the commanded one"
            return failed(check, f"does not say reached_goal, {place}", remedy)
        if not there:
            remedy = (
                "clear the fingers, or correct how command and reading are coupled (unit, sign, mimic joint)"
            )
            return failed(check, place + (" (stalled)" if motion.stalled else ""), remedy)
    way = max(abs(motion.after - motion.before) for motion in motions)
    if way < 0.5 * stroke:
        return failed(
            check, f"moved by {way:.4f} of {stroke:.4f}", "publish the measured position of its joint"
        )
    return passed(check, f"moved by {way:.4f}, and was where it said")


def _stall(check: str, spec: GripperSpec, motion: GripperMotion) -> CheckFinding:
    width_m = spec.width(motion.after)
    reading = f"{motion.object_m * 1e3:.0f} mm between the fingers, the reading says {width_m * 1e3:.0f} mm"
    if motion.fault:
        return failed(check, motion.fault, "end the action when the fingers stand still short of the goal")
    if motion.stalled and not motion.reached and abs(width_m - motion.object_m) <= WIDTH_M:
        return passed(check, reading)
    said = f"says reached_goal {motion.reached}, stalled {motion.stalled}"
    remedy = (
        "judge the stall by measured positions: still for 0.1 s short of the goal is stalled, not reached"
    )
    return failed(check, f"{said}: {reading}", remedy)


def judge_suction(name: str, trials: Sequence[SuctionTrial]) -> Iterator[CheckFinding]:
    """Judge a cup in free air, then on an object.

    Args:
        name: Name of the cup.
        trials: Its switchings.

    Yields:
        The findings.
    """
    for what, group in (
        ("air", [trial for trial in trials if not trial.object]),
        ("seal", [trial for trial in trials if trial.object]),
    ):
        check = f"suction {what} {name}"
        if not group:
            where = "the cup was not switched" if what == "air" else "nothing could be put before the cup"
            remedy = f"serve {name}_controller/set_suction and publish its suction_state"
            yield missing(check, where, remedy, required=what == "air")
            continue
        faults = [fault for trial in group if (fault := _suction_fault(check, trial)) is not None]
        yield faults[0] if faults else passed(check, f"{len(group)} states are true")


def _suction_fault(check: str, trial: SuctionTrial) -> CheckFinding | None:
    state, switch = trial.state, "on" if trial.on else "off"
    if state is None:
        return failed(check, f"no suction_state after {switch}", "publish suction_state all the time, 50 Hz")
    if state.on is not trial.on:
        return failed(
            check, f"was switched {switch} and says on is {state.on}", "report the commanded state in on"
        )
    if state.sealed and not (trial.on and trial.object):
        remedy = "report the measured seal: by the vacuum, or by what the gripper holds; never the command"
        return failed(
            check, f"says sealed, and is {switch} with {trial.object or 'nothing'} before it", remedy
        )
    if trial.on and trial.object and not state.sealed:
        remedy = f"let the cup hold what it touches; it says {state.why or 'no reason'}"
        return failed(check, f"has {trial.object} before it and no seal", remedy)
    if state.sealed and state.object not in ("", trial.object):
        remedy = "name the held object, or nothing"
        return failed(check, f"holds {trial.object} and says {state.object}", remedy)
    if trial.on and not state.sealed and not state.why:
        return failed(check, "has no seal and gives no reason", "say in why what is missing for a seal")
    return None
