"""Home: bring the arm to the configuration that the robot's description calls home."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.stages.staged_skill import StagedSkill
from skill_server.state import gripper_state

WITHIN_RAD = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeParams(SkillParams):
    """Parameters of ``home``.

    Attributes:
        gripper_state: Gripper at the end: 1 open, -1 closed, 0 unchanged.
    """

    gripper_state: int = arm_motions.KEEP


class Home(StagedSkill[HomeParams]):
    """Go home on a free path, with the held objects."""

    name = "home"
    params_type = HomeParams

    def is_feasible(self, params: HomeParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (arm_motions.check_gripper_state(params.gripper_state, arm), arm_motions.check_run(params))
        )

    def stages(self, params: HomeParams, context: Context) -> Sequence[Sequence[SkillStage]]:
        """Make one free motion to the home configuration."""
        leaving = arm_motions.touching_now(context, context.world.snapshot())
        functions = arm_motions.gripper_functions(params.gripper_state)
        return [(SkillStage("home", functions=functions, leaving=leaving, q=context.arm_spec.home_q),)]

    def is_success(self, params: HomeParams, before: World, after: World, context: Context) -> Outcome:
        """Check that every joint is near home."""
        off = float(np.abs(gripper_state.arm_q(after, context.arm_spec) - context.arm_spec.home_q).max())
        text = f"the farthest joint is {off:.3f} rad from home"
        return Outcome(Code.OK if off <= WITHIN_RAD else Code.NOT_REACHED, text, angle_error_rad=off)
