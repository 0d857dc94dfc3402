"""The services that plan, and those that describe the planner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup

from handiwork_ros.node.managed_node import ManagedNode
from moveit_facade.messages.ros.writing import error_code, robot_state, success
from moveit_facade.model.error_codes import RequestError
from moveit_msgs.msg import PlannerInterfaceDescription
from moveit_msgs.srv import (
    GetCartesianPath,
    GetMotionPlan,
    GetPlannerParams,
    GetPositionFK,
    GetPositionIK,
    GetStateValidity,
    QueryPlannerInterfaces,
    SetPlannerParams,
)

from .cartesian_service import CartesianService
from .errors import guarded
from .kinematics_services import KinematicsServices
from .planning import MotionPlanning, Plan

PIPELINE, PLANNER_ID = "handiwork", "handiwork"


class PlannerServices:
    """Serves plans and questions about states.

    Args:
        node: Hosts the services.
        planning: Plans.
        show: Displays a plan.
    """

    def __init__(self, node: ManagedNode, planning: MotionPlanning, show: Callable[[Plan], None]) -> None:
        self._node, self._planning, self._show = node, planning, show
        kinematics, cartesian = KinematicsServices(planning), CartesianService(planning)
        group = ReentrantCallbackGroup()
        services: tuple[tuple[Any, str, Any], ...] = (
            (GetMotionPlan, "plan_kinematic_path", guarded(node, self._plan, _with_plan_error)),
            (GetCartesianPath, "compute_cartesian_path", guarded(node, cartesian.compute)),
            (GetPositionIK, "compute_ik", guarded(node, kinematics.compute_ik)),
            (GetPositionFK, "compute_fk", guarded(node, kinematics.compute_fk)),
            (
                GetStateValidity,
                "check_state_validity",
                guarded(node, kinematics.check_state_validity, lambda response, _error: response),
            ),
            (QueryPlannerInterfaces, "query_planner_interface", guarded(node, _query, _unchanged)),
            (GetPlannerParams, "get_planner_params", guarded(node, _get_params, _unchanged)),
            (SetPlannerParams, "set_planner_params", guarded(node, self._set_params, _unchanged)),
        )
        for kind, name, handler in services:
            node.create_service(kind, name, handler, callback_group=group)

    async def _plan(self, request: Any, response: Any) -> Any:
        plan = await self._planning.plan(request.motion_plan_request)
        answer = response.motion_plan_response
        answer.trajectory_start = robot_state(plan.start.positions)
        answer.group_name, answer.trajectory = plan.group.name, plan.trajectory
        answer.planning_time, answer.error_code = plan.planning_time_s, success()
        self._show(plan)
        return response

    async def _set_params(self, request: Any, response: Any) -> Any:
        if request.params.keys:
            text = f"set_planner_params: {list(request.params.keys)[:5]} have no effect; this planner has no parameters"
            self._node.get_logger().warning(text)
        return response


async def _query(_request: Any, response: Any) -> Any:
    description = PlannerInterfaceDescription(
        name="Handiwork", pipeline_id=PIPELINE, planner_ids=[PLANNER_ID]
    )
    response.planner_interfaces = [description]
    return response


async def _get_params(_request: Any, response: Any) -> Any:
    return response


def _with_plan_error(response: Any, error: RequestError) -> Any:
    response.motion_plan_response.error_code = error_code(error)
    return response


def _unchanged(response: Any, _error: RequestError) -> Any:
    return response
