"""Sends motions of an arm: validated right before, supervised on the way, planned again where that helps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.supervision.path_supervision import PathSupervision
from handiwork_core.supervision.supervised_arm import (
    SupervisedArm,
    excluded_by,
    planner_judge,
)
from skill_server.following.brake_ahead import place_of_rest
from skill_server.following.expected_targets import TargetWatch
from skill_server.params.retry_policy import UNREACHED
from skill_server.state import gripper_state

from .execution_state import ExecutionState
from .grasp_monitor import GraspMonitor
from .measurement import check_targets, fresh_world, moved

FALSE_ALARMS = 3
"""Motions in a row that may stop for a held object which is there after all."""
PLANNER_VERDICTS = (Code.PLANNER_LOST, Code.STALE_WORLD, Code.ROBOT_LOST, Code.ARM_IN_THE_WAY)
NO_WAY = (*UNREACHED, Code.START_IN_COLLISION, Code.TRAJECTORY_REFUSED)
"""Refusals of a second plan that leave the first cause standing."""


def _no_earlier(_q: Array) -> Trajectory | None:
    return None


class PlanRefused(StepFailed):
    """No trajectory was found; nothing moved since the arm last came to rest."""


class MotionInterrupted(StepFailed):
    """The arm braked on its path because the rest of it was no longer clear, or could not be judged."""


class WayBlocked(PlanRefused):
    """The arm braked because of a change of the world, and no way leads on from where it stopped."""


class MotionSender:
    """Sends motions of a run's arm, and ends them when what it holds is lost."""

    def __init__(self, context: Context, monitor: GraspMonitor) -> None:
        self._context, self._monitor = context, monitor

    def send_planned(
        self,
        plan: Callable[[Array], Trajectory],
        scene: SceneQuery,
        stage: str,
        state: ExecutionState,
        earlier: Callable[[Array], Trajectory | None] = _no_earlier,
    ) -> None:
        """Send what ``plan`` makes.

        Plans again where the held object was missed but is there, where another arm was faster, and where the world
        changed on the way.

        Args:
            plan: Makes a motion from the configuration (n,) [rad] that the arm is measured in.
            scene: How the planner is to read the world when it validates the motion.
            stage: Stage of the command, for failures.
            state: Names the targets, which the motion does not outlive.
            earlier: Returns a motion from that configuration that was made before, or None; it is tried first, and
                planned again where it is refused.

        Raises:
            TargetMoved: A target moved; the arm is at rest.
            StepFailed: With the planner's, the controller's or the supervision's cause.
            Stopped: The token was set.
        """
        context = self._context
        alarms, refusals, stops = 0, 0, list[MotionInterrupted]()
        made: Trajectory | None = None
        while alarms < FALSE_ALARMS:
            try:
                then = fresh_world(context)
                q = gripper_state.arm_q(then, context.arm_spec)
                made, earlier = earlier(q), _no_earlier
                trajectory = plan(q) if made is None else made
                if self._send(trajectory, scene, stage, then, state):
                    return
            except MotionInterrupted as stop:  # noqa: PERF203 - a loop over motions of seconds
                # What blocks the way may be the target itself, which the commands must be chosen again for.
                check_targets(context, state)
                stops.append(stop)
                if len(stops) > context.supervision.replans:
                    raise
            except StepFailed as failure:
                if made is not None and failure.outcome.code is Code.TRAJECTORY_REFUSED:
                    continue
                if stops and failure.outcome.code in NO_WAY:
                    raise _no_way_left(stops[-1], failure) from failure
                refusals += 1
                _try_again(context, failure, refusals)
            else:
                alarms += 1
        text = f"what is held was missed {FALSE_ALARMS} times, and was there each time the arm had stopped"
        raise StepFailed(Outcome(Code.STALE_WORLD, f"{text}; check contacts and poses", stage))

    def _send(
        self, trajectory: Trajectory, scene: SceneQuery, stage: str, then: World, state: ExecutionState
    ) -> bool:
        """Let the planner judge the trajectory again, then follow it.

        Args:
            trajectory: The motion.
            scene: How the planner is to read the world.
            stage: Stage of the command, for failures.
            then: A snapshot of before; what changes after it makes the planner judge the rest of the motion again.
            state: Names the targets, and says whether they are watched during the motion.

        Returns:
            False when the arm stopped on the way because the held object was missed, and holds it after all.
        """
        context, token = self._context, self._context.token
        token.check()
        verdict = context.planner.validate(context.arm_spec.name, trajectory, scene, should_stop=token.is_set)
        token.check()
        if verdict.code is not Code.OK:
            code = verdict.code if verdict.code in PLANNER_VERDICTS else Code.TRAJECTORY_REFUSED
            text = (
                f"the trajectory was refused right before it was sent: {verdict.message or verdict.code.name}"
            )
            raise StepFailed(Outcome(code, text, stage, blocking=verdict.blocking))
        arm, supervision = context.arm, PathSupervision(then, excluded_by(scene), context.supervision)
        if context.supervision.is_on:
            judge = planner_judge(context.planner, context.arm_spec.name, trajectory, scene, then)
            arm = SupervisedArm(arm, supervision, judge, context.world, self._measured, context.clock)
        targets = state.targets if state.following is not None else ()
        watch = TargetWatch(state.expected, targets, state.tolerance_m)

        def must_stop() -> bool:
            if watch.fault is None and watch.has_moved(context.world.snapshot()):
                state.on_moved(self._place_of_rest(trajectory))
            return watch.fault is not None or token.is_set() or self._monitor.dropped()

        outcome = arm.follow(trajectory, should_stop=must_stop)
        token.check()
        self._monitor.check(stage)
        if watch.fault is not None and outcome.code is Code.CANCELED:
            raise moved(watch.fault, context.world.snapshot(), state)
        if outcome.code is Code.CANCELED:
            return False
        # A force that ended the motion while it braked for another cause ended it: planned again, it would press on.
        if supervision.fault is not None and not outcome.ok and outcome.code is not Code.CONTACT:
            raise MotionInterrupted(replace(outcome, stage=stage))
        if not outcome.ok:
            raise StepFailed(replace(outcome, stage=stage))
        return True

    def _place_of_rest(self, trajectory: Trajectory) -> Array:
        arm, joints = self._context.arm_spec, self._context.robot.joints
        limits = np.array([joints[name].acceleration for name in arm.joint_names])
        return place_of_rest(trajectory, self._measured(self._context.world.snapshot()), limits)

    def _measured(self, world: World) -> Array:
        return gripper_state.arm_q(world, self._context.arm_spec)


def _no_way_left(stop: MotionInterrupted, failure: StepFailed) -> StepFailed:
    """Return the failure with what stopped the arm as its cause, and what came of planning again beside it."""
    text = f"{stop.outcome.message}; from there: {failure.outcome.message}"
    outcome = replace(stop.outcome, message=text)
    return WayBlocked(outcome) if isinstance(failure, PlanRefused) else StepFailed(outcome)


def _try_again(context: Context, failure: StepFailed, refusals: int) -> None:
    """Return when it makes sense to plan again; else raise the failure."""
    way, token = context.right_of_way, context.token
    if way is None or failure.outcome.code is not Code.ARM_IN_THE_WAY:
        raise failure
    again = way.may_try_again(refusals, token.is_set)
    token.check()
    if not again:
        text = f"{failure.outcome.message}; {way.why}"
        raise StepFailed(replace(failure.outcome, message=text)) from failure
