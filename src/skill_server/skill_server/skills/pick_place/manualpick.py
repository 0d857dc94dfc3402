"""Manual pick: Pick with manual corrections of every grasp: turns about the hand's axes, a shift in the base frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Context, Skill
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.grasping.antipodal_grasps import Grasp
from skill_server.grasping.finger_clearance import fingers_blocked
from skill_server.grasping.grasp_selection import wanted_grasps
from skill_server.grasping.pick_checks import check_pick
from skill_server.grasping.pick_params import PickParams
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.state import gripper_reach

from .pick import Pick

XYZ = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
EXTREMES = ("min", "max")


@dataclass(frozen=True, slots=True, kw_only=True)
class ManualPickParams(PickParams):
    """Parameters of ``manualpick``, beyond those of ``PickParams``.

    Attributes:
        manual_adjust_ori: Turns [axis of the hand, deg], applied in order.
        adjust_trans_offset: Shift of each grasp in the base frame, m.
        adjust_ori: [hand axis, base axis, min or max]: turns each grasp to the angle for which the two axes agree
            least or most; None: no such turn.
        adjust_rotate_axis: Axis of the hand for that turn.
        adjust_angle_list_cfg: Angles of that turn: [lowest deg, highest deg, count].
        pre_grasp_offset_manual: Shift of the pose before the grasp in the base frame, m.
    """

    manual_adjust_ori: tuple[tuple[str, float], ...] = ()
    adjust_trans_offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    adjust_ori: tuple[str, str, str] | None = None
    adjust_rotate_axis: str = "x"
    adjust_angle_list_cfg: tuple[float, float, int] = (-15.0, 15.0, 7)
    pre_grasp_offset_manual: tuple[float, float, float] = (0.0, 0.0, 0.0)


class _FromBeside(Pick):
    """Pick that approaches from a shifted pose."""

    def pre_grasp(self, grasp: Grasp, params: PickParams, context: Context) -> Pose:
        """See ``Pick``."""
        assert isinstance(params, ManualPickParams)
        pre = super().pre_grasp(grasp, params, context)
        base = context.world.world_T_base().rotation.matrix()
        return Pose.of(pre.translation_m + base @ np.array(params.pre_grasp_offset_manual), pre.rotation)


class ManualPick(Skill[ManualPickParams]):
    """Grasp at the corrected poses, and lift."""

    name = "manualpick"
    aliases = ("manual_pick",)
    params_type = ManualPickParams
    object_fields = ("object",)

    def is_feasible(self, params: ManualPickParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        low, high, count = params.adjust_angle_list_cfg
        axes = tuple(XYZ)
        return checks.all_faults(
            (
                check_pick(params, arm, world),
                *(
                    checks.all_faults(
                        (
                            checks.choice(f"manual_adjust_ori[{i}][0]", axis, axes),
                            checks.number(f"manual_adjust_ori[{i}][1]", angle, -360.0, 360.0, "deg"),
                        )
                    )
                    for i, (axis, angle) in enumerate(params.manual_adjust_ori)
                ),
                arm_motions.check_vector("adjust_trans_offset", params.adjust_trans_offset, 1.0, "m"),
                _check_shift(params),
                checks.choice("adjust_rotate_axis", params.adjust_rotate_axis, axes),
                checks.number("adjust_angle_list_cfg[0]", low, -180.0, 180.0, "deg"),
                checks.number("adjust_angle_list_cfg[1]", high, -180.0, 180.0, "deg"),
                checks.number("adjust_angle_list_cfg[2]", count, 1, 1000, "angles"),
                _check_extreme(params),
            )
        )

    def commands(self, params: ManualPickParams, context: Context) -> Sequence[Command]:
        """Make the commands of Pick for the corrected grasps."""
        gripper = context.arm_spec.gripper
        assert gripper is not None
        world = context.world.snapshot()
        opening = params.gripper_width or gripper.max_width_m
        grasps = wanted_grasps(params, context, world, gripper, opening)
        base = context.world.world_T_base()
        corrected = _clear(
            [_corrected(grasp.world_T_ee, params, base) for grasp in grasps], params, context, opening
        )
        # The fields that select among grasps have been applied.
        chosen = replace(
            params,
            grasp_poses=corrected,
            npy_name="",
            constraint_axis="",
            orientation_filters=(),
            direction_to_obj="",
            fixed_orientation=(),
        )
        return _FromBeside().commands(chosen, context)

    def is_success(self, params: ManualPickParams, before: World, after: World, context: Context) -> Outcome:
        """Judge as Pick does."""
        return Pick().is_success(params, before, after, context)

    def recovery_skills(self, params: ManualPickParams, lost: str) -> Sequence[tuple[Skill[Any], Any]]:
        """Return no skills: the skill can be tried again at once."""
        return ()


def _check_shift(params: ManualPickParams) -> Outcome:
    if any(params.pre_grasp_offset_manual) and params.pre_grasp_offset == 0.0:
        text = "pre_grasp_offset_manual shifts the place before the grasp, and pre_grasp_offset 0 has none; give it one"
        return checks.fault(Code.CONTRADICTION, "pre_grasp_offset_manual", text)
    return arm_motions.check_vector("pre_grasp_offset_manual", params.pre_grasp_offset_manual, 1.0, "m")


def _check_extreme(params: ManualPickParams) -> Outcome:
    if params.adjust_ori is None:
        return OK
    pose_axis, base_axis, extreme = params.adjust_ori
    return checks.all_faults(
        (
            checks.choice("adjust_ori[0]", pose_axis, tuple(XYZ)),
            checks.choice("adjust_ori[1]", base_axis, tuple(XYZ)),
            checks.choice("adjust_ori[2]", extreme, EXTREMES),
        )
    )


def _clear(
    poses: list[Pose], params: ManualPickParams, context: Context, opening_m: float
) -> tuple[Pose, ...]:
    """Return the poses at which no open finger is inside of the object; all when there is none.

    The user may know better.
    """
    world, gripper = context.world.snapshot(), context.arm_spec.gripper
    assert gripper is not None
    body, where = world.objects[params.object], world.states[params.object].world_T_object
    reach = gripper_reach.reach(context.robot, context.arm_spec, gripper)
    blocked = fingers_blocked(poses, body, where, gripper, reach, opening_m)
    return tuple(pose for pose, is_blocked in zip(poses, blocked, strict=True) if not is_blocked) or tuple(
        poses
    )


def _corrected(pose: Pose, params: ManualPickParams, world_T_base: Pose) -> Pose:
    turn = pose.rotation
    if params.adjust_ori is not None:
        low, high, count = params.adjust_angle_list_cfg
        angles = np.deg2rad(np.linspace(low, high, count))
        about = XYZ[params.adjust_rotate_axis]
        turns = [turn @ Rotation.from_axis_angle(about, float(angle)) for angle in angles]
        ours, theirs, extreme = params.adjust_ori
        base_R_world = world_T_base.rotation.inverse()
        agree = [np.dot((base_R_world @ one).matrix() @ XYZ[ours], XYZ[theirs]) for one in turns]
        turn = turns[int(np.argmin(agree) if extreme == "min" else np.argmax(agree))]
    for axis, angle in params.manual_adjust_ori:
        turn = turn @ Rotation.from_axis_angle(XYZ[axis], float(np.deg2rad(angle)))
    shift = world_T_base.rotation.matrix() @ np.array(params.adjust_trans_offset)
    return Pose.of(pose.translation_m + shift, turn)
