"""What the page of a bundle shows at one time: the snapshot, the call that ran, and the motion that was planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape

from handiwork_core.bundles.bundle import Bundle, Call, Seen
from handiwork_core.model.trajectory import Trajectory

from .scene_state import motion_positions, positions_along
from .texts import FRAME

WORDS = {
    "plan": "plans a motion",
    "check_candidates": "checks candidates",
    "validate": "checks a motion",
    "validate_rest": "checks what is left of a motion",
    "follow": "follows a motion",
    "follow_base": "drives",
    "navigate": "drives by nav2",
    "stop": "stops",
    "move": "moves the gripper",
}


def instants_of(bundle: Bundle) -> list[Seen]:
    """Return all snapshots of a bundle in the order of time, also those at the begin of each call.

    Args:
        bundle: The bundle.

    Returns:
        Snapshots; their times are s after the begin of the goal.
    """
    found = [*bundle.seen, *(Seen(call.begun_s, call.world) for call in bundle.calls)]
    return [replace(one, at_s=one.at_s - bundle.began_s) for one in sorted(found, key=lambda one: one.at_s)]


def active_call(bundle: Bundle, at_s: float) -> Call | None:
    """Return the call that ran at a time, the innermost of several; None if none did.

    Args:
        bundle: The bundle.
        at_s: Time after the begin of the goal, s.
    """
    now_s = at_s + bundle.began_s
    running = [call for call in bundle.calls if call.begun_s <= now_s <= call.ended_s]
    return max(running, key=lambda call: call.begun_s, default=None)


def ghost_positions(call: Call | None, plan: Sequence[Trajectory], at_s: float) -> Mapping[str, float]:
    """Return the joint positions of the ghost: the end of the motion that is followed, or a place on a new plan.

    Args:
        call: The call that ran.
        plan: The motions of a new plan, which begins with the goal; empty for none.
        at_s: Time after the begin of the goal, s.

    Returns:
        Positions by joint, rad or m; none where nothing is planned.
    """
    lasting_s = sum(one.duration_s for one in plan)
    if lasting_s > 0.0:
        return positions_along(plan, min(1.0, max(0.0, at_s / lasting_s)))
    if call is not None and isinstance(call.request, Trajectory) and len(call.request.t_s) > 1:
        return motion_positions(call.request, 1.0)
    return {}


def moment_html(bundle: Bundle, call: Call | None, at_s: float) -> str:
    """Return what happened at a time.

    Args:
        bundle: The bundle.
        call: The call that ran.
        at_s: Time after the begin of the goal, s.
    """
    if at_s < 0.0:
        text = "before the goal"
    elif call is None:
        text = "after the goal" if at_s > bundle.ended_s - bundle.began_s else "no call"
    else:
        answer = call.answer
        code = (
            getattr(getattr(answer, "code", None), "name", "no answer") if answer is not None else "no answer"
        )
        text = f"{call.arm or bundle.head.arm or 'the arm'} {WORDS.get(call.port, call.port)}: {code}"
    return FRAME.format(f"{at_s:+.2f} s: {escape(text)}")
