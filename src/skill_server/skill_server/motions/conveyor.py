"""Objects that move evenly, as on a belt: where they will be, and waiting for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from handiwork_core.contracts.commands import AwaitObject
from handiwork_core.contracts.ports import WorldSource
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World

if TYPE_CHECKING:
    from skill_server.execution.motion_steps import Steps

POLL_S = 0.01
STANDING_MPS = 0.005
"""An object slower than this stands."""


@dataclass(frozen=True)
class Foreseen:
    """A world source in which one object stands where it will be; all else is as it is."""

    source: WorldSource
    name: str
    world_T_object: Pose

    def snapshot(self) -> World:
        """See ``WorldSource``."""
        world = self.source.snapshot()
        there = replace(world.states[self.name], world_T_object=self.world_T_object)
        return replace(world, states={**world.states, self.name: there})

    def world_T_base(self) -> Pose:
        """See ``WorldSource``."""
        return self.source.world_T_base()


def remaining_s(world: World, name: str, point: Array, now_s: float) -> float:
    """Time until the object is at a point (3,) on its way; negative once it is past, infinite while it stands."""
    state = world.states[name]
    speed = float(np.linalg.norm(state.world_v_object))
    if speed < STANDING_MPS:
        return float("inf")
    along = state.world_v_object / speed
    way = float((point - state.world_T_object.translation_m) @ along)
    return way / speed - (now_s - state.stamp_s)


def await_object(function: AwaitObject, context: Context, steps: Steps, stage: str) -> None:
    """Return when the object comes.

    Raises:
        StepFailed: OBJECT_MOVED when it is past, gone, or does not come in time.
    """
    end_s = context.clock.now_s() + function.timeout_s
    first = True
    while True:
        world = steps.world()
        if function.object not in world.states:
            raise StepFailed(Outcome(Code.OBJECT_MOVED, f"{function.object!r} is gone from the world", stage))
        left_s = remaining_s(world, function.object, function.world_p, context.clock.now_s())
        if first and left_s < 0.8 * function.lead_s:
            text = f"{function.object!r} came before the hand: {left_s:.2f} s were left of {function.lead_s:.2f} s"
            raise StepFailed(Outcome(Code.OBJECT_MOVED, text, stage))
        if left_s <= function.lead_s:
            return
        if context.clock.now_s() > end_s:
            text = f"{function.object!r} did not come within {function.timeout_s:.1f} s"
            raise StepFailed(Outcome(Code.OBJECT_MOVED, text, stage))
        first = False
        steps.pause(POLL_S)
