"""The service ``compute_cartesian_path``: straight lines of a link, as far as they are possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseArray
from handiwork_msgs.srv import PlanAlong
from std_msgs.msg import Header

from handiwork_core.intake.limits import GOAL_POSES
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import JointState
from handiwork_ros import conversions as to
from moveit_facade.constraints.goals import Situation
from moveit_facade.constraints.held import path_fault
from moveit_facade.constraints.types import ConstraintSet
from moveit_facade.messages.ros.constraint_reading import constraint_set
from moveit_facade.messages.ros.writing import robot_state, robot_trajectory, success
from moveit_facade.model.error_codes import ErrorCode, RequestError, error_of
from moveit_facade.paths.cartesian import interpolated, jump_index
from moveit_facade.robot.groups import Group, checked_group, rigid_links
from moveit_facade.scene.frames import checked_link

from .planning import MotionPlanning
from .robot_reading import StartState

BUDGET_S = 5.0
DEVIATION_M = 0.002
SEARCHES = 7
"""Requests to find how far a path is possible: the end is known to a share of 1/128 of it."""
ERRORS = frozenset(
    {Code.PLANNER_LOST, Code.NOT_ACTIVE, Code.ROBOT_LOST, Code.STALE_WORLD, Code.INTERNAL, Code.BUSY}
)
"""Codes that say nothing about the path."""


@dataclass(frozen=True, eq=False)
class _Path:
    """A path that was read.

    Attributes:
        group: The group.
        start: The start.
        options: Options of the planner.
        world_T_ee: The poses, without the start.
        constraints: Path constraints.
        situation: The robot at the start.
    """

    group: Group
    start: StartState
    options: to.PlanOptions
    world_T_ee: tuple[Pose, ...]
    constraints: ConstraintSet
    situation: Situation


class CartesianService:
    """Answers ``moveit_msgs/srv/GetCartesianPath``.

    Args:
        planning: The planning, with robot, reader, scene and planner.
    """

    def __init__(self, planning: MotionPlanning) -> None:
        self._planning, self._robot = planning, planning.robot

    async def compute(self, request: Any, response: Any) -> Any:
        """Return the path with the fraction that is possible, from the start.

        Args:
            request: The request.
            response: The response.

        Raises:
            RequestError: The request is malformed, or its start is in collision.
        """
        path = self._read(request)
        answer, count, why = await self._longest(path)
        fraction = count / len(path.world_T_ee)
        if answer is not None:
            rows = [np.array(point.positions) for point in answer.trajectory.points]
            kept, reason = self._checked(path, request, rows, count)
            if kept < count:
                fraction, why = kept / len(path.world_T_ee), reason
                answer = await self._along(path, kept) if kept else None
        response.fraction = float(fraction)
        response.start_state = robot_state(path.start.positions)
        if answer is not None and answer.outcome.code == Code.OK:
            response.solution = robot_trajectory(answer.trajectory)
        text = "" if fraction >= 1.0 else f"the path ends after {100.0 * fraction:.1f} %: {why}"
        response.error_code = success(text, "compute_cartesian_path")
        return response

    def _read(self, request: Any) -> _Path:
        planning = self._planning
        group = checked_group(planning.groups, request.group_name)
        if not group.is_arm:
            text = f"group {group.name!r} is a gripper; name an arm"
            raise RequestError(ErrorCode.INVALID_GROUP_NAME, text)
        self._check_numbers(request)
        start = planning.reader.start_state(request.start_state)
        scene, extra = planning.with_start(planning.keeper.scene, start)
        if extra is not None:
            text = "start_state attaches objects that the scene does not have; add them by apply_planning_scene first"
            raise RequestError(ErrorCode.INVALID_OBJECT_NAME, text)
        frames = planning.reader.frames(start, scene.objects)
        link = checked_link(self._robot, request.link_name or group.arm.tcp_link, "link_name")
        if link not in rigid_links(self._robot, group.arm.ee_link):
            text = f"link_name {link!r} is not fixed to {group.arm.ee_link!r}; name a link of the hand"
            raise RequestError(ErrorCode.INVALID_LINK_NAME, text)
        frame = frames.world_T(request.header.frame_id, "header.frame_id")
        poses = to.poses_from_msg(request.waypoints, lambda i: f"waypoints[{i}]")
        link_T_ee = frames.link(link).inverse() @ frames.link(group.arm.ee_link)
        waypoints = [frame @ pose @ link_T_ee for pose in poses]
        ends = interpolated(frames.link(group.arm.ee_link), waypoints, float(request.max_step))
        constraints = constraint_set(request.path_constraints, frames, "path_constraints")
        query = planning.query(group.arm, start, scene)
        if not request.avoid_collisions:
            known = [*start.world.objects, *scene.objects.objects]
            held = {*scene.objects.attached}
            query = replace(query, ignored=query.ignored | (frozenset(known) - held))
        options = to.PlanOptions(
            group.arm.name,
            JointState(0.0, {name: start.positions[name] for name in group.joint_names}),
            query,
            None,
            BUDGET_S,
            planning.scaling(request.max_velocity_scaling_factor, "max_velocity_scaling_factor"),
            planning.scaling(request.max_acceleration_scaling_factor, "max_acceleration_scaling_factor"),
        )
        situation = Situation(self._robot, group.arm, frames.world_T_root, start.positions)
        return _Path(group, start, options, ends, constraints, situation)

    def _check_numbers(self, request: Any) -> None:
        to.at_most("waypoints", len(request.waypoints), GOAL_POSES, "poses")
        if not len(request.waypoints):
            text = "waypoints is empty; send at least one pose"
            raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
        if not (math.isfinite(request.max_step) and request.max_step > 0.0):
            text = f"max_step is {request.max_step}; send a length above 0 m"
            raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
        for name in ("jump_threshold", "prismatic_jump_threshold", "revolute_jump_threshold"):
            value = getattr(request, name)
            if math.isnan(value) or value < 0.0:
                text = f"{name} is {value}; send a number of at least 0, where 0 switches the test off"
                raise RequestError(ErrorCode.INVALID_GOAL_CONSTRAINTS, text)
        if request.max_cartesian_speed > 0.0:
            text = f"max_cartesian_speed is {request.max_cartesian_speed}; lower max_velocity_scaling_factor instead"
            raise RequestError(ErrorCode.UNRECOGNIZED_GOAL_TYPE, text)

    async def _along(self, path: _Path, count: int) -> Any:
        array = PoseArray(header=Header(frame_id="world"))
        array.poses = [to.pose_to_msg(pose) for pose in path.world_T_ee[:count]]
        request = PlanAlong.Request(
            options=to.options_to_msg(path.options), path=array, max_deviation=DEVIATION_M
        )
        return (await self._planning.planner.ask("plan_along", request, BUDGET_S)).result

    async def _longest(self, path: _Path) -> tuple[Any, int, str]:
        """Return the longest path that is possible, the number of its poses, and what ends it; by bisection."""
        answer = await self._along(path, len(path.world_T_ee))
        if answer.outcome.code == Code.OK:
            return answer, len(path.world_T_ee), ""
        outcome = to.outcome_from_msg(answer.outcome)
        if outcome.code in ERRORS or outcome.code is Code.START_IN_COLLISION:
            raise error_of(outcome, "planner/plan_along")
        best, good, bad = None, 0, len(path.world_T_ee)
        for _search in range(SEARCHES):
            if bad - good <= 1:
                break
            middle = (good + bad) // 2
            answer = await self._along(path, middle)
            if answer.outcome.code == Code.OK:
                best, good = answer, middle
            else:
                outcome, bad = to.outcome_from_msg(answer.outcome), middle
        return best, good, outcome.message

    def _checked(self, path: _Path, request: Any, rows: Sequence[Array], count: int) -> tuple[int, str]:
        """Return how many poses of the path remain after the tests for jumps and constraints, and what ends them."""
        kept, reason = count, ""
        kinds = [self._robot.joints[name].type for name in path.group.joint_names]
        thresholds = (
            request.jump_threshold,
            request.revolute_jump_threshold,
            request.prismatic_jump_threshold,
        )
        if any(value > 0.0 for value in thresholds):
            at = _rows_at_poses(path, rows, count)
            jump = jump_index(
                at,
                float(request.jump_threshold),
                float(request.revolute_jump_threshold),
                float(request.prismatic_jump_threshold),
                [kind is JointKind.PRISMATIC for kind in kinds],
            )
            if jump < len(at):
                kept, reason = max(jump - 1, 0), f"a joint jumps between the poses {jump - 1} and {jump}"
        if not path.constraints.is_empty:
            fault = path_fault(path.constraints, path.situation, rows)
            if fault is not None:
                share = int(count * fault[0] / max(len(rows) - 1, 1))
                if share < kept:
                    kept, reason = max(share - 1, 0), f"path_constraints: {fault[1].text}"
        return kept, reason


def _rows_at_poses(path: _Path, rows: Sequence[Array], count: int) -> Array:
    """Return the configuration at the start and nearest to each pose of the path, in order."""
    arm = path.group.arm
    places = np.array([path.situation.link_poses((arm.ee_link,), q)[arm.ee_link].translation_m for q in rows])
    found, at = [rows[0]], 0
    for pose in path.world_T_ee[:count]:
        gaps = np.linalg.norm(places[at:] - pose.translation_m, axis=1)
        at += int(np.argmin(gaps))
        found.append(rows[at])
    return np.array(found)
