"""One run of a skill: chooses, walks the command list, judges, and tries again as its policy of recovery allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from handiwork_core.contracts.commands import (
    Command,
    Motion,
    OpenGripper,
    UpdateSpecific,
)
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from skill_server.motions.arm_motions import hand_at
from skill_server.params.protocol import RunParams
from skill_server.params.recovery import (
    LOST,
    UNREACHED,
    Recovery,
    policy_of,
    way_back,
)
from skill_server.state import gripper_state
from skill_server.state.deadline import Deadline

from .command_functions import CommandFunctions
from .grasp_monitor import GraspMonitor
from .motion_sending import PlanRefused, WayBlocked
from .motion_steps import POLL_S, MotionSteps
from .stage_log import StageLog

SETTLE_S = 2.0
SETTLED_MPS = 0.02
NEW_WORLD_S = 0.1
MAKES_ROOM = 3
"""Times that a run goes home to let another arm pass."""
P = TypeVar("P", bound=RunParams)


class SkillAttempt:
    """One run, from the choice to the judgement, with what its policy of recovery allows."""

    def __init__(self, skill: Skill[P], params: P, context: Context, log: StageLog) -> None:
        self._skill, self._params, self._context, self._log = skill, params, context, log
        self._policy, self._attempts = Recovery.GIVE_UP, 1
        self.world_version = 0
        self._first_free: Array | None = None
        self._walked: list[Command] = []
        self._touched = False
        self._blocked: Outcome | None = None
        self._made_room = 0

    def run(self) -> Outcome:
        """How it ended.

        Raises:
            StepFailed: a step failed and nothing was left to try.
            Stopped: the token was set.
        """
        context = self._context
        context.token.check()
        before = context.world.snapshot()
        verdict = self._skill.is_feasible(self._params, context.robot, context.arm_spec, before)
        if not verdict.ok:
            return verdict
        self._policy, self._attempts = policy_of(self._params)
        gripper_state.forget_lost(context, before)
        carried, tried = next(iter(context.held), ""), list[str]()
        while True:
            self._log.enter("select")
            steps = MotionSteps(self._params, context, before, GraspMonitor(context))
            try:
                before = steps.before = steps.world()
                self._walk(self._chosen(tried), steps)
                outcome = self._judge(before, steps)
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

    def _may_retry(self, refusal: PlanRefused, tried: list[str]) -> bool:
        """Only while nothing was touched; remembers what could not be reached."""
        tried.append(refusal.outcome.message)
        if isinstance(refusal, WayBlocked):
            self._blocked = refusal.outcome
        may = self._policy is not Recovery.GIVE_UP and not self._touched and self._first_free is not None
        if not may or refusal.outcome.code not in UNREACHED:
            return False
        assert self._first_free is not None
        self._context.refused.append(self._first_free)
        if len(tried) < self._attempts:
            return True
        text = f"no free path to {len(tried)} candidates: {' | '.join(tried)}"
        raise StepFailed(replace(refusal.outcome, message=text))

    def _makes_room(self, failure: Outcome) -> bool:
        """Go home where this arm and another wait for each other and nothing was touched; then choose again."""
        context, way = self._context, self._context.right_of_way
        if way is None or failure.code is not Code.ARM_IN_THE_WAY or not way.should_yield():
            return False
        if self._touched or self._made_room >= MAKES_ROOM:
            return False
        self._made_room += 1
        self._log.enter("make room")
        home_q = context.arm_spec.home_q
        home = Command("make room", UpdateSpecific(frozenset()), hand_at(context, home_q), home_q)
        self._walk(
            (home,),
            MotionSteps(
                self._params, context, context.world.snapshot(), GraspMonitor(context), target_is_free=False
            ),
        )
        way.yield_until_clear(context.token.is_set)
        context.token.check()
        return True

    def _tries_again(self, failure: Outcome, carried: str, tried: list[str]) -> bool:
        """With policy REGRASP: step back and run what brings the object into the hand again."""
        context, tries = self._context, len(tried) + 1
        if self._policy is not Recovery.REGRASP or failure.code not in LOST or tries >= self._attempts:
            return False
        first = self._skill.recovery_skills(self._params, context.released or carried)
        if first is None or not context.arm.stop().ok:
            return False
        tried.append(failure.message)
        if self._first_free is not None:
            context.refused.append(self._first_free)
        self._log.enter("recover")
        steps = MotionSteps(
            self._params, context, context.world.snapshot(), GraspMonitor(context), target_is_free=False
        )
        try:
            self._walk(way_back(self._walked, context), steps)
        except StepFailed as stuck:
            text = f"{failure.message}; stepping back failed: {stuck.outcome.message}"
            raise StepFailed(replace(failure, message=text)) from stuck
        context.released = ""
        for skill, params in first:
            outcome = SkillAttempt(skill, params, context, self._log).run()
            if not outcome.ok:
                text = f"{failure.message}; trying again failed: {outcome.message}"
                raise StepFailed(replace(outcome, message=text))
        return True

    def _walk(self, commands: Sequence[Command], steps: MotionSteps) -> None:
        functions = CommandFunctions(self._context, steps)
        free = [c.q for c in commands if c.world_T_ee is not None and c.motion is Motion.FREE]
        self._first_free = free[0] if free else None
        self._walked = []
        self._touch(is_touched=False)
        for command in commands:
            self._context.token.check()
            self._log.enter(command.stage)
            self._walked.append(command)
            if command.world_T_ee is not None:
                steps.move(command)
                self.world_version = max(self.world_version, steps.world_version)
                self._log.planned()
            elif not isinstance(command.function, OpenGripper):
                steps.watch.check(command.stage)
            functions.run(command)
            self._touch(is_touched=functions.touched)
            if command.dwell_s > 0.0:
                steps.pause(command.dwell_s)

    def _touch(self, *, is_touched: bool) -> None:
        self._touched = is_touched
        if self._context.right_of_way is not None:
            self._context.right_of_way.mark_irreversible(is_touched)

    def _judge(self, before: World, steps: MotionSteps) -> Outcome:
        """Ask the skill once the world has come to rest, or after ``SETTLE_S``."""
        context = self._context
        ended_s, fresh = context.clock.now_s(), Deadline(context.clock, NEW_WORLD_S)
        while True:
            steps.pause(POLL_S)
            steps.watch.check(self._log.stage)
            world = steps.world()
            waited = context.clock.now_s() - ended_s
            if fresh.is_past(world) and (_at_rest(world) or waited > SETTLE_S):
                break
        context.token.check()
        outcome = self._skill.is_success(self._params, before, world, context)
        if outcome.ok:
            self._log.finished()
        return outcome


def _at_rest(world: World) -> bool:
    speeds = (
        np.linalg.norm(s.world_v_object) for n, s in world.states.items() if not world.objects[n].is_static
    )
    return all(bool(speed < SETTLED_MPS) for speed in speeds)
