"""The checks that the skills of two hands have in common: the other arm, and the numbers of both."""

from __future__ import annotations

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.params import checks, simbox_checks

from .params import TwoHandParams


def other_arm(named: str, robot: Robot, arm: ArmSpec) -> str:
    """Return the name of the other arm; empty where the goal leaves it open.

    Args:
        named: The arm that the goal names; empty: none.
        robot: The robot.
        arm: The arm of the goal.
    """
    others = [name for name in robot.arms if name != arm.name]
    return named or (others[0] if len(others) == 1 else "")


def further_arm(named: str, robot: Robot, arm: ArmSpec) -> tuple[str, ...]:
    """Return the other arm as ``Skill.further_arms`` does: nothing where the goal names no other one.

    Args:
        named: The arm that the goal names; empty: none.
        robot: The robot.
        arm: The arm of the goal.
    """
    name = other_arm(named, robot, arm)
    return (name,) if name in robot.arms and name != arm.name else ()


def check_arms(
    field_name: str, named: str, robot: Robot, arm: ArmSpec, *, skill: str, is_own: str
) -> Outcome:
    """Check that there is another arm, and that both have fingers.

    Args:
        field_name: Field of the goal that names the other arm.
        named: Its value.
        robot: The robot.
        arm: The arm of the goal.
        skill: The skill in words, as the subject of a sentence: "carry", or "a handover".
        is_own: What the arm of the goal is where the goal names it as the other one.
    """
    others = [name for name in robot.arms if name != arm.name]
    if not others:
        text = f"robot {robot.name!r} has one arm; {skill} needs two"
        return checks.fault(Code.BAD_GOAL, field_name, text)
    name = other_arm(named, robot, arm)
    if name not in others:
        why = f"{field_name} is {named!r}" if named else f"{field_name} is empty"
        how = is_own if named == arm.name else nearest(named, others)
        return checks.fault(Code.BAD_GOAL, field_name, f"{why}; {how}; use one of {others}")
    for one, where in ((arm, "arm"), (robot.arms[name], field_name)):
        if one.gripper is None or one.gripper.suction is not None:
            text = f"{one.name} has no gripper with fingers, which {skill} needs"
            return checks.fault(Code.UNSUPPORTED, where, text)
    return OK


def check_numbers(params: TwoHandParams) -> tuple[Outcome, ...]:
    """Check the numbers that both skills have.

    Args:
        params: Parameters of the goal.
    """
    return (
        checks.number("approach_offset", params.approach_offset, 0.02, 0.3, "m"),
        checks.number("gripper_wait", params.gripper_wait, 0.0, 10.0, "s"),
        checks.number("search_time", params.search_time, 0.1, 600.0, "s"),
        simbox_checks.whole("max_attempts", params.max_attempts, 1, 20, "attempts"),
    )
