"""Open: pull a drawer or a door open by its handle; success is judged by the measured joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.articulation.part_motion import (
    PartParams,
    check,
    motion_to,
    settled,
)
from skill_server.articulation.parts import part_of
from skill_server.params import checks

MODES = ("fraction", "abs", "normal")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenParams(PartParams):
    """Parameters of ``open``, beyond those of ``PartParams``.

    Attributes:
        fraction: Wanted position, from 0 closed to 1 open.
        success_mode: ``fraction``: it is at least ``fraction`` open, less ``tolerance``; ``abs``: the joint moved by at
            least ``success_threshold`` in either direction; ``normal``: it did so in the direction of opening.
        success_threshold: Threshold of the last two modes, m or rad.
    """

    fraction: float = 0.8
    success_mode: str = "fraction"
    success_threshold: float = 0.0


class Open(Skill[OpenParams]):
    """Grasp the handle, follow the path of the joint, let go."""

    name = "open"
    params_type = OpenParams
    object_fields = ("object",)

    def is_feasible(self, params: OpenParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                check(params, arm, world),
                checks.number("fraction", params.fraction, 0.0, 1.0, "of the range"),
                checks.choice("success_mode", params.success_mode, MODES),
                checks.number("success_threshold", params.success_threshold, 0.0, 10.0, "m or rad"),
            )
        )

    def commands(self, params: OpenParams, context: Context) -> Sequence[Command]:
        """Make the commands of the motion; a part that is farther open stays so."""
        part = part_of(params.object, context.world.snapshot())
        goal = part.joint.lower + params.fraction * part.joint.range
        return motion_to(max(goal, part.position), params, context)

    def is_success(self, params: OpenParams, before: World, after: World, context: Context) -> Outcome:
        """Judge by the measured joint."""
        part, then = part_of(params.object, after), part_of(params.object, before)
        calm = settled(params, part, after, context)
        if not calm.ok:
            return calm
        moved = part.position - then.position
        if params.success_mode == "fraction":
            good = part.share >= params.fraction - params.tolerance
        else:
            way = abs(moved) if params.success_mode == "abs" else moved
            good = way >= params.success_threshold
        text = f"{part.name!r} is {part.share:.2f} open; it moved by {moved:.3f} {part.joint.unit}"
        return Outcome(Code.OK if good else Code.NOT_IN_PLACE, text)
