"""Joint control: move named joints to angles, or by angles, in a straight line of joint space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.commands import Command, DummyForward
from handiwork_core.config import nearest
from handiwork_core.geometry import Array
from handiwork_core.outcome import OK, Code, Outcome
from handiwork_core.robot import ArmSpec, JointType, Robot
from handiwork_core.skill import Context, Skill
from handiwork_core.skill_params import SkillParams
from handiwork_core.world import World
from skill_server import arm_moves, checks, grip

MODES = ("abs", "delta")


@dataclass(frozen=True, slots=True, kw_only=True)
class JointCtrlParams(SkillParams):
    """``ctrl_list``: entries [joint, value, abs or delta]; a joint goes by its name or its number from 0.

    Values are degrees (metres for a joint that slides); ``success_threshold_js`` [rad] is for each joint.
    """

    ctrl_list: tuple[tuple[int | str, float, str], ...]
    gripper_state: int = arm_moves.KEEP
    success_threshold_js: float = 0.02


class JointCtrl(Skill[JointCtrlParams]):
    """Move joints without planning a way; the straight way is still judged before it is followed."""

    name = "joint_ctrl"
    params_type = JointCtrlParams

    def is_feasible(self, params: JointCtrlParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        found = checks.first_fault(
            (
                *(_entry(f"ctrl_list[{i}]", entry, arm) for i, entry in enumerate(params.ctrl_list)),
                arm_moves.check_gripper_state(params.gripper_state, arm),
                checks.number("success_threshold_js", params.success_threshold_js, 1e-4, 1.0, "rad"),
                arm_moves.check_run(params),
            )
        )
        return found if not found.ok else _limits(params, robot, arm, grip.arm_q(world, arm))

    def commands(self, params: JointCtrlParams, context: Context) -> Sequence[Command]:
        """One direct motion of the joints."""
        world = context.world.snapshot()
        goal = _goal(params, context.robot, context.arm_spec, grip.arm_q(world, context.arm_spec))
        same = arm_moves.neutral(params, context, world)
        touching = arm_moves.touching_now(context, world)
        return (
            Command("joints", same),
            Command("joints", DummyForward(goal), touching=touching),
            Command("joints", arm_moves.gripper_function(params.gripper_state, same)),
        )

    def is_success(self, params: JointCtrlParams, before: World, after: World, context: Context) -> Outcome:
        """Every joint is near its goal."""
        arm = context.arm_spec
        goal = _goal(params, context.robot, arm, grip.arm_q(before, arm))
        off = float(np.abs(grip.arm_q(after, arm) - goal).max())
        code = Code.OK if off <= params.success_threshold_js else Code.NOT_REACHED
        return Outcome(code, f"the farthest joint is {off:.4f} rad from its goal", angle_error_rad=off)


def _entry(key: str, entry: tuple[int | str, float, str], arm: ArmSpec) -> Outcome:
    joint, value, mode = entry
    count = len(arm.joint_names)
    if isinstance(joint, int) and not 0 <= joint < count:
        return checks.fault(
            Code.BAD_GOAL, f"{key}[0]", f"{key}[0] is {joint}; the arm's joints are 0 to {count - 1}"
        )
    if isinstance(joint, str) and joint not in arm.joint_names:
        text = f"{key}[0] is {joint!r}; {nearest(joint, arm.joint_names)}"
        return checks.fault(Code.BAD_GOAL, f"{key}[0]", text)
    return checks.first_fault(
        (checks.number(f"{key}[1]", value, -720.0, 720.0, "deg"), checks.choice(f"{key}[2]", mode, MODES))
    )


def _goal(params: JointCtrlParams, robot: Robot, arm: ArmSpec, q: Array) -> Array:
    goal = np.array(q)
    for joint, value, mode in params.ctrl_list:
        index = joint if isinstance(joint, int) else arm.joint_names.index(joint)
        slides = robot.joints[arm.joint_names[index]].type is JointType.PRISMATIC
        amount = value if slides else math.radians(value)
        goal[index] = amount if mode == "abs" else goal[index] + amount
    return goal


def _limits(params: JointCtrlParams, robot: Robot, arm: ArmSpec, q: Array) -> Outcome:
    goal = _goal(params, robot, arm, q)
    for name, value in zip(arm.joint_names, goal, strict=True):
        joint = robot.joints[name]
        if not joint.lower <= value <= joint.upper:
            text = f"joint {name!r} would go to {value:.3f}; its limits are {joint.lower:.3f} to {joint.upper:.3f} rad"
            return checks.fault(Code.JOINT_LIMIT, "ctrl_list", text)
    return OK
