"""Go to pose: bring the hand, or what it holds, to a position, with an orientation given, sampled or kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.commands import Motion
from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.geometry.orientation_cones import Cone, OrientationFilter, cones_of
from skill_server.geometry.rotation_sampler import sample_rotations
from skill_server.motions import arm_motions
from skill_server.params import checks
from skill_server.params.candidate_test import CandidateTest
from skill_server.stages.staged_skill import StagedSkill

N_SAMPLES = 32
WITHIN_M, WITHIN_RAD = 0.005, 0.087


@dataclass(frozen=True, slots=True, kw_only=True)
class GotoPoseParams(SkillParams):
    """Parameters of ``goto_pose``.

    With filters, or an axis of the held object to be aligned, the orientation is sampled. Without them, and without
    ``euler`` and ``quaternion``, the present orientation is kept.

    Attributes:
        position: Goal, m.
        frame: Frame of ``position``, ``base`` or ``world``.
        euler: Orientation in the base as fixed-axis x, y, z angles, deg.
        quaternion: Orientation in the base, w, x, y, z.
        orientation_filters: Constraints of the orientation.
        align_obj_axis: Axis of the held object, in its frame; all zero: none is aligned.
        align_ref_axis: Axis of the base to align it with.
        align_obj_tol: Largest angle between the two, deg.
        position_constraint: ``gripper`` drives the EE to the position, ``object`` the origin of the held object.
        object: Held object; empty: the one in the hand.
        max_noise_m: Largest noise of each coordinate, uniform, m.
        max_noise_deg: Largest angle of a turn about a random axis, uniform, deg.
        interp_nums: Above 1: number of waypoints on a straight line.
        gripper_state: Gripper at the end: 1 open, -1 closed, 0 unchanged.
        test_mode: ``forward`` plans the path before an orientation is taken, but for straight lines; ``ik`` checks
            poses alone.
    """

    position: tuple[float, float, float]
    frame: str = "base"
    euler: tuple[float, float, float] | None = None
    quaternion: tuple[float, float, float, float] | None = None
    orientation_filters: tuple[OrientationFilter, ...] = ()
    align_obj_axis: tuple[float, float, float] = (0.0, 0.0, 0.0)
    align_ref_axis: tuple[float, float, float] = (0.0, 0.0, 0.0)
    align_obj_tol: float = 0.0
    position_constraint: str = "gripper"
    object: str = ""
    max_noise_m: float = 0.0
    max_noise_deg: float = 0.0
    interp_nums: int = 1
    gripper_state: int = arm_motions.KEEP
    test_mode: str = CandidateTest.FORWARD.value

    @property
    def is_aligned(self) -> bool:
        """True when the held object's axis is to be aligned."""
        return any(self.align_obj_axis)


class GotoPose(StagedSkill[GotoPoseParams]):
    """Go to one pose."""

    name = "goto_pose"
    params_type = GotoPoseParams
    object_fields = ("object",)

    def is_feasible(self, params: GotoPoseParams, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``."""
        return checks.all_faults(
            (
                arm_motions.check_vector("position", params.position, 5.0, "m"),
                checks.choice("frame", params.frame, ("base", "world")),
                checks.choice("position_constraint", params.position_constraint, ("gripper", "object")),
                checks.known_object("object", params.object, world) if params.object else OK,
                _check_orientation(params),
                checks.number("max_noise_m", params.max_noise_m, 0.0, 1.0, "m"),
                checks.number("max_noise_deg", params.max_noise_deg, 0.0, 180.0, "deg"),
                checks.choice("test_mode", params.test_mode, tuple(mode.value for mode in CandidateTest)),
                checks.number("interp_nums", params.interp_nums, 1, 100, "waypoints"),
                arm_motions.check_gripper_state(params.gripper_state, arm),
                arm_motions.check_run(params),
            )
        )

    def stages(self, params: GotoPoseParams, context: Context) -> Sequence[Sequence[SkillStage]]:
        """Make the way to each orientation, the first orientation first."""
        world = context.world.snapshot()
        leaving = arm_motions.touching_now(context, world)
        motion = Motion.STRAIGHT if params.interp_nums > 1 else Motion.FREE
        arrive = SkillStage("arrive", functions=arm_motions.gripper_functions(params.gripper_state))
        made = []
        for i, goal in enumerate(_targets(params, context, world)):
            way = (
                SkillStage("go", pose, motion, leaving=leaving, waypoint=f"waypoint {k}")
                for k, pose in enumerate(_way(goal, params, context, world), 1)
            )
            made.append((*way, replace(arrive, cost=0.01 * i)))
        return made

    def is_success(self, params: GotoPoseParams, before: World, after: World, context: Context) -> Outcome:
        """Check the position AND the angle, where there is one, within the tolerance and the noise."""
        here = arm_motions.hand(context, after)
        if params.position_constraint == "object" and context.held:
            here = here @ arm_motions.held(context, after).link_T_object
        wanted = _point(params, context)
        gap = float(np.linalg.norm(here.translation_m - wanted))
        allowed = WITHIN_M + params.t_eps + params.max_noise_m * 3.0**0.5
        turn = _turn_of(params)
        off = 0.0
        if turn is not None and params.position_constraint == "gripper":
            off = (context.world.world_T_base().rotation @ turn).angle_to(here.rotation)
        good = gap <= allowed and off <= WITHIN_RAD + np.deg2rad(params.max_noise_deg)
        text = f"{gap * 1e3:.1f} mm and {off:.3f} rad from the target"
        return Outcome(Code.OK if good else Code.NOT_REACHED, text, position_error_m=gap, angle_error_rad=off)


def _check_orientation(params: GotoPoseParams) -> Outcome:
    given = [name for name in ("euler", "quaternion") if getattr(params, name) is not None]
    given += ["orientation_filters"] if params.orientation_filters else []
    given += ["align_obj_axis"] if params.is_aligned else []
    found = [
        checks.filters("orientation_filters", params.orientation_filters),
        checks.number("align_obj_tol", params.align_obj_tol, 0.0, 180.0, "deg"),
    ]
    if len(given) > 1 and given[0] in ("euler", "quaternion"):
        text = f"{given[0]} fixes the orientation, so {given[1]} cannot apply; keep one of the two"
        found.append(checks.fault(Code.CONTRADICTION, given[1], text))
    if params.quaternion is not None:
        try:
            Rotation.from_wxyz(params.quaternion)
        except ValueError as error:
            found.append(checks.fault(Code.BAD_NUMBER, "quaternion", str(error)))
    if params.is_aligned and not (any(params.align_ref_axis) and params.align_obj_tol > 0.0):
        text = "align_obj_axis needs align_ref_axis and an align_obj_tol above 0; set all three or none"
        found.append(checks.fault(Code.CONTRADICTION, "align_ref_axis", text))
    return checks.all_faults(found)


def _point(params: GotoPoseParams, context: Context) -> Array:
    if params.frame == "world":
        return np.array(params.position)
    return np.asarray(context.world.world_T_base().apply(params.position))


def _turn_of(params: GotoPoseParams) -> Rotation | None:
    """Return the given orientation in the base; None when none is given."""
    if params.quaternion is not None:
        return Rotation.from_wxyz(params.quaternion)
    if params.euler is None:
        return None
    roll, pitch, yaw = np.deg2rad(params.euler)
    return Rotation.from_rpy(float(roll), float(pitch), float(yaw))


def _targets(params: GotoPoseParams, context: Context, world: World) -> list[Pose]:
    """Return EE poses in the world."""
    base = context.world.world_T_base()
    grip = None
    if params.position_constraint == "object" or params.is_aligned:
        grip = arm_motions.held(context, world, params.object).link_T_object
    cones = list(cones_of(params.orientation_filters, base))
    if params.is_aligned and grip is not None:
        vector = grip.rotation.matrix() @ np.array(params.align_obj_axis)
        label = f"object axis within {params.align_obj_tol:g} deg of {list(params.align_ref_axis)}"
        ref = np.array(params.align_ref_axis)
        cones.append(Cone(vector, ref, 0.0, params.align_obj_tol, label, "align_obj_axis"))
    turn = _turn_of(params)
    if cones:
        made = [Rotation.from_matrix(m) for m in sample_rotations(cones, context.rng, N_SAMPLES)]
        turns = [base.rotation @ one for one in made]
    else:
        turns = [arm_motions.hand(context, world).rotation if turn is None else base.rotation @ turn]
    point, poses = _point(params, context), []
    for one in turns:
        pose = arm_motions.noisy(Pose.of(point, one), params.max_noise_m, params.max_noise_deg, context.rng)
        if params.position_constraint == "object" and grip is not None:
            # The hand that holds the object at the point with this hand's orientation.
            pose = Pose.of(pose.translation_m - pose.rotation.matrix() @ grip.translation_m, pose.rotation)
        poses.append(pose)
    return poses


def _way(goal: Pose, params: GotoPoseParams, context: Context, world: World) -> tuple[Pose, ...]:
    """Return the goal, or waypoints on a straight line to it that turn evenly."""
    if params.interp_nums == 1:
        return (goal,)
    here = arm_motions.hand(context, world)
    turn = here.rotation.inverse() @ goal.rotation
    angle = 2.0 * float(np.arctan2(np.linalg.norm(turn.wxyz[1:]), turn.wxyz[0]))
    axis = turn.wxyz[1:] if angle > 1e-9 else np.array([0.0, 0.0, 1.0])
    way = []
    for i in range(1, params.interp_nums + 1):
        part = i / params.interp_nums
        point = here.translation_m + part * (goal.translation_m - here.translation_m)
        way.append(Pose.of(point, here.rotation @ Rotation.from_axis_angle(axis, part * angle)))
    return tuple(way)
