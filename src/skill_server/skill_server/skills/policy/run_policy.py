"""RunPolicy: let a learned policy move the arm, behind a guard, until a condition is confirmed."""

from __future__ import annotations

from collections.abc import Sequence

from handiwork_core.contracts.commands import Command, CommandFunction
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.policies.params import RunPolicyParams, check_params

STAGE = "policy"


class RunPolicy(Skill[RunPolicyParams]):
    """Ask a policy server for chunks of actions, and execute what the guard lets pass."""

    name = "run_policy"
    params_type = RunPolicyParams

    def is_feasible(self, params: RunPolicyParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``; the server is asked later, still before anything moves."""
        return check_params(params, robot, arm, world)

    def further_arms(self, params: RunPolicyParams, robot: Robot, arm: ArmSpec) -> tuple[str, ...]:
        """Return all other arms: nobody knows where a policy goes, so that they must not move."""
        return tuple(name for name in robot.arms if name != arm.name)

    def commands(self, params: RunPolicyParams, context: Context) -> Sequence[Command]:
        """Make one command, which runs the policy from where the arm is."""
        return (Command(STAGE, _function(params)),)

    def is_success(self, params: RunPolicyParams, before: World, after: World, context: Context) -> Outcome:
        """Return the verdict of the monitor."""
        return context.finding or Outcome(Code.CONDITION_UNKNOWN, "the policy has not run")


def _function(params: RunPolicyParams) -> CommandFunction:
    from skill_server.policies.run import PolicyFunction  # It compiles the kernels of the guard.

    return PolicyFunction(params)
