"""Both arms follow one motion: they begin together, and stop together when anything fails on either of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from handiwork_core.contracts.commands import CommandFunction
from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.contracts.ports import Arm
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.supervision.path_supervision import PathSupervision
from handiwork_core.supervision.supervised_arm import SupervisedArm, excluded_by, planner_judge
from skill_server.execution.execution_state import ExecutionState
from skill_server.execution.grasp_monitor import GraspMonitor
from skill_server.execution.measurement import fresh_world
from skill_server.state.gripper_state import arm_q

from .arm_chain import ArmChain
from .holds import chain_of, measured_hold, scenes

LEAD_S = 0.3
"""Time from sending the goals to the beginning of the motion, s of the robot's world: both controllers have them."""
SPREAD_M, SPREAD_RAD = 0.02, 0.15
"""Largest measured change of the pose of one hand in the other during a motion."""


@dataclass(frozen=True, slots=True, eq=False)
class CarryMotion(CommandFunction):
    """Move both arms along one motion.

    Attributes:
        partner: Name of the other arm.
        object: What both hold.
        parts: Trajectories of the goal's arm and of the other one, at the same times.
        touching: What the object may touch on the way.
        ignored: Objects that are no obstacles.
    """

    partner: str
    object: str
    parts: tuple[Trajectory, Trajectory]
    touching: frozenset[str]
    ignored: frozenset[str]
    in_preview: ClassVar[bool] = True

    def execute(self, context: Context, stage: str) -> None:
        """See ``CommandFunction``.

        Args:
            context: Context of the goal's arm.
            stage: Stage of the command.

        Raises:
            StepFailed: The motion was refused, or it ended early with both arms at rest.
            Stopped: The token was set, and both arms are at rest.
        """
        pair = (context, context.partners[self.partner])
        world = fresh_world(context)
        holds = tuple(measured_hold(one, self.object, world) for one in pair)
        asked = scenes(holds, self.parts, self.object, self.touching, self.ignored)
        for one, part, scene in zip(pair, self.parts, asked, strict=True):
            self._validate(one, part, scene, stage, pair)
        _Motion(self, pair, asked, world, stage).run()

    def _validate(
        self,
        context: Context,
        part: Trajectory,
        scene: SceneQuery,
        stage: str,
        pair: tuple[Context, Context],
    ) -> None:
        arm, token = context.arm_spec.name, context.token
        token.check()
        verdict = context.planner.validate(arm, part, scene, should_stop=token.is_set)
        token.check()
        if verdict.code is Code.OK:
            return
        for one, own in zip(pair, self.parts, strict=True):
            one.arm.follow(
                own, should_stop=lambda: True
            )  # nothing is sent; the reservation of the motion ends
        refused = verdict.code in (Code.TRAJECTORY_REFUSED, Code.ARM_IN_THE_WAY)
        code = Code.TRAJECTORY_REFUSED if refused else verdict.code
        text = f"the motion of {arm} was refused right before it was sent: {verdict.message or verdict.code.name}"
        raise StepFailed(Outcome(code, text, stage, blocking=verdict.blocking))


@dataclass
class _Motion:
    """One motion under way. Each arm has a thread that follows; the first fault of any of them stops both."""

    command: CarryMotion
    pair: tuple[Context, Context]
    scenes: tuple[SceneQuery, SceneQuery]
    then: World
    stage: str
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _fault: Outcome = OK
    _bug: BaseException | None = None

    def run(self) -> None:
        """Follow with both arms, and return at the end of the motion.

        Raises:
            StepFailed: The first fault.
            Stopped: The token was set.
        """
        begin_s = self.pair[0].clock.now_s() + LEAD_S
        threads = [
            threading.Thread(target=self._follow, args=(i, begin_s), name=f"carry-{i}") for i in (0, 1)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._bug is not None:
            raise self._bug
        self.pair[0].token.check()
        if not self._fault.ok:
            raise StepFailed(replace(self._fault, stage=self._fault.stage or self.stage))

    def _follow(self, i: int, begin_s: float) -> None:
        try:
            context, part = self.pair[i], replace(self.command.parts[i], begin_s=begin_s)
            if self._stop.is_set() or context.token.is_set():
                return
            outcome = self._arm(i, part).follow(part, should_stop=self._watch(i))
            if not outcome.ok and not (outcome.code is Code.CANCELED and self._stop.is_set()):
                self._fail(replace(outcome, message=f"{context.arm_spec.name}: {outcome.message}"))
        except BaseException as bug:  # noqa: BLE001 - handed to the thread of the run
            with self._lock:
                self._bug = self._bug or bug
            self._stop.set()

    def _arm(self, i: int, part: Trajectory) -> Arm:
        """Return the arm's port, with the supervision of the world around its part of the motion."""
        context, scene = self.pair[i], self.scenes[i]
        if not context.supervision.is_on:
            return context.arm
        supervision = PathSupervision(self.then, excluded_by(scene), context.supervision)
        judge = planner_judge(context.planner, context.arm_spec.name, part, scene, self.then)
        spec = context.arm_spec
        return SupervisedArm(
            context.arm, supervision, judge, context.world, lambda world: arm_q(world, spec), context.clock
        )

    def _watch(self, i: int) -> Callable[[], bool]:
        """Return the function that one arm's thread asks whether to stop."""
        context, name = self.pair[i], self.command.object
        monitor = GraspMonitor(context, ExecutionState(self.then))
        spread = _Spread(self.pair, self.then) if i == 0 else None

        def must_stop() -> bool:
            if monitor.dropped():
                text = f"{name!r} slipped out of the hand of {context.arm_spec.name}; both arms have stopped"
                context.held.pop(name, None)
                self._fail(Outcome(Code.OBJECT_DROPPED, text, self.stage))
            elif spread is not None and (why := spread.why(context.world.snapshot())):
                self._fail(Outcome(Code.PATH_TOLERANCE, why, self.stage))
            return self._stop.is_set() or context.token.is_set()

        return must_stop

    def _fail(self, outcome: Outcome) -> None:
        """Stop both arms; the first fault is the one that is reported."""
        with self._lock:
            if self._fault.ok:
                self._fault = outcome
        self._stop.set()


class _Spread:
    """Compares the measured pose of one hand in the other with that at the beginning."""

    def __init__(self, pair: tuple[Context, Context], world: World) -> None:
        self._pair, self._chains = pair, [chain_of(one) for one in pair]
        self._first = self._relative(world)

    def why(self, world: World) -> str:
        """Return how far the hands have moved in each other where that is too much; else an empty text."""
        moved = np.linalg.inv(self._first) @ self._relative(world)
        off_m = float(np.linalg.norm(moved[:3, 3]))
        off_rad = float(np.arccos(np.clip(0.5 * (np.trace(moved[:3, :3]) - 1.0), -1.0, 1.0)))
        if off_m <= SPREAD_M and off_rad <= SPREAD_RAD:
            return ""
        return (
            f"the hands have moved by {off_m * 1e3:.0f} mm and {off_rad:.2f} rad in each other, more than "
            f"{SPREAD_M * 1e3:.0f} mm or {SPREAD_RAD:.2f} rad; both arms have stopped"
        )

    def _relative(self, world: World) -> Array:
        first, second = (
            _hand(chain, one, world) for chain, one in zip(self._chains, self._pair, strict=True)
        )
        return np.asarray(np.linalg.inv(first) @ second)


def _hand(chain: ArmChain, context: Context, world: World) -> Array:
    return np.asarray(chain.hands(arm_q(world, context.arm_spec)[None])[0])
