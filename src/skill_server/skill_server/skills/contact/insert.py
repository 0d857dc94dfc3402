"""Insert: put the held object into a hole, with a search and a bounded force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.compliance.insertion import CompliantInsertion
from skill_server.compliance.object_end import object_end
from skill_server.compliance.settings import push_axis
from skill_server.compliance.yielding import check_compliance
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.stages.commands import stage_commands
from skill_server.state.frame_lookup import forget_frames, frame_used

LEAST_N, MOST_N = 10.0, 100.0
DEEPEST_M, FARTHEST_M, WIDEST_M = 0.3, 0.02, 0.01
STANDOFF_M = 0.005
"""Distance of the peg from the opening where the hand begins to yield, m."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertParams(SkillParams):
    """Parameters of ``insert``.

    Attributes:
        object: Held object; empty: the one in the hand.
        container: Object with the hole, which may be touched.
        position: Middle of the hole's opening in the frame of the container, m; wrong by ``search_radius`` at most.
        direction: Direction into the hole in that frame; its length does not count.
        depth: How far the end of the held object goes into the hole, m.
        force_n: Greatest force on the tool, N.
        search_radius: Radius of the search about ``position``, m.
        clearance: Play between the object and the hole: the difference of their widths, m.
    """

    object: str = ""
    container: str
    depth: float
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    direction: tuple[float, float, float] = (0.0, 0.0, -1.0)
    force_n: float = 20.0
    search_radius: float = 0.005
    clearance: float = 0.001


class Insert(Skill[InsertParams]):
    """Carry the held object over the hole, and insert it."""

    name = "insert"
    params_type = InsertParams
    object_fields = ("object", "container")

    def is_feasible(self, params: InsertParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                checks.known_object("object", params.object, world) if params.object else OK,
                checks.known_object("container", params.container, world),
                arm_motions.check_vector("position", params.position, 10.0, "m"),
                arm_motions.check_vector("direction", params.direction, 1e3, ""),
                arm_motions.check_length("direction", params.direction),
                checks.number("depth", params.depth, 0.001, DEEPEST_M, "m"),
                checks.number("force_n", params.force_n, LEAST_N, MOST_N, "N"),
                checks.number("search_radius", params.search_radius, 0.0005, FARTHEST_M, "m"),
                checks.number("clearance", params.clearance, 0.0002, WIDEST_M, "m"),
                arm_motions.check_run(params),
            )
        )

    def commands(self, params: InsertParams, context: Context) -> Sequence[Command]:
        """Make a free stage to a place over the hole, in which the hand does not turn, and the insertion."""
        check_compliance(context, "insert")
        world = context.world.snapshot()
        forget_frames(context)
        here = arm_motions.hand(context, world)
        held = arm_motions.held(context, world, params.object)
        hole = frame_used(params.container, "container", context, world)
        way = hole.rotation.matrix() @ np.array(params.direction)
        way = way / np.linalg.norm(way)
        push_axis(way, here, "select")
        opening = hole.apply(params.position)
        turned = Pose.of((0.0, 0.0, 0.0), here.rotation) @ held.link_T_object
        reach, middle = object_end(world.objects[held.object], turned, way)
        over = opening - middle - (reach + STANDOFF_M) * way
        inserted = float(opening @ way) - reach + params.depth
        function = CompliantInsertion(
            params,
            frozenset({params.container}),
            way,
            inserted,
            params.force_n,
            params.search_radius,
            params.clearance,
        )
        stages = (
            SkillStage(
                "over the hole",
                Pose.of(over, here.rotation),
                leaving=arm_motions.touching_now(context, world),
            ),
            SkillStage("insert", functions=(function,), touching=function.touching),
        )
        return stage_commands(stages, params, context)

    def is_success(self, params: InsertParams, before: World, after: World, context: Context) -> Outcome:
        """Tell the force; that the depth is reached ended the insertion."""
        if context.contact is None:
            return Outcome(Code.NOT_REACHED, "the insertion did not end")
        text = f"inserted by {1e3 * params.depth:g} mm; {context.contact.message}"
        return Outcome(Code.OK, text)
