"""Track: visit random poses over an object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.scene.bounds import world_aabb
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.stages.commands import stage_commands
from skill_server.stages.selection import choose_stages

TRIES = 32
"""The draws of each waypoint; the first one that can be reached is taken."""
WITHIN_M, WITHIN_RAD = 0.005, 0.087


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """Lowest and highest components, m."""

    min: tuple[float, float, float] = (-0.1, -0.1, 0.3)
    max: tuple[float, float, float] = (0.1, 0.1, 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackParams(SkillParams):
    """Parameters of ``track``.

    Attributes:
        object: Object to track.
        way_points_num: Number of waypoints.
        way_points_trans: Range of the waypoints from the centre of the object's top, world axes, m.
        way_points_ori: Orientation in the base, w, x, y, z; None keeps the hand's.
        max_noise_deg: Largest turn of each waypoint about a random axis, deg.
        gripper_state: Gripper before the motions: 1 open, -1 closed, 0 unchanged.
    """

    object: str
    way_points_num: int = 1
    way_points_trans: Between = field(default_factory=Between)
    way_points_ori: tuple[float, float, float, float] | None = None
    max_noise_deg: float = 5.0
    gripper_state: int = arm_motions.KEEP


class Track(Skill[TrackParams]):
    """Visit poses one after the other."""

    name = "track"
    params_type = TrackParams
    object_fields = ("object",)

    def is_feasible(self, params: TrackParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        between = params.way_points_trans
        return checks.all_faults(
            (
                checks.known_object("object", params.object, world),
                checks.number("way_points_num", params.way_points_num, 1, 100, "waypoints"),
                arm_motions.check_vector("way_points_trans.min", between.min, 5.0, "m"),
                arm_motions.check_vector("way_points_trans.max", between.max, 5.0, "m"),
                arm_motions.check_range("way_points_trans", between.min, between.max),
                checks.number("max_noise_deg", params.max_noise_deg, 0.0, 180.0, "deg"),
                _check_turn(params),
                arm_motions.check_gripper_state(params.gripper_state, arm),
                arm_motions.check_run(params),
            )
        )

    def commands(self, params: TrackParams, context: Context) -> Sequence[Command]:
        """Make a free motion to each waypoint, each chosen among draws of its own."""
        world = context.world.snapshot()
        leaving = arm_motions.touching_now(context, world)
        made = [SkillStage("track", functions=arm_motions.gripper_functions(params.gripper_state))]
        for i in range(1, params.way_points_num + 1):
            draws = enumerate(_draws(params, context, world))
            stages = [
                (SkillStage(f"waypoint {i}", pose, leaving=leaving, cost=0.01 * k),) for k, pose in draws
            ]
            made += choose_stages(stages, params, context)
        return stage_commands(made, params, context)

    def is_success(self, params: TrackParams, before: World, after: World, context: Context) -> Outcome:
        """Check that the hand ended within the range over the object, turned as asked within the noise."""
        here, top = arm_motions.hand(context, after), _top(params, before)
        between, room = params.way_points_trans, WITHIN_M + params.t_eps
        low, high = top + np.array(between.min) - room, top + np.array(between.max) + room
        inside = bool((here.translation_m >= low).all() and (here.translation_m <= high).all())
        off = _turn(params, context, before).angle_to(here.rotation)
        good = inside and off <= WITHIN_RAD + np.deg2rad(params.max_noise_deg)
        text = f"the hand is at {np.round(here.translation_m, 3).tolist()}, {off:.3f} rad off"
        return Outcome(Code.OK if good else Code.NOT_REACHED, text, angle_error_rad=off)


def _check_turn(params: TrackParams) -> Outcome:
    try:
        Rotation.from_wxyz(params.way_points_ori or (1.0, 0.0, 0.0, 0.0))
    except ValueError as error:
        return checks.fault(Code.BAD_NUMBER, "way_points_ori", str(error))
    return Outcome(Code.OK)


def _top(params: TrackParams, world: World) -> Array:
    low, high = world_aabb(world.objects[params.object], world.states[params.object].world_T_object)
    return np.array([*(low[:2] + high[:2]) / 2.0, high[2]])


def _turn(params: TrackParams, context: Context, world: World) -> Rotation:
    if params.way_points_ori is None:
        return arm_motions.hand(context, arm_motions.world_begun(context, world)).rotation
    return context.world.world_T_base().rotation @ Rotation.from_wxyz(params.way_points_ori)


def _draws(params: TrackParams, context: Context, world: World) -> list[Pose]:
    top, turn, between = _top(params, world), _turn(params, context, world), params.way_points_trans
    points = top + context.rng.uniform(between.min, between.max, (TRIES, 3))
    return [arm_motions.noisy(Pose.of(p, turn), 0.0, params.max_noise_deg, context.rng) for p in points]
