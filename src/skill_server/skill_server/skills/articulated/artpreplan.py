"""Plan ahead for a part: find out whether it can be opened or closed from here, and move nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.articulation.part_motion import PartParams, check, motion_to
from skill_server.articulation.parts import part_of
from skill_server.params import checks
from skill_server.stages.commands import stage_commands


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtPreplanParams(PartParams):
    """Parameters of ``artpreplan``, beyond those of ``PartParams``.

    Attributes:
        fraction: Position that the joint would go to, from 0 closed to 1 open.
    """

    fraction: float = 0.8


class ArtPreplan(Skill[ArtPreplanParams]):
    """Choose a grasp and a path as ``open`` and ``close`` do; fail with the cause when there is none."""

    name = "artpreplan"
    params_type = ArtPreplanParams
    object_fields = ("object",)

    def is_feasible(self, params: ArtPreplanParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                check(params, arm, world),
                checks.number("fraction", params.fraction, 0.0, 1.0, "of the range"),
            )
        )

    def commands(self, params: ArtPreplanParams, context: Context) -> Sequence[Command]:
        """Look for a grasp and a path, and return a list that moves nothing."""
        world = context.world.snapshot()
        joint = part_of(params.object, world).joint
        motion_to(joint.lower + params.fraction * joint.range, params, context)
        return stage_commands((SkillStage("plan"),), params, context)

    def is_success(self, params: ArtPreplanParams, before: World, after: World, context: Context) -> Outcome:
        """Return OK: ``commands`` would have failed without a path."""
        part = part_of(params.object, after)
        return Outcome(Code.OK, f"{part.name!r} can be brought to {params.fraction:.2f} open from here")
