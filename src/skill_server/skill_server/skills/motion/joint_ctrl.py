"""Joint control: move named joints to angles, or by angles, in a straight line of joint space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import DummyForward
from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions import arm_motions
from skill_server.params import checks, joint_list
from skill_server.params.joint_list import JointList
from skill_server.stages.staged_skill import StagedSkill
from skill_server.state import gripper_state


@dataclass(frozen=True, slots=True, kw_only=True)
class JointCtrlParams(SkillParams):
    """Parameters of ``joint_ctrl``.

    Attributes:
        ctrl_list: Entries [joint, value, abs or delta]; a joint is given by its name or its number from 0, a value
            in deg (m for a prismatic joint).
        gripper_state: Gripper at the end: 1 open, -1 closed, 0 unchanged.
        success_threshold_js: Largest error of each joint, rad.
    """

    ctrl_list: JointList
    gripper_state: int = arm_motions.KEEP
    success_threshold_js: float = 0.02


class JointCtrl(StagedSkill[JointCtrlParams]):
    """Move joints without planning a path; the straight path is still validated before it is followed."""

    name = "joint_ctrl"
    params_type = JointCtrlParams

    def is_feasible(self, params: JointCtrlParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                joint_list.check(params.ctrl_list, robot, arm, gripper_state.arm_q(world, arm)),
                arm_motions.check_gripper_state(params.gripper_state, arm),
                checks.number("success_threshold_js", params.success_threshold_js, 1e-4, 1.0, "rad"),
                arm_motions.check_run(params),
            )
        )

    def stages(self, params: JointCtrlParams, context: Context) -> Sequence[Sequence[SkillStage]]:
        """Make one direct motion of the joints."""
        world = context.world.snapshot()
        goal = _goal(params, context, world)
        functions = (DummyForward(goal), *arm_motions.gripper_functions(params.gripper_state))
        return [
            (SkillStage("joints", functions=functions, leaving=arm_motions.touching_now(context, world)),)
        ]

    def is_success(self, params: JointCtrlParams, before: World, after: World, context: Context) -> Outcome:
        """Check that every joint is near its goal."""
        arm = context.arm_spec
        goal = _goal(params, context, before)
        off = float(np.abs(gripper_state.arm_q(after, arm) - goal).max())
        code = Code.OK if off <= params.success_threshold_js else Code.NOT_REACHED
        return Outcome(code, f"the farthest joint is {off:.4f} rad from its goal", angle_error_rad=off)


def _goal(params: JointCtrlParams, context: Context, world: World) -> Array:
    """Return the configuration (dof,); joints that are not named keep the position of the run's beginning."""
    arm = context.arm_spec
    q = gripper_state.arm_q(arm_motions.world_begun(context, world), arm)
    return joint_list.goal(params.ctrl_list, context.robot, arm, q)
