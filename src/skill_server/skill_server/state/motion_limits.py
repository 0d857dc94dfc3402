"""Checks whether a run was calm: the SimBox format's velocity validity, over the whole run and not only at its end."""

from __future__ import annotations

from handiwork_core.contracts.skill import Context
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World

FASTEST_RAD_S = 5.0
"""The limit of a joint whose own limit is not higher."""
FASTEST_M_S = 5.0


def process_valid(context: Context, after: World, name: str, code: Code) -> Outcome:
    """Check whether joints and object stayed slow during this try, and no forbidden link touched anything.

    Args:
        context: Context of the run, with the largest speeds so far.
        after: Newest world, which is taken into account.
        name: Name of the object.
        code: Code of a refusal.

    Returns:
        OK, or ``code`` where a joint of the arm or the object was ever faster than the SimBox format allows, or a
        link of ``forbid_collision_links`` touched something.
    """
    seen = context.fastest
    seen.see(after)
    for joint in context.arm_spec.joint_names:
        most = max(FASTEST_RAD_S, context.robot.joints[joint].velocity)
        if (speed := seen.joints.get(joint, 0.0)) >= most:
            text = (
                f"joint {joint!r} moved at {speed:.1f}; process_valid allows {most:g} rad/s, lower the speed"
            )
            return Outcome(code, text, "", "process_valid")
    if (speed := seen.objects.get(name, 0.0)) >= FASTEST_M_S:
        text = f"{name!r} moved at {speed:.1f} m/s; process_valid allows {FASTEST_M_S:g} m/s, lower the speed"
        return Outcome(code, text, "", "process_valid")
    return _untouched(context, code)


def _untouched(context: Context, code: Code) -> Outcome:
    """Return ``code`` where a forbidden link of the robot ever touched something else than the robot."""
    robot = f"{context.robot.name}/"
    forbidden = {robot + link for link in context.arm_spec.forbid_collision_links}
    for pair in sorted(context.fastest.touches):
        for link, other in (pair, pair[::-1]):
            if link in forbidden and not other.startswith(robot):
                text = (
                    f"{link!r} touched {other!r}; its arm's forbid_collision_links forbid it, clear the way"
                )
                return Outcome(code, text, "", "process_valid")
    return OK
