"""Checks of time: one clock that goes forward, and stamps of that clock. Imports no ROS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from .findings import CheckFinding, failed, missing, passed
from .recording import Received, Recording

WALL_S = 5.0
"""Stamps this near to the wall clock are those of a real robot, s."""

AGREE_S = 0.25
"""Largest difference of stamps from the clock at real time, s."""


def is_simulated(recording: Recording) -> bool:
    """Check whether the backend has a time of its own: a clock, or stamps that are not those of the wall clock.

    Args:
        recording: The received messages.
    """
    if recording.publishers.get("/clock"):
        return True
    return bool(recording.joints) and abs(recording.joints[-1].stamp_s - recording.system_s) > WALL_S


def judge_clock(recording: Recording) -> Iterator[CheckFinding]:
    """Judge that the clock and the stamps go forward, that the clock runs, and that both agree.

    Args:
        recording: The received messages.

    Yields:
        The findings.
    """
    clock = recording.received.get("/clock", ())
    joints = tuple(Received(sample.received_s, sample.stamp_s) for sample in recording.joints)
    if len(clock) >= 2:
        yield _forward("clock forward", "/clock", clock)
        yield _going_on(clock)
    elif not joints:
        remedy = "let the world run (press play), or look at the backend's log"
        yield missing("clock forward", "nothing that has a stamp came", remedy, required=True)
    elif not is_simulated(recording):
        text = "no /clock; stamps are of the wall clock, as a real robot's"
        yield missing("clock forward", text, "publish /clock if this is a simulator", required=False)
    else:
        text = "no /clock, and the stamps are not of the wall clock"
        yield missing("clock forward", text, "publish rosgraph_msgs/Clock on /clock", required=True)
    if len(joints) >= 2:
        yield _forward("clock stamps", "joint_states", joints)
    if len(clock) >= 2 and joints:
        yield _agreement(clock, joints)


def _forward(check: str, what: str, received: Sequence[Received]) -> CheckFinding:
    for before, after in pairwise(received):
        if after.stamp_s < before.stamp_s:
            text = f"{what} went back from {before.stamp_s:.3f} s to {after.stamp_s:.3f} s"
            remedy = "let one node publish it, and let time go on at a reset (Isaac Sim: resetOnStop false)"
            return failed(check, text, remedy)
    if received[-1].stamp_s == 0.0:
        return failed(check, f"the stamps of {what} are zero", "stamp messages with the simulated time")
    return passed(check, f"{len(received)} stamps of {what} never went back")


def _going_on(clock: Sequence[Received]) -> CheckFinding:
    passed_s, waited_s = clock[-1].stamp_s - clock[0].stamp_s, clock[-1].received_s - clock[0].received_s
    factor = passed_s / waited_s if waited_s > 0.0 else 0.0
    if passed_s <= 0.0:
        remedy = "let the world run: press play, or call sim/set_paused with paused false"
        return failed("clock going on", f"stood still for {waited_s:.1f} s", remedy)
    return passed("clock going on", f"{factor:.2f} times real time")


def _agreement(clock: Sequence[Received], joints: Sequence[Received]) -> CheckFinding:
    # Both advance between two messages, so those nearest in time of arrival are compared.
    middle = joints[len(joints) // 2]
    near = min(clock, key=lambda tick: abs(tick.received_s - middle.received_s))
    factor = (clock[-1].stamp_s - clock[0].stamp_s) / max(clock[-1].received_s - clock[0].received_s, 1e-9)
    gap_s = abs(near.stamp_s - middle.stamp_s)
    text = f"joint_states is {gap_s * 1e3:.0f} ms from /clock"
    if gap_s > AGREE_S * max(1.0, factor):
        return failed("clock agreement", text, "stamp joint_states with the simulated time of /clock")
    return passed("clock agreement", text)
