"""The services ``compute_ik``, ``compute_fk`` and ``check_state_validity``."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import PoseArray, PoseStamped
from handiwork_msgs.srv import Explain, SolveIk
from std_msgs.msg import Header

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import JointState
from handiwork_core.robot.robot import ArmSpec
from handiwork_core.voxels.voxel_map import UNMODELLED
from handiwork_ros import conversions as to
from moveit_facade.constraints.evaluation import evaluate
from moveit_facade.constraints.goals import Situation
from moveit_facade.constraints.projection import ConstraintSolver
from moveit_facade.constraints.types import ConstraintSet, OrientationConstraint, PositionConstraint
from moveit_facade.messages.ros.constraint_reading import constraint_set
from moveit_facade.messages.ros.writing import robot_state, success
from moveit_facade.model.error_codes import ErrorCode, RequestError
from moveit_facade.robot.groups import checked_group, rigid_links
from moveit_facade.scene.acm import OCTOMAP
from moveit_facade.scene.frames import PLANNING_FRAME, Frames, checked_link
from moveit_facade.scene.shapes import Primitive, solid
from moveit_msgs.msg import ConstraintEvalResult, ContactInformation

from .planning import MotionPlanning
from .robot_reading import StartState

MOST_LINKS = 500


class KinematicsServices:
    """Answers questions about single states of the robot.

    Args:
        planning: The planning, with robot, reader, scene and planner.
    """

    def __init__(self, planning: MotionPlanning) -> None:
        self._planning, self._robot = planning, planning.robot

    async def compute_fk(self, request: Any, response: Any) -> Any:
        """Answer ``moveit_msgs/srv/GetPositionFK``.

        Args:
            request: The request; an empty frame means the planning frame.
            response: The response.

        Raises:
            RequestError: A link or the frame is unknown.
        """
        to.at_most("fk_link_names", len(request.fk_link_names), MOST_LINKS, "links")
        if not request.fk_link_names:
            raise RequestError(ErrorCode.INVALID_LINK_NAME, "fk_link_names is empty; name at least one link")
        start, frames = self._state(request.robot_state, "robot_state")
        frame = request.header.frame_id or PLANNING_FRAME
        frame_T_world = frames.world_T(frame, "header.frame_id").inverse()
        for i, name in enumerate(request.fk_link_names):
            link = checked_link(self._robot, name, f"fk_link_names[{i}]")
            pose = PoseStamped(pose=to.pose_to_msg(frame_T_world @ frames.link(link)))
            pose.header.frame_id, pose.header.stamp = frame, to.time_to_msg(start.world.stamp_s)
            response.pose_stamped.append(pose)
            response.fk_link_names.append(name)
        response.error_code = success()
        return response

    async def compute_ik(self, request: Any, response: Any) -> Any:
        """Answer ``moveit_msgs/srv/GetPositionIK``.

        Args:
            request: The request.
            response: The response.

        Raises:
            RequestError: There is no solution, or the request is malformed.
        """
        ask = request.ik_request
        group = checked_group(self._planning.groups, ask.group_name)
        if not group.is_arm:
            text = f"group {group.name!r} is a gripper, which has no inverse kinematics; name an arm"
            raise RequestError(ErrorCode.INVALID_GROUP_NAME, text)
        if len(ask.pose_stamped_vector) > 1 or len(ask.ik_link_names) != len(ask.pose_stamped_vector):
            text = (
                f"there are {len(ask.ik_link_names)} ik_link_names and {len(ask.pose_stamped_vector)} poses; "
                "send one pose for one link"
            )
            raise RequestError(ErrorCode.INVALID_LINK_NAME, text)
        start, frames = self._state(ask.robot_state, "ik_request.robot_state")
        stamped = ask.pose_stamped_vector[0] if ask.pose_stamped_vector else ask.pose_stamped
        name = ask.ik_link_names[0] if ask.ik_link_names else ask.ik_link_name
        link = checked_link(self._robot, name or group.arm.tcp_link, "ik_request.ik_link_name")
        frame = frames.world_T(stamped.header.frame_id, "ik_request.pose_stamped.header.frame_id")
        target = frame @ to.pose_from_msg(stamped.pose, "ik_request.pose_stamped.pose")
        constraints = constraint_set(ask.constraints, frames, "ik_request.constraints")
        situation = Situation(self._robot, group.arm, frames.world_T_root, start.positions)
        if link in rigid_links(self._robot, group.arm.ee_link) and constraints.is_empty:
            q = await self._ee_solution(situation, start, link, target, collide=bool(ask.avoid_collisions))
        else:
            q = await self._general_solution(
                situation, start, link, target, constraints, collide=bool(ask.avoid_collisions)
            )
        joints = {**start.positions, **dict(zip(group.joint_names, q.tolist(), strict=True))}
        response.solution = robot_state(joints)
        response.error_code = success()
        return response

    async def _ee_solution(
        self, situation: Situation, start: StartState, link: str, target: Pose, *, collide: bool
    ) -> Array:
        arm = situation.arm
        links = situation.link_poses((link, arm.ee_link))
        world_T_ee = target @ links[link].inverse() @ links[arm.ee_link]
        request = SolveIk.Request(
            options=to.options_to_msg(self._options(arm, start)),
            poses=PoseArray(header=Header(frame_id="world"), poses=[to.pose_to_msg(world_T_ee)]),
            avoid_collision=collide,
        )
        response = await self._planning.planner.ask("solve_ik", request, 5.0)
        if len(response.codes) == 0:
            await self._planning.planner.do("solve_ik", request, 5.0)  # raises with the outcome's reason
        if response.codes[0] != Code.OK:
            raise self._no_ik(response, link)
        return np.array(response.positions[: len(arm.joint_names)])

    def _no_ik(self, response: Any, link: str) -> RequestError:
        code = to.code_from_msg(response.codes[0])
        if code is Code.GOAL_IN_COLLISION:
            text = f"every configuration with {link!r} at the pose is in collision; move the pose or the obstacle"
        else:
            gap_mm, turn = 1e3 * response.position_errors[0], response.angle_errors[0]
            text = (
                f"no configuration within the joint limits brings {link!r} to the pose; the nearest one misses it by "
                f"{gap_mm:.1f} mm and {turn:.3f} rad ({code.name})"
            )
        return RequestError(ErrorCode.NO_IK_SOLUTION, text, "planner/solve_ik")

    async def _general_solution(
        self,
        situation: Situation,
        start: StartState,
        link: str,
        target: Pose,
        constraints: ConstraintSet,
        *,
        collide: bool,
    ) -> Array:
        """Solve for any link, and with constraints: configurations first, then their collisions."""
        region = (solid(Primitive.SPHERE, (1e-5,), Pose.of(target.translation_m), (), "pose_stamped"),)
        pose = ConstraintSet(
            constraints.joints,
            (*constraints.positions, PositionConstraint(link, np.zeros(3), region)),
            (
                *constraints.orientations,
                OrientationConstraint(link, target.rotation, np.full(3, 1e-4), is_rotation_vector=True),
            ),
        )
        solver = ConstraintSolver(
            self._robot, situation.arm.joint_names, situation.world_T_root, situation.positions, pose
        )
        rows, why = solver.solutions(0, 8), ""
        for q in rows:
            if not collide:
                return q
            outcome, _ = await self._explain(situation.arm, start, q)
            if outcome.ok:
                return q
            why = outcome.message
        text = f"of {len(rows)} configurations with {link!r} at the pose none is free of collision: {why}"
        if not len(rows):
            text = f"no configuration within the joint limits brings {link!r} to the pose and satisfies the constraints"
        raise RequestError(ErrorCode.NO_IK_SOLUTION, text)

    async def check_state_validity(self, request: Any, response: Any) -> Any:
        """Answer ``moveit_msgs/srv/GetStateValidity``; an empty group means all arms.

        Args:
            request: The request.
            response: The response.

        Raises:
            RequestError: The group, a joint or a constraint is unknown.
        """
        groups = self._planning.groups
        start, frames = self._state(request.robot_state, "robot_state")
        constraints = constraint_set(request.constraints, frames, "constraints")
        arms = list(self._robot.arms.values())
        if request.group_name:
            arms = [checked_group(groups, request.group_name).arm]
        response.valid = True
        for arm in arms:
            outcome, clearance_m = await self._explain(arm, start, None)
            if not outcome.ok:
                response.valid = False
                if outcome.blocking is not None:
                    response.contacts.append(self._contact(outcome.blocking, -clearance_m))
        links = {link: frames.link(link) for link in constraints.links}
        for one in evaluate(constraints, start.positions, links):
            response.constraint_result.append(
                ConstraintEvalResult(result=one.is_met, distance=float(one.excess))
            )
            response.valid = response.valid and one.is_met
        return response

    async def _explain(self, arm: ArmSpec, start: StartState, q: Array | None) -> tuple[Any, float]:
        """Return the planner's outcome on a state, and the clearance [m]."""
        q = np.array([start.positions[name] for name in arm.joint_names]) if q is None else q
        request = Explain.Request(options=to.options_to_msg(self._options(arm, start)), positions=q.tolist())
        response = await self._planning.planner.ask("explain", request)
        outcome = to.outcome_from_msg(response.outcome)
        if (
            not outcome.ok
            and outcome.blocking is None
            and outcome.code not in (Code.JOINT_LIMIT, Code.BAD_NUMBER)
        ):
            await self._planning.planner.do("explain", request)  # raises: the planner could not judge
        return outcome, float(response.clearance)

    def _contact(self, pair: Any, depth_m: float) -> ContactInformation:
        message = ContactInformation(depth=max(depth_m, 0.0))
        message.header.frame_id = PLANNING_FRAME
        attached = self._planning.keeper.scene.objects.attached
        for i, body in enumerate(pair, 1):
            link = body.removeprefix(f"{self._robot.name}/")
            kind = ContactInformation.WORLD_OBJECT
            if body == UNMODELLED:
                body = OCTOMAP
            elif body in attached:
                kind = ContactInformation.ROBOT_ATTACHED
            elif link in self._robot.links:
                kind, body = ContactInformation.ROBOT_LINK, link
            setattr(message, f"contact_body_{i}", body)
            setattr(message, f"body_type_{i}", kind)
        return message

    def _options(self, arm: ArmSpec, start: StartState) -> to.PlanOptions:
        scene = self._planning.keeper.scene
        joints = {name: start.positions[name] for name in arm.joint_names}
        query = self._planning.query(arm, start, scene)
        return to.PlanOptions(arm.name, JointState(0.0, joints), query)

    def _state(self, msg: Any, field: str) -> tuple[StartState, Frames]:
        start = self._planning.reader.start_state(msg, field)
        return start, self._planning.reader.frames(start, self._planning.keeper.scene.objects)
