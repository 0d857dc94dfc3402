"""One run of a skill: chooses, executes the command list, judges, and tries again as its policy of recovery allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from handiwork_core.contracts.commands import Command, UpdateSpecific
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from skill_server.motions.arm_motions import hand_at, no_obstacles, touching_now
from skill_server.params.protocol import RunParams
from skill_server.params.recovery import (
    LOST,
    UNREACHED,
    Recovery,
    policy_of,
    way_back,
    way_back_holding,
)
from skill_server.state import gripper_state

from .command_executor import CommandExecutor
from .command_judge import CommandJudge, judge_of
from .execution_state import ExecutionState, initial_state
from .measurement import fresh_world
from .motion_sending import PlanRefused, WayBlocked
from .stage_log import StageLog

MAKES_ROOM = 3
"""Times that a run goes home to let another arm pass."""
P = TypeVar("P", bound=RunParams)


class SkillAttempt:
    """One run, from the choice to the judgement, with what its policy of recovery allows.

    Attributes:
        world_version: Newest version of the world in which a finished motion was planned.
    """

    def __init__(self, skill: Skill[P], params: P, context: Context, log: StageLog) -> None:
        self._skill, self._params, self._context, self._log = skill, params, context, log
        self._policy, self._attempts = Recovery.GIVE_UP, 1
        self._state: ExecutionState  # of the list that was executed last; made by run
        self.world_version = 0
        self._blocked: Outcome | None = None
        self._made_room = 0

    def run(self) -> Outcome:
        """Run the skill, and return its judgement of the world, or its verdict on the goal.

        Raises:
            StepFailed: A step failed and nothing was left to try.
            Stopped: The token was set.
        """
        context = self._context
        context.token.check()
        before = context.world.snapshot()
        verdict = self._skill.is_feasible(self._params, context.robot, context.arm_spec, before)
        if not verdict.ok:
            return verdict
        self._policy, self._attempts = policy_of(self._params)
        self._state = ExecutionState(before)
        gripper_state.forget_lost(context, before)
        carried, tried = next(iter(context.held), ""), list[str]()
        while True:
            self._log.enter("select")
            try:
                before = fresh_world(context)
                judge = judge_of(self._skill, self._params)
                executor = self._execute(self._chosen(tried), before, self._params.targets, judge)
                outcome = self._judge(before, executor)
                if outcome.ok or not self._tries_again(outcome, carried, tried):
                    return outcome
            except StepFailed as failure:
                if self._makes_room(failure.outcome):
                    continue
                if isinstance(failure, PlanRefused):
                    if not self._may_retry(failure, tried):
                        raise
                elif not self._tries_again(failure.outcome, carried, tried):
                    raise

    def _chosen(self, tried: Sequence[str]) -> Sequence[Command]:
        """The command list, or the failure of the choice together with what was tried before."""
        try:
            commands = self._skill.commands(self._params, self._context)
        except StepFailed as failure:
            if not tried:
                raise
            text = f"{failure.outcome.message}; tried before: {' | '.join(tried)}"
            raise StepFailed(replace(self._blocked or failure.outcome, message=text)) from failure
        self._context.token.check()
        self._log.planned()
        self._log.expect(tuple(dict.fromkeys(command.stage for command in commands)))
        return commands

    def _execute(
        self,
        commands: Sequence[Command],
        before: World,
        targets: tuple[str, ...] = (),
        judge: CommandJudge | None = None,
    ) -> CommandExecutor:
        """Execute a list with a state of its own, which the decisions about recovery read afterwards."""
        # Motions before the first UpdateSpecific ignore them too: an arm in contact must be able to leave.
        ignored = no_obstacles(self._params.ignore_substring, self._context, before)
        state = self._state = initial_state(self._context, commands, before, targets, ignored)
        executor = CommandExecutor(self._params, self._context, self._log, state, judge)
        try:
            executor.execute(commands)
        finally:
            self.world_version = max(self.world_version, state.world_version)
        return executor

    def _judge(self, before: World, executor: CommandExecutor) -> Outcome:
        """Ask the skill once the world has come to rest."""
        after = executor.settled_world()
        self._context.token.check()
        outcome = self._skill.is_success(self._params, before, after, self._context)
        if outcome.ok:
            self._log.finished()
        return outcome

    def _may_retry(self, refusal: PlanRefused, tried: list[str]) -> bool:
        """Only while nothing was touched; remembers what could not be reached."""
        tried.append(refusal.outcome.message)
        if isinstance(refusal, WayBlocked):
            self._blocked = refusal.outcome
        goal_q = self._state.first_free_q
        if self._policy is Recovery.GIVE_UP or self._state.is_touched or goal_q is None:
            return False
        if refusal.outcome.code not in UNREACHED:
            return False
        self._context.refused.append(goal_q)
        if len(tried) < self._attempts:
            return True
        text = f"no free path to {len(tried)} candidates: {' | '.join(tried)}"
        raise StepFailed(replace(refusal.outcome, message=text))

    def _makes_room(self, failure: Outcome) -> bool:
        """Go home where this arm and another wait for each other and nothing was touched; then choose again."""
        context, way = self._context, self._context.right_of_way
        if way is None or failure.code is not Code.ARM_IN_THE_WAY or not way.should_yield():
            return False
        if self._state.is_touched or self._made_room >= MAKES_ROOM:
            return False
        self._made_room += 1
        self._log.enter("make room")
        home_q = context.arm_spec.home_q
        home = Command("make room", UpdateSpecific(frozenset()), hand_at(context, home_q), home_q)
        self._execute((home,), context.world.snapshot())
        way.yield_until_clear(context.token.is_set)
        context.token.check()
        return True

    def _tries_again(self, failure: Outcome, carried: str, tried: list[str]) -> bool:
        """Step back, and run what brings a lost object into the hand, where the policy is REGRASP."""
        context, tries = self._context, len(tried) + 1
        if self._policy is not Recovery.REGRASP or failure.code not in LOST or tries >= self._attempts:
            return False
        if self._still_carries(carried):
            return self._replans_in_hand(failure, tried)
        first = self._skill.recovery_skills(self._params, context.released or carried)
        if first is None or not context.arm.stop().ok:
            return False
        tried.append(failure.message)
        if self._state.first_free_q is not None:
            context.refused.append(self._state.first_free_q)
        self._step_back(way_back(self._state.begun, context), failure)
        context.released = ""
        for skill, params in first:
            outcome = SkillAttempt(skill, params, context, self._log).run()
            if not outcome.ok:
                text = f"{failure.message}; trying again failed: {outcome.message}"
                raise StepFailed(replace(outcome, message=text))
        return True

    def _still_carries(self, carried: str) -> bool:
        """True when what was in the hand at the beginning was not let go, and is measured to be in it."""
        context = self._context
        if self._state.is_touched or carried not in context.held:
            return False
        return not gripper_state.is_lost(context.world.snapshot(), context.robot, context.arm_spec, carried)

    def _replans_in_hand(self, failure: Outcome, tried: list[str]) -> bool:
        """Step back with the object, so that the commands are chosen again in the world as it is now."""
        if not self._context.arm.stop().ok:
            return False
        tried.append(failure.message)
        touching = touching_now(self._context, self._context.world.snapshot())
        self._step_back(way_back_holding(self._state.begun, touching), failure)
        return True

    def _step_back(self, commands: Sequence[Command], failure: Outcome) -> None:
        self._log.enter("recover")
        try:
            self._execute(commands, self._context.world.snapshot())
        except StepFailed as stuck:
            text = f"{failure.message}; stepping back failed: {stuck.outcome.message}"
            raise StepFailed(replace(failure, message=text)) from stuck
