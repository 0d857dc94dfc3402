"""Searches for a position of the base from which a skill can be done, together with the motion of the arm there."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import BodyPair, Code, Outcome
from skill_server.motions.base_motion import base_q
from skill_server.motions.base_sweep import BaseClearance
from skill_server.params.retry_policy import UNREACHED
from skill_server.state.scene_query import ignored_objects

from .foreseen_base import context_at
from .path_search import length_of
from .placement import placements
from .room import DrivingRoom

OFF_M, OFF_RAD = 0.03, 0.03
"""A position is robust where the skill can also be done from positions that differ so much, nearer and farther."""
SAME_M = 0.05
"""A position is not tried again where one from which the skill did not succeed differs by less."""
ELSEWHERE = frozenset(
    {Code.NO_CANDIDATE, Code.JOINT_LIMIT, Code.START_IN_COLLISION, Code.ARM_IN_THE_WAY, *UNREACHED}
)
"""Refusals of a skill that may not be there at another position of the base."""


@dataclass
class PlacementSearch:
    """Looks for a position of the base from which a skill can be done.

    Attributes:
        skill: The skill; it is only asked what it would do.
        params: Its checked parameters.
        budget_s: Steady time for one search, s.
        refused: Positions from which the skill did not succeed, (3,) each.
    """

    skill: Skill[Any]
    params: Any
    budget_s: float
    refused: list[Array] = field(default_factory=list)
    _causes: Counter[str] = field(default_factory=Counter)
    _blocking: BodyPair | None = None

    def find(self, place: Array, context: Context) -> tuple[Array, ...]:
        """Return the way to the nearest position that serves, in the world as it is now.

        Elsewhere the arm counts as being at home, where it is brought before the base drives.

        Args:
            place: Where the arm has to reach to, in the world, (3,), m.
            context: Context of the run, whose robot has a base.

        Returns:
            The ends of the straight parts of the way, (3,) each, m and rad; empty where the base is there already.

        Raises:
            StepFailed: NO_CANDIDATE with the count of every cause, PLAN_BUDGET once the time is over, or a refusal of
                the skill that holds everywhere.
            Stopped: The token was set.
        """
        self._causes.clear()
        until_s = time.monotonic() + self.budget_s
        here = base_q(context.robot, context.world.snapshot().joints.position)
        if not self._is_refused(here) and self._serves(context, context):
            return ()
        room, fragile, tried = self._room(context, here), list[Array](), 0
        for q in placements(context.robot, context.arm_spec, room.world_T_root, place, here):
            if self._is_refused(q):
                continue
            if time.monotonic() > until_s:
                break
            tried += 1
            if self._is_blocked(room.wide, q) or not self._serves_at(q, context):
                continue
            if not self._is_robust(q, room.world_T_root.inverse().apply(place)[:2], context):
                fragile.append(q)
            elif path := self._path(room, q, context, until_s):
                return path
        for q in fragile:
            if path := self._path(room, q, context, until_s):
                return path
        if time.monotonic() > until_s:
            text = f"no position of the base was found within search_time, {self.budget_s:g} s"
            raise StepFailed(self._failure(Code.PLAN_BUDGET, text))
        text = f"none of {tried} positions of the base serves"
        raise StepFailed(self._failure(Code.NO_CANDIDATE, text))

    def _room(self, context: Context, here: Array) -> DrivingRoom:
        """Return the free space with the arm at home."""
        ignored = ignored_objects(self.params.ignore_substring, context.world.snapshot())
        return DrivingRoom(context, here, ignored, context.arm_spec.home_q)

    def _serves_at(self, q: Array, context: Context) -> bool:
        return self._serves(context_at(context, q, context.arm_spec.home_q), context)

    def _is_robust(self, q: Array, place: Array, context: Context) -> bool:
        """Return True where the skill also finds commands a little nearer to a place (2,), and farther from it."""
        way = place - q[:2]
        off = np.array([*(OFF_M * way / max(float(np.linalg.norm(way)), 1e-9)), OFF_RAD])
        return self._serves_at(q + off, context) and self._serves_at(q - off, context)

    def _serves(self, there: Context, context: Context) -> bool:
        """Return True where the skill finds commands; count why not."""
        context.token.check()
        # The step that does the skill has random choices of its own, from this seed; the search must find the same.
        there = replace(there, rng=np.random.default_rng(self.params.seed & (2**64 - 1)))
        before_s = there.planning_time_s
        try:
            self.skill.commands(self.params, there)
        except StepFailed as failure:
            if failure.outcome.code not in ELSEWHERE:
                raise
            self._causes[failure.outcome.message] += 1
            self._blocking = failure.outcome.blocking or self._blocking
            return False
        finally:
            context.planning_time_s += there.planning_time_s - before_s
        return True

    def _is_blocked(self, judge: BaseClearance, q: Array) -> bool:
        touch = judge.first_touch(q[None, :])
        if touch is None:
            return False
        self._causes[f"{touch.pair.a} would touch {touch.pair.b}"] += 1
        self._blocking = touch.pair
        return True

    def _path(self, room: DrivingRoom, q: Array, context: Context, until_s: float) -> tuple[Array, ...]:
        def should_stop() -> bool:
            return context.token.is_set() or time.monotonic() > until_s

        if context.navigator is not None:
            return (q,)  # the way is the navigation server's
        path = room.path_to(q, context.rng, should_stop)
        context.token.check()
        if not path:
            self._causes["the base finds no way there"] += 1
        return path

    def _is_refused(self, q: Array) -> bool:
        return any(length_of(q - other) < SAME_M for other in self.refused)

    def _failure(self, code: Code, text: str) -> Outcome:
        counted = "; ".join(f"{n} times: {cause}" for cause, n in self._causes.most_common(3))
        return Outcome(code, f"{text}: {counted}" if counted else text, "select", blocking=self._blocking)
