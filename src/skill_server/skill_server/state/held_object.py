"""The object in the hand: as recorded when it was grasped, else by measurement."""

from __future__ import annotations

from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World

from .gripper_state import held_by_measurement


def held_name(context: Context, world: World) -> str:
    """Return the name of the object that the hand holds, or an empty text.

    Args:
        context: Has the record of what is held.
        world: Shows what the fingers touch.
    """
    return next(iter(context.held), "") or held_by_measurement(world, context.robot, context.arm_spec)


def refuse_when_holding(context: Context, world: World) -> None:
    """Refuse to grasp with a hand that holds something.

    Args:
        context: Has the record of what is held.
        world: Shows what the fingers touch.

    Raises:
        StepFailed: CONTRADICTION with the name of the held object.
    """
    name = held_name(context, world)
    if name:
        text = f"the gripper already holds {name!r}; place it or open the gripper first"
        raise StepFailed(Outcome(Code.CONTRADICTION, text, "select", "object"))
