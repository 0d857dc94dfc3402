"""Wait: keep the arm at its configuration for some time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.stages.staged_skill import StagedSkill

TICK_S = 1.0 / 30.0
"""The SimBox format counts in steps of this length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitParams(SkillParams):
    """Parameters of ``wait``.

    Attributes:
        wait_steps: Steps of 1/30 s of the robot's time.
        gripper_state: Gripper before the wait: 1 open, -1 closed, 0 unchanged.
    """

    wait_steps: int = 50
    gripper_state: int = arm_motions.KEEP


class Wait(StagedSkill[WaitParams]):
    """Let time pass; the held objects are watched meanwhile."""

    name = "wait"
    params_type = WaitParams

    def is_feasible(self, params: WaitParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                checks.number("wait_steps", params.wait_steps, 0, 1_000_000, "steps"),
                arm_motions.check_gripper_state(params.gripper_state, arm),
                arm_motions.check_run(params),
            )
        )

    def stages(self, params: WaitParams, context: Context) -> Sequence[Sequence[SkillStage]]:
        """Make a pause after the gripper's command."""
        functions = arm_motions.gripper_functions(params.gripper_state)
        return [(SkillStage("wait", functions=functions, dwell_s=params.wait_steps * TICK_S),)]

    def is_success(self, params: WaitParams, before: World, after: World, context: Context) -> Outcome:
        """Return OK, once the time is over."""
        return Outcome(Code.OK, f"waited {params.wait_steps * TICK_S:.2f} s")
