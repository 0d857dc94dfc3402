"""Rotate: turn a knob about its axis; success is judged by the turn of its joint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.articulation.part_motion import (
    PartParams,
    check,
    motion_to,
    settled,
)
from skill_server.articulation.parts import check_part, part_of
from skill_server.params import checks


@dataclass(frozen=True, slots=True, kw_only=True)
class RotateParams(PartParams):
    """Parameters of ``rotate``, beyond those of ``PartParams``.

    Attributes:
        angle: Turn from the present position, rad; below 0 it turns back towards closed.
    """

    angle: float = 0.785


class Rotate(Skill[RotateParams]):
    """Grasp the knob, turn the hand about the joint's axis, let go."""

    name = "rotate"
    params_type = RotateParams
    object_fields = ("object",)

    def is_feasible(self, params: RotateParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                check(params, arm, world),
                checks.number("angle", params.angle, -2.0 * math.pi, 2.0 * math.pi, "rad"),
                _check_turn(params, world),
            )
        )

    def commands(self, params: RotateParams, context: Context) -> Sequence[Command]:
        """Make the commands of the motion; the goal is kept within the joint's limits."""
        part = part_of(params.object, context.world.snapshot())
        goal = min(max(part.position + params.angle, part.joint.lower), part.joint.upper)
        return motion_to(goal, params, context)

    def is_success(self, params: RotateParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the joint turned by the angle, in its direction, within the tolerance."""
        part, then = part_of(params.object, after), part_of(params.object, before)
        calm = settled(params, part, after, context)
        if not calm.ok:
            return calm
        turned = part.position - then.position
        good = abs(turned - params.angle) <= params.tolerance * part.joint.range
        text = f"{part.name!r} turned by {turned:.3f} rad, angle is {params.angle:.3f} rad"
        return Outcome(Code.OK if good else Code.NOT_IN_PLACE, text)


def _check_turn(params: RotateParams, world: World) -> Outcome:
    if not (check_part("object", params.object, world).ok and math.isfinite(params.angle)):
        return Outcome(Code.OK)
    part = part_of(params.object, world)
    joint, goal = part.joint, part.position + params.angle
    if joint.kind is not JointKind.REVOLUTE:
        text = f"{part.name!r} slides and does not turn; use open or close"
        return checks.fault(Code.BAD_GOAL, "object", text)
    slack = params.tolerance * joint.range
    if joint.lower - slack <= goal <= joint.upper + slack:
        return Outcome(Code.OK)
    text = (
        f"angle {params.angle:g} rad would bring {part.name!r} from {part.position:.3f} to {goal:.3f}; "
        f"keep it within {joint.lower:g} to {joint.upper:g}"
    )
    return checks.fault(Code.CONTRADICTION, "angle", text)
