"""Rotate object: turn the held object about its own axes, and shift it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.commands import Command, DummyForward
from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions import arm_motions
from skill_server.params import checks, joint_list
from skill_server.params.joint_list import JointList
from skill_server.stages.commands import stage_commands
from skill_server.stages.selection import choose_stages
from skill_server.state import gripper_state

Range = tuple[tuple[float, float, float], tuple[float, float, float]]
FIRST = ("", "move", "rotate")


@dataclass(frozen=True, slots=True, kw_only=True)
class RotateObjParams(SkillParams):
    """Parameters of ``rotate_obj``.

    Attributes:
        rotate_obj_euler_delta: Lowest and highest turns about the object's x, new y, new z, deg; drawn between the two.
        object: Held object; empty: the one in the hand.
        obj_axis_offset: Entries [axis, m] that shift the point of the object that stays in place.
        trans_offset: Shift in the base frame, m.
        first_motion: ``move`` or ``rotate`` does that part first; empty does both at once.
        ctrl_list: Joints that are moved before all this, as in ``joint_ctrl``.
        success_threshold_move: Largest distance of that point from its goal, m.
        success_threshold_rotate: Largest angle from the goal, rad.
    """

    rotate_obj_euler_delta: Range
    object: str = ""
    obj_axis_offset: tuple[tuple[str, float], ...] = ()
    trans_offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    first_motion: str = ""
    ctrl_list: JointList = ()
    success_threshold_move: float = 0.03
    success_threshold_rotate: float = 0.15


class RotateObj(Skill[RotateObjParams]):
    """Turn the held object on free paths."""

    name = "rotate_obj"
    params_type = RotateObjParams
    object_fields = ("object",)

    def is_feasible(self, params: RotateObjParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        low, high = params.rotate_obj_euler_delta
        return checks.all_faults(
            (
                checks.with_gripper(arm),
                checks.known_object("object", params.object, world) if params.object else OK,
                arm_motions.check_vector("rotate_obj_euler_delta[0]", low, 360.0, "deg"),
                arm_motions.check_vector("rotate_obj_euler_delta[1]", high, 360.0, "deg"),
                arm_motions.check_range("rotate_obj_euler_delta", low, high),
                arm_motions.check_vector("trans_offset", params.trans_offset, 2.0, "m"),
                checks.choice("first_motion", params.first_motion, FIRST),
                *(
                    checks.choice(f"obj_axis_offset[{i}][0]", axis, tuple(arm_motions.AXES))
                    for i, (axis, _) in enumerate(params.obj_axis_offset)
                ),
                checks.number("success_threshold_move", params.success_threshold_move, 1e-4, 1.0, "m"),
                checks.number("success_threshold_rotate", params.success_threshold_rotate, 1e-3, 4.0, "rad"),
                joint_list.check(params.ctrl_list, robot, arm, gripper_state.arm_q(world, arm)),
                arm_motions.check_run(params),
            )
        )

    def commands(self, params: RotateObjParams, context: Context) -> Sequence[Command]:
        """Make the motion to the goal, after a waypoint where one is asked for; each is free, and chosen for itself."""
        world = context.world.snapshot()
        poses = self._poses(params, context, world)
        leaving = arm_motions.touching_now(context, world)
        made = [SkillStage("rotate")]
        if params.ctrl_list:
            joints = DummyForward(self._begin_q(params, context, world))
            made.append(SkillStage("joints", functions=(joints,), leaving=leaving))
        for pose in poses:
            made += choose_stages([(SkillStage("rotate", pose, leaving=leaving),)], params, context)
        return stage_commands(made, params, context)

    def is_success(self, params: RotateObjParams, before: World, after: World, context: Context) -> Outcome:
        """Check the object's turn and the position of its fixed point; both fail when it slipped too far."""
        held = arm_motions.held(context, after, params.object)
        then, now = self._begin(params, context, before, held), after.states[held.object].world_T_object
        point = _pivot(params)
        base = context.world.world_T_base()
        wanted = then.apply(point) + base.rotation.matrix() @ np.array(params.trans_offset)
        gap = float(np.linalg.norm(now.apply(point) - wanted))
        # The same seed draws the same angles.
        turn = then.rotation @ _intrinsic_xyz(_angles(params, context.seed))
        off = turn.angle_to(now.rotation)
        good = gap <= params.success_threshold_move and off <= params.success_threshold_rotate
        text = f"{held.object!r} is {gap * 1e3:.1f} mm and {off:.3f} rad from its goal"
        return Outcome(
            Code.OK if good else Code.NOT_IN_PLACE, text, position_error_m=gap, angle_error_rad=off
        )

    def _poses(self, params: RotateObjParams, context: Context, world: World) -> list[Pose]:
        held = arm_motions.held(context, world, params.object)
        now = self._begin(params, context, world, held)
        about = Pose.of(_pivot(params))
        turn = about @ Pose.of((0.0, 0.0, 0.0), _intrinsic_xyz(_angles(params, context.seed)))
        turned = now @ turn @ about.inverse()
        shift = context.world.world_T_base().rotation.matrix() @ np.array(params.trans_offset)
        goals = [Pose.of(turned.translation_m + shift, turned.rotation)]
        if params.first_motion == "move":
            goals.insert(0, Pose.of(now.translation_m + shift, now.rotation))
        elif params.first_motion == "rotate":
            goals.insert(0, turned)
        return [goal @ held.link_T_object.inverse() for goal in goals]

    def _begin_q(self, params: RotateObjParams, context: Context, world: World) -> Array:
        """Return the configuration (dof,) after ``ctrl_list``."""
        q = gripper_state.arm_q(arm_motions.world_begun(context, world), context.arm_spec)
        return joint_list.goal(params.ctrl_list, context.robot, context.arm_spec, q)

    def _begin(self, params: RotateObjParams, context: Context, world: World, held: Attachment) -> Pose:
        """Return the pose of the object in the world after ``ctrl_list``."""
        if not params.ctrl_list:
            return arm_motions.world_begun(context, world).states[held.object].world_T_object
        return arm_motions.hand_at(context, self._begin_q(params, context, world)) @ held.link_T_object


def _angles(params: RotateObjParams, seed: int) -> Sequence[float]:
    low, high = params.rotate_obj_euler_delta
    rng = np.random.default_rng(seed & (2**64 - 1))
    return [float(angle) for angle in rng.uniform(low, high)]


def _pivot(params: RotateObjParams) -> Array:
    """Return the point (3,) of the object that stays in place."""
    return sum((m * np.array(arm_motions.AXES[name]) for name, m in params.obj_axis_offset), np.zeros(3))


def _intrinsic_xyz(angles_deg: Sequence[float]) -> Rotation:
    """Return the rotation by turns [deg] about x, then the new y, then the new z."""
    turned = Rotation.identity()
    for axis, angle in zip(np.eye(3), angles_deg, strict=True):
        turned = turned @ Rotation.from_axis_angle(axis, math.radians(angle))
    return turned
