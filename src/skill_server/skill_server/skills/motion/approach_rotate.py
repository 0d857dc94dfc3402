"""Approach and rotate: bring the held object near another one, one of its axes pointing there, turned as asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.stages.staged_skill import StagedSkill

Range = tuple[tuple[float, float, float], tuple[float, float, float]]
MODES = ("random", "towards")


@dataclass(frozen=True, slots=True, kw_only=True)
class RotateSpec:
    """New orientation of the held object.

    Attributes:
        type: ``random``: fixed-axis x, y, z angles drawn from ``rotate_obj_euler``; ``towards``: (90, 0, yaw to the
            target) deg.
        rotate_obj_euler: Lowest and highest angles, deg.
        success_threshold: Largest angle of the object from that orientation, rad.
    """

    type: str
    rotate_obj_euler: Range = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    success_threshold: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproachRotateParams(SkillParams):
    """Parameters of ``approach_rotate``.

    Attributes:
        target: Object to point at.
        object: Held object; empty: the one in the hand.
        approach_axis: Axis of the held object that points at ``target``, seen from above.
        distance: Distance from ``target``, m.
        obj_yaw_offset: Turn of that direction about the vertical, deg.
        obj_axis_offset: Entries [axis, m] that shift the driven point of the object.
        z_offset: Height above the present height, m.
        rotate: New orientation; None keeps the present one.
        hold_vec_weight: Six weights of the present pose's components on the path; empty: none is held.
        success_threshold: Largest distance from the goal, seen from above, m.
    """

    target: str
    object: str = ""
    approach_axis: str = "+x"
    distance: float = 0.1
    obj_yaw_offset: float = 0.0
    obj_axis_offset: tuple[tuple[str, float], ...] = ()
    z_offset: float = 0.0
    rotate: RotateSpec | None = None
    hold_vec_weight: tuple[float, ...] = ()
    success_threshold: float = 0.02


class ApproachRotate(StagedSkill[ApproachRotateParams]):
    """Carry the held object to a place before another one."""

    name = "approach_rotate"
    params_type = ApproachRotateParams
    object_fields = ("object", "target")

    def is_feasible(self, params: ApproachRotateParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        same = checks.fault(Code.CONTRADICTION, "target", "object and target are the same; name two objects")
        return checks.all_faults(
            (
                checks.with_gripper(arm),
                checks.known_object("target", params.target, world),
                checks.known_object("object", params.object, world) if params.object else OK,
                same if params.object == params.target else OK,
                checks.choice("approach_axis", params.approach_axis, tuple(arm_motions.AXES)),
                checks.number("distance", params.distance, 0.0, 2.0, "m"),
                checks.number("obj_yaw_offset", params.obj_yaw_offset, -360.0, 360.0, "deg"),
                checks.number("z_offset", params.z_offset, -2.0, 2.0, "m"),
                checks.number("success_threshold", params.success_threshold, 1e-4, 1.0, "m"),
                *(
                    checks.choice(f"obj_axis_offset[{i}][0]", axis, tuple(arm_motions.AXES))
                    for i, (axis, _) in enumerate(params.obj_axis_offset)
                ),
                _check_rotate(params.rotate),
                arm_motions.check_hold(params.hold_vec_weight),
                arm_motions.check_run(params),
            )
        )

    def stages(self, params: ApproachRotateParams, context: Context) -> Sequence[Sequence[SkillStage]]:
        """Make one free motion with the object."""
        world = context.world.snapshot()
        target = self._target(params, context, world, _turn(params, context, world))
        leaving = arm_motions.touching_now(context, world)
        hold = arm_motions.hold_of(params.hold_vec_weight)
        return [(SkillStage("approach", target, leaving=leaving, hold_vec_weight=hold),)]

    def is_success(
        self, params: ApproachRotateParams, before: World, after: World, context: Context
    ) -> Outcome:
        """Check that the object is at its place for its measured orientation, seen from above, AND turned as asked."""
        grip = arm_motions.held(context, after, params.object)
        now = after.states[grip.object].world_T_object
        wanted = _place(params, after.states[params.target].world_T_object, now)
        gap = float(np.linalg.norm((now.translation_m - wanted)[:2]))
        text = f"{grip.object!r} is {gap * 1e3:.1f} mm from its place before {params.target!r}"
        good = gap <= params.success_threshold
        if params.rotate is None:
            return Outcome(Code.OK if good else Code.NOT_IN_PLACE, text, position_error_m=gap)
        # The same seed draws the same turn.
        off = _turn(params, context, before).angle_to(now.rotation)
        good = good and off <= params.rotate.success_threshold
        text = f"{text}, and {off:.3f} rad from its turn"
        code = Code.OK if good else Code.NOT_IN_PLACE
        return Outcome(code, text, position_error_m=gap, angle_error_rad=off)

    def _target(self, params: ApproachRotateParams, context: Context, world: World, turn: Rotation) -> Pose:
        grip = arm_motions.held(context, world, params.object)
        now = world.states[grip.object].world_T_object
        turned = Pose.of(now.translation_m, turn)
        point = _place(params, world.states[params.target].world_T_object, turned)
        height = float(now.translation_m[2]) + params.z_offset
        return Pose.of((point[0], point[1], height), turn) @ grip.link_T_object.inverse()


def _check_rotate(rotate: RotateSpec | None) -> Outcome:
    if rotate is None:
        return OK
    low, high = rotate.rotate_obj_euler
    return checks.all_faults(
        (
            checks.choice("rotate.type", rotate.type, MODES),
            arm_motions.check_vector("rotate.rotate_obj_euler[0]", low, 360.0, "deg"),
            arm_motions.check_vector("rotate.rotate_obj_euler[1]", high, 360.0, "deg"),
            arm_motions.check_range("rotate.rotate_obj_euler", low, high),
            checks.number("rotate.success_threshold", rotate.success_threshold, 1e-3, 4.0, "rad"),
        )
    )


def _turn(params: ApproachRotateParams, context: Context, world: World) -> Rotation:
    """Return the object's new orientation in the world: of one seed the same, and another after a refused candidate."""
    grip = arm_motions.held(context, world, params.object)
    now = world.states[grip.object].world_T_object
    if params.rotate is None:
        return now.rotation
    if params.rotate.type == "random":
        low, high = params.rotate.rotate_obj_euler
        rng = np.random.default_rng((context.seed & (2**64 - 1), len(context.refused)))
        roll, pitch, yaw = np.deg2rad(rng.uniform(low, high))
        return Rotation.from_rpy(float(roll), float(pitch), float(yaw))
    to = world.states[params.target].world_T_object.translation_m - now.translation_m
    return Rotation.from_rpy(math.pi / 2.0, 0.0, math.atan2(float(to[1]), float(to[0])))


def _place(params: ApproachRotateParams, target: Pose, turned: Pose) -> Array:
    """Return the goal (3,) of the object's origin in the world for this orientation, at the height of ``turned``."""
    axis = turned.rotation.matrix() @ np.array(arm_motions.AXES[params.approach_axis])
    flat = np.array([axis[0], axis[1], 0.0])
    length = float(np.linalg.norm(flat))
    # An axis that points straight up has no direction seen from above: the object is then right over the target.
    flat = flat / length if length > 1e-6 else np.zeros(3)
    yaw = math.radians(params.obj_yaw_offset)
    flat = Rotation.from_axis_angle((0.0, 0.0, 1.0), yaw).matrix() @ flat
    shift = sum(
        (length * np.array(arm_motions.AXES[name]) for name, length in params.obj_axis_offset), np.zeros(3)
    )
    point = target.translation_m - params.distance * flat - turned.rotation.matrix() @ shift
    return np.array([point[0], point[1], turned.translation_m[2]])
