"""The ports of a replay: the world and the controllers as recorded, and a planner that plans again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from handiwork_core.bundles.bundle import Before, Call
from handiwork_core.contracts.delegating import A, DelegatingPlanner, Request, Validation
from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    PlanRequest,
    PlanResult,
    ShouldStop,
    Verdict,
)
from handiwork_core.contracts.ports import NavigationGoal, Planner
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from skill_server.following.choice_ahead import THREAD as CHOICE_AHEAD
from skill_server.following.choice_ahead import choice_thread

from .session import STEP_S, Session

OUTSIDE = frozenset(
    {
        Code.CANCELED,
        Code.PREEMPTED,
        Code.SHUTDOWN,
        Code.TIME_RESET,
        Code.TIMED_OUT,
        Code.BUSY,
        Code.NOT_ACTIVE,
        Code.PLAN_BUDGET,
        Code.PLANNER_LOST,
        Code.ARM_IN_THE_WAY,
        Code.ROBOT_LOST,
        Code.STALE_WORLD,
        Code.INTERNAL,
    }
)
"""Codes of answers that depend on processes, load or other arms: no engine would give them again."""
Answer = PlanResult | CandidatesResult | Verdict
NO_ANSWER: Mapping[str, Answer] = {
    "plan": PlanResult(Code.CANCELED),
    "check_candidates": CandidatesResult(Code.CANCELED, "", ()),
    "validate": Verdict(Code.CANCELED),
    "validate_rest": Verdict(Code.CANCELED),
}
"""The answers of calls that had not returned when the recorded run ended."""
THREADS = ("path-check", CHOICE_AHEAD)
"""Beginnings of the names of threads of a run that ask the planner while the arm moves."""


class WorldPlanner(Protocol):
    """A planner that gets the world of each request."""

    def plan(self, request: PlanRequest, world: World, should_stop: ShouldStop) -> PlanResult:
        """Plan in a world; see ``Planner.plan``.

        Args:
            request: The planning problem.
            world: The world.
            should_stop: True ends the request.
        """
        ...

    def check_candidates(
        self, request: CandidatesRequest, world: World, should_stop: ShouldStop
    ) -> CandidatesResult:
        """Check candidates in a world; see ``Planner.check_candidates``.

        Args:
            request: The candidates.
            world: The world.
            should_stop: True ends the request.
        """
        ...

    def validate(self, arm: str, asked: Validation, world: World) -> Verdict:
        """Check a trajectory in a world; see ``Planner.validate`` and ``validate_rest``.

        Args:
            arm: Name of the arm.
            asked: The trajectory and its scene.
            world: The world.
        """
        ...


@dataclass(frozen=True)
class ReplayedPlanner(DelegatingPlanner):
    """``Planner`` of one arm."""

    session: Session
    planner: WorldPlanner
    arm: str

    def answer(
        self, port: str, arm: str, request: Request, ask: Callable[[Planner], A], should_stop: ShouldStop
    ) -> A:
        """Plan again in the world of the recorded call, and compare; see ``DelegatingPlanner.answer``.

        Args:
            port: Name of the method.
            arm: Name of the arm.
            request: Its arguments.
            ask: Not used: the planner gets the recorded world.
            should_stop: Used only after the recorded calls: the token ends a replay.
        """
        if thread := choice_thread():
            return self._answer_ahead(port, arm, request, thread)  # type: ignore[return-value]
        call = self.session.next_call(port, self.arm)
        if call is None:
            return self._plan_in(arm, request, self.session.world(), should_stop)  # type: ignore[return-value]
        answer = self._repeated(port, arm, request, call)
        self.session.advance(call.ended_s)
        return answer  # type: ignore[return-value]

    def _answer_ahead(self, port: str, arm: str, request: Request, thread: str) -> Answer:
        call = self.session.next_call_ahead(port, thread)
        return NO_ANSWER[port] if call is None else self._repeated(port, arm, request, call)

    def _repeated(self, port: str, arm: str, request: Request, call: Call) -> Answer:
        """Answer a call again, and compare; what no engine would give again is repeated."""
        if call.answer is None or call.answer.code in OUTSIDE:
            self.session.comparison.repeated += 1
            return call.answer or NO_ANSWER[port]
        answer = self._plan_in(arm, request, call.world, lambda: False)
        self.session.compare(port, call.answer, answer)
        return answer

    def _plan_in(self, arm: str, request: Request, world: World, should_stop: ShouldStop) -> Answer:
        if isinstance(request, PlanRequest):
            return self.planner.plan(request, world, should_stop)
        if isinstance(request, CandidatesRequest):
            return self.planner.check_candidates(request, world, should_stop)
        return self.planner.validate(arm, request, world)


@dataclass(frozen=True)
class ReplayedArm:
    """``Arm``, ``Gripper`` and ``Navigator`` of one arm; ``port`` is the name under which motions were recorded."""

    session: Session
    arm: str
    port: str = "follow"

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """See ``Arm.follow``.

        Args:
            trajectory: The motion.
            should_stop: Called as time passes, so that the supervision looks at the world.
        """
        return self._passed(self.port, should_stop)

    def navigate(self, goal: NavigationGoal, *, should_stop: ShouldStop) -> Outcome:
        """See ``Navigator.navigate``.

        Args:
            goal: Not used: the base drives as recorded.
            should_stop: Called as time passes, so that the supervision looks at the world.
        """
        return self._passed("navigate", should_stop)

    def stop(self) -> Outcome:
        """See ``Arm.stop``."""
        call = self.session.next_call("stop", self.arm)
        if call is None:
            return OK
        self.session.advance(call.ended_s)
        return call.answer or OK

    def move(self, width_m: float, *, force_n: float = 0.0, should_stop: ShouldStop) -> Outcome:
        """See ``Gripper.move``.

        Args:
            width_m: Not used: the fingers move as recorded.
            force_n: Not used.
            should_stop: Called as time passes.
        """
        return self._passed("move", should_stop)

    def _passed(self, port: str, should_stop: ShouldStop) -> Outcome:
        call = self.session.next_call(port, self.arm)
        if call is None:
            return Outcome(Code.CANCELED, "the recorded run had ended by then")
        while self.session.now_s() < call.ended_s:
            self.session.advance(min(self.session.now_s() + STEP_S, call.ended_s))
            should_stop()
            for thread in threading.enumerate():  # time stands still while the planner is asked
                if thread.name.startswith(THREADS) and thread is not threading.current_thread():
                    thread.join(60.0)
        if call.answer is None or not call.answer.ok:
            self.session.await_ahead()
        return call.answer or Outcome(Code.CANCELED, "the recorded call did not return")


@dataclass(frozen=True)
class ReplayedWorld:
    """``WorldSource`` and ``Clock``."""

    session: Session
    before: Before

    def snapshot(self) -> World:
        """See ``WorldSource.snapshot``."""
        return self.session.world_of(choice_thread())

    def world_T_base(self) -> Pose:
        """See ``WorldSource.world_T_base``."""
        if self.before.world_T_base is None:
            raise HandiworkError(Outcome(Code.UNKNOWN_FRAME, "the pose of the robot's base was not recorded"))
        return self.before.world_T_base

    def now_s(self) -> float:
        """See ``Clock.now_s``."""
        return self.session.now_s()

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        """See ``Clock.sleep``.

        Args:
            seconds: Duration, s.
            should_stop: True ends the wait.
        """
        end_s = self.session.now_s() + seconds
        while self.session.now_s() < end_s and not should_stop():
            self.session.advance(min(self.session.now_s() + STEP_S, end_s))


@dataclass(frozen=True)
class ReplayedFrames:
    """``FrameSource`` with the transforms that were asked for."""

    session: Session

    def lookup(self, target: str, source: str, field: str = "") -> Pose:
        """See ``FrameSource.lookup``.

        Args:
            target: Frame in which the pose is expressed.
            source: Frame whose pose is returned.
            field: Field of the goal, for errors.
        """
        found = self.session.bundle.frames.get((target, source))
        if found is None:
            text = f"the transform of {source!r} in {target!r} was not recorded"
            raise HandiworkError(Outcome(Code.UNKNOWN_FRAME, text, field_name=field))
        return found

    def known(self) -> list[str]:
        """See ``FrameSource.known``."""
        return sorted({name for pair in self.session.bundle.frames for name in pair})


@dataclass
class ReplayedWay:
    """``RightOfWay`` of a robot with several arms: this arm tries again as often as it did."""

    session: Session
    arm: str
    why: str = field(default="the recorded run did not try again")

    def may_try_again(self, refusals: int, should_stop: ShouldStop) -> bool:
        """See ``RightOfWay.may_try_again``.

        Args:
            refusals: Not used.
            should_stop: Not used.
        """
        return self.session.left("plan", self.arm) + self.session.left("follow", self.arm) > 0

    def should_yield(self) -> bool:
        """See ``RightOfWay.should_yield``."""
        return False

    def mark_irreversible(self, is_committed: bool) -> None:
        """See ``RightOfWay.mark_irreversible``.

        Args:
            is_committed: Not used.
        """

    def yield_until_clear(self, should_stop: ShouldStop) -> None:
        """See ``RightOfWay.yield_until_clear``.

        Args:
            should_stop: Not used.
        """
