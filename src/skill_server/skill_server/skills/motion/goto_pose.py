"""Go to pose: bring the hand, or what it holds, to a position, with an orientation given, sampled or kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from handiwork_core.contracts.commands import Command, Motion
from handiwork_core.contracts.skill import Context
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.contracts.stages import SkillStage
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.geometry.orientation_cones import Cone, OrientationFilter, cones_of, unit
from skill_server.geometry.rotation_sampler import sample_rotations
from skill_server.motions import arm_motions, pose_goals
from skill_server.motions.axis_goals import approach_axis, possible_poses, turns_about
from skill_server.params import checks
from skill_server.params.candidate_test import CandidateTest
from skill_server.stages.commands import stage_commands
from skill_server.stages.selection import choose_stages
from skill_server.stages.staged_skill import StagedSkill
from skill_server.stages.tool_curves import curve_stages
from skill_server.state.frame_lookup import forget_frames, frame_used
from skill_server.tool_paths.waypoints import PTP, Leg, Waypoint, check_blends, check_motion

N_SAMPLES = 32
WITHIN_M, WITHIN_RAD = 0.005, 0.087


@dataclass(frozen=True, slots=True, kw_only=True)
class GotoPoseParams(SkillParams):
    """Parameters of ``goto_pose``.

    With an axis, filters, or an axis of the held object to be aligned, the orientation is sampled. Without them, and
    without ``euler`` and ``quaternion``, the present orientation is kept. An arm with fewer than six joints keeps it as
    nearly as it can, and takes of axes and filters what it can have there; ``euler`` and ``quaternion`` stay exact.

    Attributes:
        position: Goal, m.
        frame: Frame of the pose: ``base``, ``world``, an object, a link of the robot as ``<robot>/<link>``, or any
            frame of tf, as it is when the motion is planned.
        tool: Link behind the last joint, tool frame of the robot, or held object that goes to the pose; empty: EE link.
        motion: ``ptp``, free; ``lin``, on a straight line; ``circ``, on an arc.
        interim: Point on the arc of a ``circ``, in ``frame``, m.
        center: Center of a ``circ``, which is then the shorter arc, in ``frame``, m.
        waypoints: Poses before this one, each with its motion and the radius of the blend into the next.
        euler: Orientation as fixed-axis x, y, z angles, deg; in ``frame``, but in the base for ``world``.
        quaternion: Orientation, w, x, y, z, in the same frame.
        axis: Direction, in the same frame, of z of ``tool``, or without a tool of the axis from the EE to the TCP; the
            turn about it is free.
        orientation_filters: Constraints of the orientation.
        align_obj_axis: Axis of the held object, in its frame; all zero: none is aligned.
        align_ref_axis: Axis of the base to align it with.
        align_obj_tol: Largest angle between the two, deg.
        position_constraint: ``gripper`` drives the EE to the position, ``object`` the origin of the held object; it
            holds for waypoints and arcs as well.
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
    tool: str = ""
    motion: str = PTP
    interim: tuple[float, float, float] | None = None
    center: tuple[float, float, float] | None = None
    waypoints: tuple[Waypoint, ...] = ()
    euler: tuple[float, float, float] | None = None
    quaternion: tuple[float, float, float, float] | None = None
    axis: tuple[float, float, float] | None = None
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

    @property
    def is_path(self) -> bool:
        """True when the motion is not a single free one."""
        return self.motion != PTP or bool(self.waypoints)


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
                pose_goals.check_tool(params.tool, robot, arm, world),
                _check_path(params),
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

    def commands(self, params: GotoPoseParams, context: Context) -> Sequence[Command]:
        """See ``Skill``; follow the legs to the chosen pose where there are several, or one that is not free."""
        forget_frames(context)
        if not params.is_path:
            return super().commands(params, context)
        return stage_commands(self._along(params, context), params, context)

    def _along(self, params: GotoPoseParams, context: Context) -> list[SkillStage]:
        """Choose the first orientation whose pose can be reached, and make the stages of the legs to it."""
        world = context.world.snapshot()
        tool = _tool(params, context, world)
        if params.position_constraint == "object":
            # Positions are the object's, and orientations the hand's, as those of the goal.
            tool = Pose.of(arm_motions.held(context, world, params.object).link_T_object.translation_m)
        goals = [
            (SkillStage("go", pose, cost=0.01 * i),)
            for i, pose in enumerate(_targets(params, context, world))
        ]
        (found,) = choose_stages(goals, params, context)
        assert found.world_T_ee is not None
        place = frame_used(params.frame, "frame", context, world)
        kept = (arm_motions.hand(context, arm_motions.world_begun(context, world)) @ tool).rotation
        goal = Leg(
            params.motion,
            found.world_T_ee @ tool,
            interim=pose_goals.applied(place, params.interim),
            center=pose_goals.applied(place, params.center),
            goal_field="position",
            arc_field="interim" if params.interim is not None else "center",
        )
        legs = [*pose_goals.legs_of(params.waypoints, params.frame, kept, context, world), goal]
        names = [*(f"waypoint {i + 1}" for i in range(len(params.waypoints))), "go"]
        arrive = SkillStage("arrive", functions=arm_motions.gripper_functions(params.gripper_state))
        return [*curve_stages(legs, tool, names, params, context), arrive]

    def is_success(self, params: GotoPoseParams, before: World, after: World, context: Context) -> Outcome:
        """Check the position AND the angle, where there is one, within the tolerance and the noise."""
        here = arm_motions.hand(context, after)
        if params.position_constraint == "object" and context.held:
            here = here @ arm_motions.held(context, after).link_T_object
        else:
            here = here @ pose_goals.tool_at_end(params.tool, context, before)
        wanted = frame_used(params.frame, "frame", context, after).apply(params.position)
        gap = float(np.linalg.norm(here.translation_m - wanted))
        allowed = WITHIN_M + params.t_eps + params.max_noise_m * 3.0**0.5
        turn = pose_goals.rotation_of(params.euler, params.quaternion)
        off = 0.0
        if params.axis is not None:
            name = pose_goals.orientation_frame(params.frame)
            wanted = frame_used(name, "frame", context, after).rotation.matrix() @ unit(np.array(params.axis))
            tool = pose_goals.tool_at_end(params.tool, context, before)
            points = arm_motions.hand(context, after).rotation.matrix() @ _axis(params, context, tool)
            off = float(np.arccos(np.clip(points @ wanted, -1.0, 1.0)))
        elif turn is not None and params.position_constraint == "gripper":
            name = pose_goals.orientation_frame(params.frame)
            off = (frame_used(name, "frame", context, after).rotation @ turn).angle_to(here.rotation)
        good = gap <= allowed and off <= WITHIN_RAD + np.deg2rad(params.max_noise_deg)
        text = f"{gap * 1e3:.1f} mm and {off:.3f} rad from the target"
        return Outcome(Code.OK if good else Code.NOT_REACHED, text, position_error_m=gap, angle_error_rad=off)


def _check_path(params: GotoPoseParams) -> Outcome:
    motions = [*(point.motion for point in params.waypoints), params.motion]
    radii = [(f"waypoints[{i}].blend_radius", point.blend_radius) for i, point in enumerate(params.waypoints)]
    found = [
        check_motion("", params.motion, params.interim, params.center),
        pose_goals.check_waypoints(params.waypoints),
        check_blends(radii, motions),
    ]
    if params.is_path and params.interp_nums > 1:
        text = "interp_nums makes a straight line of its own; leave it out, and write motion lin"
        found.append(checks.fault(Code.CONTRADICTION, "interp_nums", text))
    if params.tool and params.position_constraint == "object":
        text = "position_constraint object names the tool already; leave tool empty, or write tool alone"
        found.append(checks.fault(Code.CONTRADICTION, "tool", text))
    return checks.all_faults(found)


def _check_orientation(params: GotoPoseParams) -> Outcome:
    given = [name for name in ("euler", "quaternion", "axis") if getattr(params, name) is not None]
    given += ["orientation_filters"] if params.orientation_filters else []
    given += ["align_obj_axis"] if params.is_aligned else []
    found = [
        checks.filters("orientation_filters", params.orientation_filters),
        checks.number("align_obj_tol", params.align_obj_tol, 0.0, 180.0, "deg"),
    ]
    if params.axis is not None and not any(params.axis):
        text = "axis is all zero, which is no direction; give one, such as [0, 0, -1]"
        found.append(checks.fault(Code.BAD_NUMBER, "axis", text))
    if len(given) > 1 and given[0] in ("euler", "quaternion", "axis"):
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


def _tool(params: GotoPoseParams, context: Context, world: World) -> Pose:
    """Return ee_T_tool."""
    return pose_goals.tool_in_hand(params.tool, context, world)


def _axis(params: GotoPoseParams, context: Context, ee_T_tool: Pose) -> Array:
    """Return the axis whose direction ``axis`` gives, in the EE frame: z of the tool, or the one to the TCP."""
    if params.tool:
        return np.asarray(ee_T_tool.rotation.matrix()[:, 2])
    return approach_axis(context.arm_spec)


def _targets(params: GotoPoseParams, context: Context, world: World) -> list[Pose]:
    """Return EE poses in the world."""
    base, tool = context.world.world_T_base(), _tool(params, context, world)
    grip = None
    if params.position_constraint == "object" or params.is_aligned:
        grip = arm_motions.held(context, world, params.object).link_T_object
    cones = list(cones_of(params.orientation_filters, base))
    if params.is_aligned and grip is not None:
        vector = grip.rotation.matrix() @ np.array(params.align_obj_axis)
        label = f"object axis within {params.align_obj_tol:g} deg of {list(params.align_ref_axis)}"
        ref = np.array(params.align_ref_axis)
        cones.append(Cone(vector, ref, 0.0, params.align_obj_tol, label, "align_obj_axis"))
    turn = pose_goals.rotation_of(params.euler, params.quaternion)
    name, axis = pose_goals.orientation_frame(params.frame), None
    kept = arm_motions.hand(context, arm_motions.world_begun(context, world)).rotation
    if params.axis is not None:
        axis = _axis(params, context, tool)
        direction = frame_used(name, "frame", context, world).rotation.matrix() @ np.array(params.axis)
        turns = turns_about(axis, direction, kept, N_SAMPLES)
    elif cones:
        made = [Rotation.from_matrix(m) for m in sample_rotations(cones, context.rng, N_SAMPLES)]
        turns = [base.rotation @ one for one in made]
    else:
        turns = [kept]
        if turn is not None:
            turns = [frame_used(name, "frame", context, world).rotation @ turn @ tool.rotation.inverse()]
    point, poses = frame_used(params.frame, "frame", context, world).apply(params.position), []
    subject = grip if params.position_constraint == "object" and grip is not None else tool
    for one in turns:
        pose = arm_motions.noisy(Pose.of(point, one), params.max_noise_m, params.max_noise_deg, context.rng)
        # The hand that has the tool or the object at the point, with this hand's orientation.
        poses.append(
            Pose.of(pose.translation_m - pose.rotation.matrix() @ subject.translation_m, pose.rotation)
        )
    return poses if turn is not None else possible_poses(poses, subject.translation_m, context, axis, cones)


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
