"""Commands that meet a target which moves evenly: they lead to where it will be, and wait there before the last way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from handiwork_core.contracts.commands import AwaitObject, Command, Motion
from handiwork_core.contracts.planning import SceneQuery, StraightGoal
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from skill_server.motions.conveyor import PredictedWorld
from skill_server.motions.planner_requests import plan_motion
from skill_server.params.protocol import RunParams

from .expected_targets import ExpectedTargets

AHEAD_S = (2.0, 3.0, 4.5, 6.5)
"""Times ahead for which commands are chosen, until the arm is there in time, s."""
SETTLE_S = 0.5
"""Time for arriving before the last way begins, beside the motion, s."""
HAND_S = 0.15
"""Time from the planned end of the last way until fingers begin to move, s."""

Make = Callable[[Context], Sequence[Command]]


def commands_to_meet(
    make: Make, velocities: Mapping[str, Array], before: World, params: RunParams, context: Context
) -> Sequence[Command]:
    """Choose commands for targets that move.

    Args:
        make: Makes the commands of the skill in a context, in whose world the targets are ahead.
        velocities: Velocity of each target, (3,), m/s; one target at least.
        before: Snapshot from which the velocities count.
        params: Parameters of the goal.
        context: Context of the run; the planning time is added to its own.

    Returns:
        The commands, with a wait before the first straight motion.

    Raises:
        StepFailed: Nothing can be done at any place ahead; the outcome of the last one.
        Stopped: The token was set.
    """
    name = next(iter(velocities))
    expected = ExpectedTargets(before, velocities)
    late = Outcome(Code.NO_CANDIDATE, f"{name!r} passes before the hand can be there; slow it down", "select")
    for ahead_s in AHEAD_S:
        arrival_s = context.clock.now_s() + ahead_s
        there = expected.at(name, arrival_s)
        ahead = replace(context, world=PredictedWorld(context.world, name, there))
        try:
            commands = make(ahead)
        except StepFailed as failure:
            if failure.outcome.code is not Code.NO_CANDIDATE:
                raise
            late = failure.outcome
            continue
        finally:
            context.planning_time_s = ahead.planning_time_s
        last = next((i for i, c in enumerate(commands) if c.motion is Motion.STRAIGHT), None)
        if last is None:
            text = f"{name!r} moves, and no straight motion leads to it that could wait; slow it down"
            raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select"))
        lead_s = _lasts_s(commands[:last], commands[last], params, context) + HAND_S
        way_s = sum(c.planned.duration_s for c in commands[:last] if c.planned is not None)
        if arrival_s - context.clock.now_s() >= way_s + lead_s + SETTLE_S:
            wait = AwaitObject(name, there.translation_m, lead_s, 2.0 * AHEAD_S[-1])
            return (*commands[:last], Command("wait", wait), *commands[last:])
    raise StepFailed(late)


def _lasts_s(begun: Sequence[Command], last: Command, params: RunParams, context: Context) -> float:
    """Return the duration of the last way [s], by a plan of it that is not followed and avoids nothing."""
    start = next((c.q for c in reversed(begun) if c.q is not None), None)
    if start is None or last.world_T_ee is None:
        return 0.0
    scene = SceneQuery(ignored=frozenset(context.world.snapshot().objects))
    goal = StraightGoal(last.world_T_ee)
    result = plan_motion(context, params, np.asarray(start), goal, scene, speed=last.speed)
    if result.trajectory is None:
        text = f"no straight way to meet the target: {result.message or result.code.name}"
        raise StepFailed(Outcome(Code.NO_CANDIDATE, text, "select", blocking=result.blocking))
    return result.trajectory.duration_s
