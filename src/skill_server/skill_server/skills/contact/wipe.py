"""Wipe: press on an object with a force along a path on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.compliance.object_end import object_end
from skill_server.compliance.pressing import ForceHold
from skill_server.compliance.settings import push_axis
from skill_server.compliance.yielding import check_compliance
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.stages.commands import stage_commands
from skill_server.state.frame_lookup import forget_frames, frame_used
from skill_server.state.held_object import held_name

from .press import check_force, reported

STANDOFF_M = 0.015
"""Distance of the tool from the first point where the hand begins to yield, m."""
FINGER_M = 0.012
"""The fingers reach beyond the TCP by this at most, m."""
DISTANCE_M = 0.04
MOST_POINTS = 100
SLOWEST, FASTEST = 0.001, 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class WipeParams(SkillParams):
    """Parameters of ``wipe``.

    Attributes:
        object: Object that is wiped.
        points: Points of the path in the frame of the object, m, with straight lines between them.
        direction: Direction of the push in that frame; its length does not count.
        force_n: Normal force, N.
        band_n: Largest deviation of the force, N.
        speed: Speed of the hand along the path, m/s.
    """

    object: str
    points: tuple[tuple[float, float, float], ...]
    direction: tuple[float, float, float] = (0.0, 0.0, -1.0)
    force_n: float = 8.0
    band_n: float = 2.0
    speed: float = 0.02


class Wipe(Skill[WipeParams]):
    """Carry the fingers, or the held tool, over the first point; push them on; wipe; lift off by 5 mm."""

    name = "wipe"
    params_type = WipeParams
    object_fields = ("object",)

    def is_feasible(self, params: WipeParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                checks.known_object("object", params.object, world),
                _check_points(params),
                arm_motions.check_vector("direction", params.direction, 1e3, ""),
                arm_motions.check_length("direction", params.direction),
                check_force(params.force_n, params.band_n),
                checks.number("speed", params.speed, SLOWEST, FASTEST, "m/s"),
                arm_motions.check_run(params),
            )
        )

    def commands(self, params: WipeParams, context: Context) -> Sequence[Command]:
        """Make a free stage to a place over the first point, in which the hand does not turn, and the wiping."""
        check_compliance(context, "wipe with a force")
        world = context.world.snapshot()
        forget_frames(context)
        here = arm_motions.hand(context, world)
        surface = frame_used(params.object, "object", context, world)
        turn = surface.rotation.matrix()
        way = turn @ (np.array(params.direction) / np.linalg.norm(params.direction))
        push_axis(way, here, "select")
        points = surface.apply(np.array(params.points))
        tip = _tip(context, world, here, way)
        over = points[0] - tip - STANDOFF_M * way
        function = ForceHold(
            params,
            frozenset({params.object}),
            way,
            params.force_n,
            params.band_n,
            DISTANCE_M,
            0.0,
            points[1:] - points[0],
            params.speed,
        )
        stages = (
            SkillStage(
                "over the first point",
                Pose.of(over, here.rotation),
                leaving=arm_motions.touching_now(context, world),
            ),
            SkillStage("wipe", functions=(function,)),
        )
        return stage_commands(stages, params, context)

    def is_success(self, params: WipeParams, before: World, after: World, context: Context) -> Outcome:
        """Tell the force that was held."""
        return reported(context)


def _tip(context: Context, world: World, here: Pose, way: Array) -> Array:
    """Return the point that wipes, from the hand's origin in the axes of ``world``, (3,), m."""
    turned = Pose.of((0.0, 0.0, 0.0), here.rotation)
    name = held_name(context, world)
    if name in world.objects:
        reach, middle = object_end(
            world.objects[name], turned @ arm_motions.held(context, world, name).link_T_object, way
        )
        return np.asarray(middle + reach * way)
    arm = context.arm_spec
    poses = link_poses(context.robot, world.joints.position, (arm.ee_link, arm.tcp_link))
    ee_T_tcp = poses[arm.ee_link].inverse() @ poses[arm.tcp_link]
    return np.asarray((turned @ ee_T_tcp).translation_m + FINGER_M * way)


def _check_points(params: WipeParams) -> Outcome:
    if not 2 <= len(params.points) <= MOST_POINTS:
        text = f"points has {len(params.points)} points; give 2 to {MOST_POINTS}"
        return checks.fault(Code.BAD_NUMBER, "points", text)
    found = [
        arm_motions.check_vector(f"points[{i}]", point, 10.0, "m") for i, point in enumerate(params.points)
    ]
    steps = np.linalg.norm(np.diff(np.array(params.points), axis=0), axis=1)
    if all(one.ok for one in found) and not (steps > 1e-4).all():
        at = int(np.argmin(steps))
        text = f"points {at} and {at + 1} are the same place; leave one of them away"
        return checks.fault(Code.BAD_NUMBER, "points", text)
    return checks.all_faults(found) if found else OK
