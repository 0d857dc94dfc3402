"""One run of a skill: attempts, one after the other, as long as its retry policy has a reason for another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from handiwork_core.contracts.commands import Command, UpdateSpecific
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Outcome
from handiwork_core.model.world import World
from skill_server.following.steady_motion import NotFollowed
from skill_server.motions.arm_motions import hand_at, no_obstacles, touching_now
from skill_server.motions.step_back import way_back, way_back_holding, way_back_to_free
from skill_server.params.following import MOST_FOLLOWED, following_of
from skill_server.params.protocol import RunParams
from skill_server.params.retry_policy import (
    Attempt,
    Change,
    RetryPolicy,
    RetryRule,
    retry_policy_of,
)
from skill_server.state import gripper_state

from .command_choice import Beginning, CommandChoice
from .command_executor import CommandExecutor
from .command_judge import CommandJudge, judge_of
from .execution_state import NO_VELOCITIES, ExecutionState, initial_state
from .motion_sending import PlanRefused, WayBlocked
from .stage_log import StageLog

P = TypeVar("P", bound=RunParams)


class AttemptLoop:
    """One run, from the choice to the judgement, again as its retry policy says.

    Attributes:
        world_version: Newest version of the world in which a finished motion was planned.
        state: State of the command list that was executed last; made by ``run``.
    """

    def __init__(
        self, skill: Skill[P], params: P, context: Context, log: StageLog, policy: RetryPolicy | None = None
    ) -> None:
        self._skill, self._params, self._context, self._log = skill, params, context, log
        self._policy = policy
        self.world_version = 0
        self.state: ExecutionState
        self._carried = ""  # the object that is, or was, in the hand
        self._failed = list[str]()  # messages of the attempts that the policy counts
        self._uses = Counter[Change]()
        self._blocked: Outcome | None = None
        self._recovery: Sequence[tuple[Skill[Any], Any]] = ()  # what the next attempt begins with
        self._choice: CommandChoice[Any]  # made by ``run``
        self._gripper_m: float | None = None  # the width that is kept while a target is followed

    def run(self) -> Outcome:
        """Run the skill, and return its judgement of the world, its verdict on the goal, or the last failure.

        Raises:
            StepFailed: No candidate is left, or what is to be done before the next attempt failed.
            Stopped: The token was set.
        """
        context = self._context
        context.token.check()
        before = context.world.snapshot()
        self.state = ExecutionState(before)
        verdict = self._skill.is_feasible(self._params, context.robot, context.arm_spec, before)
        if not verdict.ok:
            return verdict
        policy = self._policy or retry_policy_of(self._params)
        following = following_of(self._params) if policy.follows else None
        self._choice = CommandChoice(self._skill, self._params, context, following)
        gripper_state.forget_lost(context, before)
        self._carried = next(iter(context.held), "")
        # A run that recovers for another one has a beginning of its own.
        former, context.begun = context.begun, before
        try:
            return self._attempts(policy)
        finally:
            self._choice.forget()
            context.begun = former

    def _attempts(self, policy: RetryPolicy) -> Outcome:
        """Try until the goal is reached, or no rule asks for another attempt."""
        while True:
            attempt = self._attempt()
            if attempt.outcome.ok:
                return attempt.outcome
            rule = policy.rule_for(attempt)
            if rule is None or not self._prepares(rule, attempt.outcome):
                return attempt.outcome

    def _attempt(self) -> Attempt:
        """Recover what the last attempt lost, choose, execute and judge, once."""
        is_refused_plan = False
        try:
            self._recover()
            self._log.enter("select")
            beginning = self._choice.begin()
            before = beginning.before
            self.state = ExecutionState(before)
            commands = self._chosen(beginning)
            judge = judge_of(self._skill, self._params)
            executor = self._execute(commands, before, self._params.targets, judge, beginning.velocities)
            outcome = self._judge(before, executor)
        except NotFollowed:
            raise
        except StepFailed as failure:
            outcome, is_refused_plan = failure.outcome, isinstance(failure, PlanRefused)
            if isinstance(failure, WayBlocked):
                self._blocked = outcome
        return Attempt(outcome, is_refused_plan, self.state.is_touched, self._still_holds())

    def _recover(self) -> None:
        """Run the skills that bring a lost object into the hand; a failure of theirs is one of this attempt."""
        skills, self._recovery = self._recovery, ()
        for skill, params in skills:
            loop = AttemptLoop(skill, params, self._context, self._log)
            try:
                outcome = loop.run()
            except StepFailed as failure:
                outcome = failure.outcome
            self.state, self.world_version = loop.state, max(self.world_version, loop.world_version)
            if not outcome.ok:
                text = f"{self._failed[-1]}; trying again failed: {outcome.message}"
                raise StepFailed(replace(outcome, message=text))

    def _chosen(self, beginning: Beginning) -> Sequence[Command]:
        """The command list, or the failure of the choice together with what was tried before."""
        try:
            commands = self._choice.commands(beginning)
        except StepFailed as failure:
            if not self._failed:
                raise
            text = f"{failure.outcome.message}; tried before: {' | '.join(self._failed)}"
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
        velocities: Mapping[str, Array] = NO_VELOCITIES,
    ) -> CommandExecutor:
        """Execute a list with a state of its own, which the policy is asked about afterwards."""
        # Motions before the first UpdateSpecific ignore them too: an arm in contact must be able to leave.
        ignored = no_obstacles(self._params.ignore_substring, self._context, before)
        state = self.state = initial_state(self._context, commands, before, targets, ignored, velocities)
        state.gripper_m = state.gripper_m if self._gripper_m is None else self._gripper_m
        if targets:
            state.on_moved = self._choice.begin_early
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

    def _still_holds(self) -> bool:
        """True when what was in the hand at the beginning is measured to be in it."""
        context, name = self._context, self._carried
        if name not in context.held:
            return False
        return not gripper_state.is_lost(context.world.snapshot(), context.robot, context.arm_spec, name)

    def _prepares(self, rule: RetryRule, failure: Outcome) -> bool:
        """Do what the next attempt needs; False where it may not begin, or makes no sense.

        Raises:
            StepFailed: It failed, and the arm cannot go on.
            Stopped: The token was set.
        """
        self._uses[rule.change] += 1
        self._gripper_m = self.state.gripper_m if rule.change is Change.FOLLOW else None
        if rule.change is not Change.FOLLOW:
            self._choice.forget()
        used = len(self._failed) + 1 if rule.counts_attempts else self._uses[rule.change] - 1
        is_left = used < rule.most
        if rule.change is Change.NEXT_CANDIDATE:
            return self._leaves_out(failure, is_left)
        if rule.change is Change.FOLLOW:
            return self._follows(failure, is_left)
        if not is_left:
            return False
        match rule.change:
            case Change.YIELD:
                return self._goes_home()
            case Change.STEP_BACK:
                return self._steps_back_holding(failure)
            case Change.REGRASP:
                return self._regrasps(failure)

    def _leaves_out(self, failure: Outcome, is_left: bool) -> bool:
        """Leave the candidate out of the next choice; say how many could not be reached where none is left."""
        self._failed.append(failure.message)
        if self.state.first_free_q is None:
            return False
        self._context.refused.append(self.state.first_free_q)
        if is_left:
            return True
        text = f"no free path to {len(self._failed)} candidates: {' | '.join(self._failed)}"
        raise StepFailed(replace(failure, message=text))

    def _follows(self, failure: Outcome, is_left: bool) -> bool:
        """Retreat from what has moved, where the arm was on its last way to it, so that it can be chosen again."""
        context = self._context
        if not is_left:
            text = f"{failure.message}; it was followed {MOST_FOLLOWED} times, and moves on"
            raise StepFailed(replace(failure, message=text))
        world = context.world.snapshot()
        if not all(name in world.states for name in self._params.targets):
            return False
        commands = way_back_to_free(self.state.begun, touching_now(context, world))
        if commands:
            self._step_back(commands, failure)
        return True

    def _goes_home(self) -> bool:
        """Go home where this arm and another wait for each other, and wait until the other has passed."""
        context, way = self._context, self._context.right_of_way
        if way is None or not way.should_yield():
            return False
        self._log.enter("make room")
        home_q = context.arm_spec.home_q
        home = Command("make room", UpdateSpecific(frozenset()), hand_at(context, home_q), home_q)
        self._execute((home,), context.world.snapshot())
        way.yield_until_clear(context.token.is_set)
        context.token.check()
        return True

    def _steps_back_holding(self, failure: Outcome) -> bool:
        """Step back with the object."""
        context = self._context
        if not context.arm.stop().ok:
            return False
        self._failed.append(failure.message)
        touching = touching_now(context, context.world.snapshot())
        self._step_back(way_back_holding(self.state.begun, touching), failure)
        return True

    def _regrasps(self, failure: Outcome) -> bool:
        """Let go and step back, so that the next attempt can begin with what brings the lost object into the hand."""
        context = self._context
        self._carried = context.released or self._carried
        skills = self._skill.recovery_skills(self._params, self._carried)
        if skills is None or not context.arm.stop().ok:
            return False
        self._failed.append(failure.message)
        if self.state.first_free_q is not None:
            context.refused.append(self.state.first_free_q)
        self._step_back(way_back(self.state.begun, context), failure)
        context.released = ""
        self._recovery = skills
        return True

    def _step_back(self, commands: Sequence[Command], failure: Outcome) -> None:
        self._log.enter("recover")
        try:
            self._execute(commands, self._context.world.snapshot())
        except StepFailed as stuck:
            text = f"{failure.message}; stepping back failed: {stuck.outcome.message}"
            raise StepFailed(replace(failure, message=text)) from stuck
