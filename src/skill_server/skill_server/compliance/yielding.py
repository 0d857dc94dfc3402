"""An arm that yields for the time of a ``with`` block: forces, waits and motions, and always an end at rest."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from handiwork_core.admittance.settings import AdmittanceSettings
from handiwork_core.contracts.planning import SceneQuery, ShouldStop, never_stop
from handiwork_core.contracts.ports import Arm, Compliance
from handiwork_core.contracts.skill import Context, StepFailed, Stopped
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.supervision.path_supervision import PathSupervision
from handiwork_core.supervision.supervised_arm import SupervisedArm, excluded_by, planner_judge
from skill_server.motions.arm_motions import hand
from skill_server.state.gripper_state import arm_q

POLL_S = 0.02
STALL_S, STALL_M = 0.4, 0.08e-3
"""The hand stands still if it moves less than this along the push in this time."""
BEGIN_S = 0.6
"""Time after the begin of a push in which a hand at rest does not count as standing still, s."""
RELEASES = 2
"""Attempts to yield no more: the first answer may be lost."""
SETTLE_S = 0.1
"""Time in which the offset of an arm that yields no more comes to rest, s."""
NO_COMPLIANCE = (
    "the robot has no admittance controller, so that it cannot yield to a force: an arm that is commanded by position "
    "alone cannot {what}; use the simulation of sim_bridge, or chain an admittance_controller of ros2_control"
)

NO_WRENCH = "no wrench is measured at the tool; this needs a force-torque sensor that is on"


class PushEnd(Enum):
    """The end of a push."""

    ARRIVED = "arrived"
    STILL = "still"
    TIMEOUT = "timeout"


class YieldingArm:
    """The arm of a run while it yields. Forces count from those at the begin, so that what is held has no weight.

    Attributes:
        greatest_n: Greatest size of the measured forces since the begin, N.
        on_force: Called with the time, s of the robot's, and each force that is looked at, (3,), N, in the EE frame.

    Args:
        context: Context of the run.
        compliance: The arm's admittance controller.
        bound_n: Greatest force on the tool, N: more of it ends the work.
        stage: Stage of the command, for failures.
    """

    def __init__(self, context: Context, compliance: Compliance, bound_n: float, stage: str) -> None:
        self._context, self._compliance = context, compliance
        self._bound_n, self._stage = bound_n, stage
        self._tare: Array = np.zeros(6)
        self.greatest_n = 0.0
        self.on_force: Callable[[float, Array], None] = lambda _at_s, _force: None

    def begin(self, settings: AdmittanceSettings) -> None:
        """Measure the wrench without contact, and yield.

        Args:
            settings: Parameters of the controller.
        """
        first = self._compliance.wrench()
        if first is None:
            raise self.failed(Code.CONTROLLER_REFUSED, NO_WRENCH)
        self._tare = first
        self.change(settings)
        self._context.clock.sleep(0.05, should_stop=self._context.token.is_set)

    def change(self, settings: AdmittanceSettings) -> None:
        """Yield with other parameters from now on.

        Args:
            settings: Parameters of the controller.

        Raises:
            StepFailed: The controller refuses them, or there is none.
        """
        token = self._context.token
        token.check()
        done = self._compliance.set_admittance(settings, should_stop=token.is_set)
        token.check()
        if not done.ok:
            raise StepFailed(replace(done, stage=self._stage))

    def push(self, force: Array) -> None:
        """Press with a force.

        Args:
            force: In the EE frame, (3,), N.
        """
        self._compliance.set_wrench(np.concatenate([force, np.zeros(3)]))

    def force(self) -> Array:
        """Return the force of the surroundings on the tool in the EE frame, without that of the begin, (3,), N.

        Raises:
            StepFailed: It is not measured any more, or above the bound.
        """
        wrench = self._compliance.wrench()
        if wrench is None:
            raise self.failed(Code.CONTROLLER_REFUSED, "the wrench at the tool is not measured any more")
        change: Array = (wrench - self._tare)[:3]
        size = float(np.linalg.norm(change))
        self.greatest_n = max(self.greatest_n, size)
        self.on_force(self._context.clock.now_s(), change)
        if size > self._bound_n:
            text = (
                f"{size:.1f} N on the tool are more than force_n {self._bound_n:g} N; the arm yields no more"
            )
            raise self.failed(Code.PATH_TOLERANCE, text)
        return change

    def hand(self) -> Pose:
        """Return the measured pose of the hand, world_T_ee."""
        return hand(self._context, self._context.world.snapshot())

    def wait(self) -> None:
        """Let a short time pass, and look at the force.

        Raises:
            StepFailed: See ``force``.
            Stopped: The token was set.
        """
        self._context.clock.sleep(POLL_S, should_stop=self._context.token.is_set)
        self._context.token.check()
        self.force()

    def until_still(self, way: Array, has_arrived: Callable[[Pose], bool], timeout_s: float) -> PushEnd:
        """Wait while the push moves the hand.

        Args:
            way: Direction of the push in ``world``, (3,), of length 1.
            has_arrived: Returns True for the pose of the hand at which the push has its end.
            timeout_s: Longest wait, s of the robot's time.

        Returns:
            The end.
        """
        clock = self._context.clock
        begun_s = clock.now_s()
        past: deque[tuple[float, float]] = deque()
        while (now_s := clock.now_s()) - begun_s < timeout_s:
            self.wait()
            here = self.hand()
            if has_arrived(here):
                return PushEnd.ARRIVED
            past.append((now_s, float(here.translation_m @ way)))
            while len(past) > 1 and now_s - past[1][0] >= STALL_S:
                past.popleft()
            is_known = now_s - begun_s >= BEGIN_S and now_s - past[0][0] >= STALL_S
            if is_known and abs(past[-1][1] - past[0][1]) < STALL_M:
                return PushEnd.STILL
        return PushEnd.TIMEOUT

    def follow(
        self, trajectory: Trajectory, scene: SceneQuery, then: World, is_enough: Callable[[Pose], bool]
    ) -> bool:
        """Follow a motion of the reference under supervision until it ends, or is enough; the arm yields about it.

        Args:
            trajectory: The motion.
            scene: How the planner is to read the world.
            then: The snapshot of ``scene``; what changes after it makes the planner judge the rest again.
            is_enough: Returns True for the pose of the hand at which the rest of the motion is not needed.

        Returns:
            True when it was enough.

        Raises:
            StepFailed: The motion was refused, is no longer clear, or the force on the tool came to its bound.
            Stopped: The token was set.
        """
        context, token = self._context, self._context.token
        verdict = context.planner.validate(context.arm_spec.name, trajectory, scene, should_stop=token.is_set)
        token.check()
        if verdict.code is not Code.OK:
            text = f"the motion was refused right before it was sent: {verdict.message or verdict.code.name}"
            raise self.failed(Code.TRAJECTORY_REFUSED, text)
        found, failure = False, list[StepFailed]()

        def must_stop() -> bool:
            nonlocal found
            try:
                self.force()
            except StepFailed as over:
                failure[:] = [over]
            found = found or is_enough(self.hand())
            return found or bool(failure) or token.is_set()

        outcome = self._supervised(trajectory, scene, then).follow(trajectory, should_stop=must_stop)
        token.check()
        if failure:
            raise failure[0]
        if not outcome.ok and not (found and outcome.code is Code.CANCELED):
            raise StepFailed(replace(outcome, stage=self._stage))
        return found

    def _supervised(self, trajectory: Trajectory, scene: SceneQuery, then: World) -> Arm:
        """Return the arm's port with the supervision of the world around the motion."""
        context, spec = self._context, self._context.arm_spec
        arm = _EasedArm(context.arm, lambda: self.push(np.zeros(3)))
        if not context.supervision.is_on:
            return arm
        supervision = PathSupervision(then, excluded_by(scene), context.supervision)
        judge = planner_judge(context.planner, spec.name, trajectory, scene, then)
        return SupervisedArm(
            arm, supervision, judge, context.world, lambda world: arm_q(world, spec), context.clock
        )

    def failed(self, code: Code, text: str) -> StepFailed:
        """Return a failure of this stage.

        Args:
            code: Its code.
            text: Its message.
        """
        return StepFailed(Outcome(code, text, self._stage))


@dataclass(frozen=True)
class _EasedArm:
    """An arm that is pushed no more once it is to stop: one that is pushed on does not come to rest."""

    arm: Arm
    ease: Callable[[], None]

    def follow(self, trajectory: Trajectory, *, should_stop: ShouldStop) -> Outcome:
        """See ``Arm.follow``."""

        def eased() -> bool:
            if not should_stop():
                return False
            self.ease()
            return True

        return self.arm.follow(trajectory, should_stop=eased)

    def stop(self) -> Outcome:
        """See ``Arm.stop``."""
        self.ease()
        return self.arm.stop()


def check_compliance(context: Context, what: str) -> None:
    """Refuse a goal for an arm that cannot yield, before anything moves.

    Args:
        context: Context of the run.
        what: What such an arm cannot do, as a verb.

    Raises:
        StepFailed: CONTROLLER_REFUSED: there is no admittance controller, or no wrench is measured.
    """
    compliance = context.compliance
    text = ""
    if compliance is None:
        text = NO_COMPLIANCE.format(what=what)
    elif compliance.wrench() is None:
        text = f"{NO_WRENCH}, and without it the arm cannot {what}"
    if text:
        raise StepFailed(Outcome(Code.CONTROLLER_REFUSED, text, "select"))


@contextmanager
def yielding(
    context: Context, settings: AdmittanceSettings, bound_n: float, stage: str, what: str
) -> Iterator[YieldingArm]:
    """Let the arm of a run yield, and end that in any case.

    Args:
        context: Context of the run.
        settings: First parameters of the controller.
        bound_n: Greatest force on the tool, N.
        stage: Stage of the command, for failures.
        what: What an arm without such a controller cannot do, as a verb.

    Yields:
        The arm.

    Raises:
        StepFailed: The robot has no admittance controller, or no sensor; or the arm does not cease to yield.
    """
    compliance = context.compliance
    if compliance is None:
        raise StepFailed(Outcome(Code.CONTROLLER_REFUSED, NO_COMPLIANCE.format(what=what), stage))
    arm, has_begun, cause = YieldingArm(context, compliance, bound_n, stage), False, ""
    try:
        arm.begin(settings)
        has_begun = True
        yield arm
    except StepFailed as failure:
        cause = f"{failure.outcome.message}; "
        raise
    except Stopped:
        cause = f"{context.token.detail or context.token.reason.name.lower()}; "
        raise
    finally:
        released = _release(context, compliance)
        if has_begun and not released.ok:
            text = f"{cause}the arm may still yield, and move when it is pushed: {released.message}"
            raise StepFailed(Outcome(released.code, text, stage))


def _release(context: Context, compliance: Compliance) -> Outcome:
    """Yield no more; also after a cancel. A body that was abandoned has been released by the arm's stop."""
    try:
        compliance.set_wrench(np.zeros(6))
        done = OK
        for _ in range(RELEASES):
            done = compliance.set_admittance(AdmittanceSettings(), should_stop=never_stop)
            if done.ok:
                break
        context.clock.sleep(SETTLE_S, should_stop=never_stop)
    except Stopped:
        return OK
    return OK if context.token.is_revoked else done
