"""Sends motions of an arm: validated right before, supervised on the way, planned again where that helps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.contracts.ports import Arm
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from skill_server.params.recovery import UNREACHED
from skill_server.state import gripper_state
from skill_server.supervision.path_supervision import PathSupervision
from skill_server.supervision.supervised_arm import (
    SupervisedArm,
    excluded_by,
    planner_judge,
)

if TYPE_CHECKING:
    from .motion_steps import MotionSteps

FALSE_ALARMS = 3
"""Motions in a row that may stop for a held object which is there after all."""
PLANNER_VERDICTS = (Code.PLANNER_LOST, Code.STALE_WORLD, Code.ROBOT_LOST, Code.ARM_IN_THE_WAY)
NO_WAY = (*UNREACHED, Code.START_IN_COLLISION, Code.TRAJECTORY_REFUSED)
"""Refusals of a second plan that leave the first cause standing."""


class PlanRefused(StepFailed):
    """No trajectory was found; nothing moved since the arm last came to rest."""


class MotionInterrupted(StepFailed):
    """The arm braked on its path because the rest of it was no longer clear, or could not be judged."""


class WayBlocked(PlanRefused):
    """The arm braked because of a change of the world, and no way leads on from where it stopped."""


def go(steps: MotionSteps, plan: Callable[[Array], Trajectory], scene: SceneQuery, stage: str) -> None:
    """Send what ``plan`` makes from where the arm is (n,).

    Plans again where the held object was missed but is there, where another arm was faster, and where the world
    changed on the way.

    Raises:
        StepFailed: with the planner's, the controller's or the supervision's cause.
        Stopped: the token was set.
    """
    alarms, refusals, stops = 0, 0, list[MotionInterrupted]()
    while alarms < FALSE_ALARMS:
        try:
            then = steps.world()
            trajectory = plan(gripper_state.arm_q(then, steps.context.arm_spec))
            if send(steps, trajectory, scene, stage, then):
                return
        except MotionInterrupted as stop:  # noqa: PERF203 - a loop over motions of seconds
            stops.append(stop)
            if len(stops) > steps.context.supervision.replans:
                raise
        except StepFailed as failure:
            if stops and failure.outcome.code in NO_WAY:
                raise _no_way_left(stops[-1], failure) from failure
            refusals += 1
            _try_again(steps.context, failure, refusals)
        else:
            alarms += 1
    text = f"what is held was missed {FALSE_ALARMS} times, and was there each time the arm had stopped"
    raise StepFailed(Outcome(Code.STALE_WORLD, f"{text}; check contacts and poses", stage))


def send(steps: MotionSteps, trajectory: Trajectory, scene: SceneQuery, stage: str, then: World) -> bool:
    """Let the planner judge the trajectory again, then follow it.

    ``then``: a snapshot of before; what changes after it makes the planner judge the rest of the motion again.

    Returns:
        False when the arm stopped on the way because the held object was missed, and holds it after all.
    """
    context, token = steps.context, steps.context.token
    token.check()
    verdict = context.planner.validate(context.arm_spec.name, trajectory, scene, should_stop=token.is_set)
    token.check()
    if verdict.code is not Code.OK:
        code = verdict.code if verdict.code in PLANNER_VERDICTS else Code.TRAJECTORY_REFUSED
        text = f"the trajectory was refused right before it was sent: {verdict.message or verdict.code.name}"
        raise StepFailed(Outcome(code, text, stage, blocking=verdict.blocking))
    steps.moved = True
    arm = _supervised(context, trajectory, scene, then)
    outcome = arm.follow(trajectory, should_stop=lambda: token.is_set() or steps.watch.dropped())
    token.check()
    steps.watch.check(stage)
    if outcome.code is Code.CANCELED:
        return False
    if isinstance(arm, SupervisedArm) and arm.supervision.fault is not None and not outcome.ok:
        raise MotionInterrupted(replace(outcome, stage=stage))
    if not outcome.ok:
        raise StepFailed(replace(outcome, stage=stage))
    return True


def _supervised(context: Context, trajectory: Trajectory, scene: SceneQuery, then: World) -> Arm:
    """The arm for one motion that was judged in ``then`` or a newer world."""
    if not context.supervision.is_on:
        return context.arm
    return SupervisedArm(
        context.arm,
        PathSupervision(then, excluded_by(scene), context.supervision),
        planner_judge(context.planner, context.arm_spec.name, trajectory, scene, then),
        context.world,
        lambda world: gripper_state.arm_q(world, context.arm_spec),
        context.clock,
    )


def _no_way_left(stop: MotionInterrupted, failure: StepFailed) -> StepFailed:
    """What stopped the arm is the cause; what came of planning again is said beside it."""
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
