"""Refuses a motion until contact whose begin would look like its contact."""

from __future__ import annotations

import numpy as np

from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from skill_server.state.gripper_state import gripper_bodies

SHARE = 0.5
"""Share of the bound that may press along the motion at its begin; the rest is left to what the contacts miss."""


def check_begin(direction: Array, force_n: float, context: Context, world: World) -> None:
    """Refuse to leave what presses the hand along the motion: this force falls on the way, as if one came from ahead.

    The sensor cannot tell both apart, since its force counts from that of the begin. Where the backend has no contacts
    nothing is known, and nothing is refused.

    Args:
        direction: Direction of the motion in ``world``, (3,), of length 1.
        force_n: Force that ends the motion, N.
        context: Context of the run, with what the hand holds.
        world: Snapshot right before the motion.

    Raises:
        StepFailed: CONTRADICTION, with the force and what presses.
    """
    tool = frozenset(gripper_bodies(context.robot, context.arm_spec)).union(context.held)
    total, others = np.zeros(3), set[str]()
    for one in world.contacts or ():
        if (one.a in tool) == (one.b in tool):
            continue
        total += one.force_on_a_n if one.a in tool else -one.force_on_a_n
        others.add(one.b if one.a in tool else one.a)
    along = float(total @ direction)
    if along < SHARE * force_n:
        return
    text = (
        f"{', '.join(sorted(others))} presses the hand along the motion with {along:.1f} N, whose end would count as a "
        f"contact; move away first, or give a force_n above {along / SHARE:.1f} N"
    )
    raise StepFailed(Outcome(Code.CONTRADICTION, text, "", "force_n"))
