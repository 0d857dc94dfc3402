"""Move: shift the hand in the base frame, by offsets or so that the held object comes to be over another object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.commands import Command, Motion
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.stages.commands import stage_commands
from skill_server.stages.tool_curves import curve_stages
from skill_server.state.frame_lookup import BASE, forget_frames, frame_used
from skill_server.tool_paths.waypoints import CIRC, LIN, Leg, check_blends


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveParams(SkillParams):
    """Parameters of ``move``.

    Attributes:
        object: Object to bring over ``target``; empty: none.
        target: The other object; the level distance from ``object`` to it is added to each offset.
        delta_trans: Offsets from the present position of the hand, m, one waypoint each.
        frame: Frame whose axes the offsets have: ``base``, ``world``, an object, ``<robot>/<link>``, or any of tf.
        interim: Offsets of points on arcs, m, one for each of ``delta_trans``, which the hand then reaches on circles;
            empty: straight lines.
        blend_radii: Radius at each waypoint but the last within which the hand goes over to the next motion without
            a stop, m; 0, or an empty list: it stops.
        straight: True for straight lines, False for free paths.
        hold_vec_weight: Six weights of the present pose's components on free paths; empty: none is held.
        success_threshold: Largest distance from the goal, m.
    """

    object: str = ""
    target: str = ""
    delta_trans: tuple[tuple[float, float, float], ...] = ((0.0, 0.0, 0.0),)
    frame: str = BASE
    interim: tuple[tuple[float, float, float], ...] = ()
    blend_radii: tuple[float, ...] = ()
    straight: bool = True
    hold_vec_weight: tuple[float, ...] = ()
    success_threshold: float = 0.02


class Move(Skill[MoveParams]):
    """Shift the hand without turning it."""

    name = "move"
    params_type = MoveParams
    object_fields = ("object", "target")

    def is_feasible(self, params: MoveParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        both = bool(params.object) == bool(params.target)
        return checks.all_faults(
            (
                OK
                if both
                else checks.fault(
                    Code.CONTRADICTION, "target", "object and target go together; name both or none"
                ),
                checks.known_object("object", params.object, world) if params.object else OK,
                checks.known_object("target", params.target, world) if params.target else OK,
                OK
                if params.delta_trans
                else checks.fault(Code.BAD_GOAL, "delta_trans", "delta_trans is empty; write an offset"),
                *(
                    arm_motions.check_vector(f"delta_trans[{i}]", delta, 2.0, "m")
                    for i, delta in enumerate(params.delta_trans)
                ),
                _check_path(params),
                arm_motions.check_hold(params.hold_vec_weight),
                checks.number("success_threshold", params.success_threshold, 1e-4, 1.0, "m"),
                arm_motions.check_run(params),
            )
        )

    def commands(self, params: MoveParams, context: Context) -> Sequence[Command]:
        """Make a stage for each offset; they begin where the arm is, so that there is nothing to choose."""
        world = context.world.snapshot()
        forget_frames(context)
        way = self._way(params, context, world)
        if params.interim or params.blend_radii:
            names = [f"move {i + 1}" for i in range(len(way))]
            legs = self._legs(params, context, world)
            made = curve_stages(legs, Pose.identity(), names, params, context)
            return stage_commands((SkillStage("move"), *made), params, context)
        leaving = arm_motions.touching_now(context, world)
        motion = Motion.STRAIGHT if params.straight else Motion.FREE
        hold = None if params.straight else arm_motions.hold_of(params.hold_vec_weight)
        stages = (
            SkillStage(f"move {i}", pose, motion, leaving=leaving, hold_vec_weight=hold)
            for i, pose in enumerate(way, 1)
        )
        return stage_commands((SkillStage("move"), *stages), params, context)

    def is_success(self, params: MoveParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the hand is at the last waypoint, and the object at its place over the target."""
        last = self._way(params, context, before)[-1]
        found = arm_motions.arrived(
            last, arm_motions.hand(context, after), params.success_threshold, params.o_eps
        )
        if not found.ok or not params.object:
            return found
        base = context.world.world_T_base()
        axes = frame_used(params.frame, "frame", context, before).rotation
        wanted = axes.matrix() @ np.array(params.delta_trans[-1])
        a, b = (after.states[name].world_T_object.translation_m for name in (params.object, params.target))
        gap = float(np.linalg.norm((base.rotation.inverse().matrix() @ (b - a + wanted))[:2]))
        text = f"{params.object!r} is {gap * 1e3:.1f} mm beside its place at {params.target!r}"
        code = Code.OK if gap <= params.success_threshold else Code.NOT_IN_PLACE
        return Outcome(code, text, position_error_m=gap)

    def _legs(self, params: MoveParams, context: Context, world: World) -> list[Leg]:
        """Return the motions of a curve, from the present pose of the hand."""
        radii = [*params.blend_radii, *[0.0] * len(params.delta_trans)]
        legs = [
            Leg(
                LIN,
                pose,
                blend_m=radius,
                goal_field=f"delta_trans[{i}]",
                arc_field=f"interim[{i}]",
                blend_field=f"blend_radii[{i}]",
            )
            for i, (pose, radius) in enumerate(zip(self._way(params, context, world), radii, strict=False))
        ]
        if not params.interim:
            return legs
        via = self._way(replace(params, delta_trans=params.interim), context, world)
        return [
            replace(leg, motion=CIRC, interim=point.translation_m)
            for leg, point in zip(legs, via, strict=True)
        ]

    def _way(self, params: MoveParams, context: Context, world: World) -> list[Pose]:
        begun, base = arm_motions.world_begun(context, world), context.world.world_T_base()
        here = arm_motions.hand(context, begun)
        axes = frame_used(params.frame, "frame", context, world).rotation.matrix()
        level = np.zeros(3)
        if params.object:
            # The object is where it was with the hand there; the target may have moved since.
            a = begun.states[params.object].world_T_object.translation_m
            b = world.states[params.target].world_T_object.translation_m
            level = base.rotation.matrix() @ [*(base.rotation.inverse().matrix() @ (b - a))[:2], 0.0]
        shifts: list[Array] = [level + axes @ np.array(d) for d in params.delta_trans]
        return [Pose.of(here.translation_m + shift, here.rotation) for shift in shifts]


def _check_path(params: MoveParams) -> Outcome:
    count, found = len(params.delta_trans), []
    if params.interim and len(params.interim) != count:
        text = (
            f"interim has {len(params.interim)} points for {count} of delta_trans; give one for each, or none"
        )
        found.append(checks.fault(Code.CONTRADICTION, "interim", text))
    if params.blend_radii and len(params.blend_radii) != count - 1:
        text = f"blend_radii has {len(params.blend_radii)} radii for {count - 1} inner waypoints; give one for each"
        found.append(checks.fault(Code.CONTRADICTION, "blend_radii", text))
    else:
        radii = [(f"blend_radii[{i}]", radius) for i, radius in enumerate(params.blend_radii)]
        found.append(check_blends(radii, [LIN] * (len(radii) + 1)))
    if not params.straight:
        found.append(
            checks.without_effect(
                params, ("interim", "blend_radii"), "straight is false, so the paths are free"
            )
        )
    found += [
        arm_motions.check_vector(f"interim[{i}]", point, 2.0, "m") for i, point in enumerate(params.interim)
    ]
    return checks.all_faults(found)
