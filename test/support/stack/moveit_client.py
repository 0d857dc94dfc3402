"""A raw client of MoveIt's interface, and the examples of pymoveit2 as they are published.

`make setup-moveit` builds the messages; the examples are in the source distribution of pymoveit2 on PyPI:
``pip download --no-deps --no-binary :all: --dest build pymoveit2==5.0.0`` and ``tar -C build -xzf``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("moveit_msgs", reason="the interfaces of MoveIt are not built: run `make setup-moveit`")

from geometry_msgs.msg import Pose
from rclpy.action import ActionClient
from shape_msgs.msg import SolidPrimitive
from std_srvs.srv import Empty

from handiwork_ros.rclpy_support.service_call import on_executor
from moveit_msgs.action import ExecuteTrajectory, MoveGroup
from moveit_msgs.msg import (
    Constraints,
    JointConstraint,
    MotionPlanRequest,
    OrientationConstraint,
    PositionConstraint,
)
from moveit_msgs.srv import (
    ApplyPlanningScene,
    GetCartesianPath,
    GetMotionPlan,
    GetPlannerParams,
    GetPlanningScene,
    GetPositionFK,
    GetPositionIK,
    GetStateValidity,
    QueryPlannerInterfaces,
    SetPlannerParams,
)
from moveit_task_constructor_msgs.action import ExecuteTaskSolution
from support.paths import ROOT
from support.stack.rig import Rig, wait_for

PYMOVEIT2 = ROOT / "build" / "pymoveit2-5.0.0"
EXAMPLE_S, ANSWER_S = 120.0, 60.0
OWN_RACE, EXAMPLE_TRIES = "action client pointer is invalid", 3
"""What rclpy says in an example that waits for an action client which pymoveit2 destroys meanwhile, on another thread.

That happens on a busy machine, within the example's process alone; the example is then run again.
"""
DOWN = (1.0, 0.0, 0.0, 0.0)
SERVICES: dict[str, Any] = {
    "plan_kinematic_path": GetMotionPlan,
    "compute_cartesian_path": GetCartesianPath,
    "compute_ik": GetPositionIK,
    "compute_fk": GetPositionFK,
    "check_state_validity": GetStateValidity,
    "get_planning_scene": GetPlanningScene,
    "apply_planning_scene": ApplyPlanningScene,
    "query_planner_interface": QueryPlannerInterfaces,
    "get_planner_params": GetPlannerParams,
    "set_planner_params": SetPlannerParams,
    "clear_octomap": Empty,
}

ACTIONS: dict[str, Any] = {
    "move_action": MoveGroup,
    "execute_trajectory": ExecuteTrajectory,
    "execute_task_solution": ExecuteTaskSolution,
}

needs_pymoveit2 = pytest.mark.skipif(
    not PYMOVEIT2.is_dir(),
    reason=f"the source distribution of pymoveit2 5.0.0 is not in {PYMOVEIT2.name} below build/",
)


def example(name: str, *parameters: str) -> subprocess.CompletedProcess[str]:
    """Run an unmodified example of pymoveit2 to its end.

    Args:
        name: Its name without ``ex_`` and ``.py``.
        parameters: ROS parameters as ``name:=value``.
    """
    words = [word for parameter in parameters for word in ("-p", parameter)]
    command = [sys.executable, str(PYMOVEIT2 / "examples" / f"ex_{name}.py"), "--ros-args", *words]
    for _ in range(EXAMPLE_TRIES):
        done = _to_its_end(command)
        if done.returncode == 0 or OWN_RACE not in done.stdout:
            break
    return done


def _to_its_end(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run an example; one that hangs is ended, with its output so far."""
    with subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(PYMOVEIT2)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=EXAMPLE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, output)


class MoveItClient:
    """A client of every service and action, on the node of the rig, which another thread spins.

    Args:
        rig: The running stack.
    """

    def __init__(self, rig: Rig) -> None:
        self.node = rig.client.node
        wait_for("an active move_group", lambda: rig.client.signs.is_active("move_group"), 120.0)
        self._clients = {name: self.node.create_client(kind, name) for name, kind in SERVICES.items()}
        self.actions = {name: ActionClient(self.node, kind, name) for name, kind in ACTIONS.items()}
        for name, client in self._clients.items():
            wait_for(name, client.service_is_ready)
        for name, action in self.actions.items():
            wait_for(name, action.server_is_ready)

    def call(self, name: str, request: Any = None) -> Any:
        """Return the response of a service.

        Args:
            name: Its name.
            request: The request; None: an empty one.
        """
        client = self._clients[name]
        return self._await(lambda: client.call_async(request or SERVICES[name].Request()))

    def plan(self, *goals: Constraints, group: str = "fr3_arm", **fields: Any) -> Any:
        """Return the response of ``plan_kinematic_path``.

        Args:
            goals: The alternatives of the goal.
            group: Name of the group.
            fields: Further fields of the request.
        """
        request = motion_request(*goals, group=group, **fields)
        return self.call(
            "plan_kinematic_path", GetMotionPlan.Request(motion_plan_request=request)
        ).motion_plan_response

    def send(self, name: str, goal: Any, take_feedback: Any = None) -> Any:
        """Return the handle of an accepted goal.

        Args:
            name: Name of the action.
            goal: The goal.
            take_feedback: Called with each feedback message; None: nobody.
        """
        handle = self._await(lambda: self.actions[name].send_goal_async(goal, take_feedback))
        assert handle.accepted
        return handle

    def result(self, handle: Any) -> Any:
        """Return status and result of a goal.

        Args:
            handle: Its handle.
        """
        return self._await(handle.get_result_async)

    def cancel(self, handle: Any) -> Any:
        """Return the response to a cancel.

        Args:
            handle: Handle of the goal.
        """
        return self._await(handle.cancel_goal_async)

    def move(self, *goals: Constraints, group: str = "fr3_arm", options: Any = None, **fields: Any) -> Any:
        """Return status and result of ``move_action``.

        Args:
            goals: The alternatives of the goal.
            group: Name of the group.
            options: ``PlanningOptions``; None: the defaults.
            fields: Further fields of the request.
        """
        goal = MoveGroup.Goal(request=motion_request(*goals, group=group, **fields))
        if options is not None:
            goal.planning_options = options
        return self.result(self.send("move_action", goal))

    def _await(self, begin: Any) -> Any:
        done, found = threading.Event(), []

        def take(future: Any) -> None:
            found.append(future.result())
            done.set()

        on_executor(self.node, lambda: begin().add_done_callback(take))
        assert done.wait(ANSWER_S), "no answer"
        return found[0]


def motion_request(*goals: Constraints, group: str = "fr3_arm", **fields: Any) -> MotionPlanRequest:
    """Return a motion plan request.

    Args:
        goals: The alternatives of the goal.
        group: Name of the group.
        fields: Further fields.
    """
    return MotionPlanRequest(group_name=group, goal_constraints=list(goals), **fields)


def pose_goal(
    *place: float,
    link: str = "fr3_hand_tcp",
    frame: str = "fr3_link0",
    xyzw: Sequence[float] | None = DOWN,
    tolerance: float = 0.01,
    region: SolidPrimitive | None = None,
) -> Constraints:
    """Return constraints as MoveGroupInterface makes them of a pose target.

    Args:
        place: x, y, z [m].
        link: Name of the link.
        frame: Frame of the pose.
        xyzw: Orientation; None: any.
        tolerance: Of the orientation [rad].
        region: Region of the position; None: a ball of 1 mm.
    """
    position = PositionConstraint(link_name=link)
    position.header.frame_id = frame
    pose = Pose()
    pose.position.x, pose.position.y, pose.position.z = map(float, place)
    position.constraint_region.primitives = [
        region or SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[1e-3])
    ]
    position.constraint_region.primitive_poses = [pose]
    found = Constraints(position_constraints=[position])
    if xyzw is not None:
        found.orientation_constraints = [upright(link, frame, xyzw, tolerance, tolerance)]
    return found


def upright(
    link: str, frame: str, xyzw: Sequence[float], tolerance: float, about_z: float
) -> OrientationConstraint:
    """Return an orientation constraint with another tolerance about z.

    Args:
        link: Name of the link.
        frame: Frame of the orientation.
        xyzw: The orientation.
        tolerance: About x and y [rad].
        about_z: About z [rad].
    """
    turn = OrientationConstraint(link_name=link, parameterization=OrientationConstraint.ROTATION_VECTOR)
    turn.header.frame_id = frame
    turn.orientation.x, turn.orientation.y, turn.orientation.z, turn.orientation.w = map(float, xyzw)
    turn.absolute_x_axis_tolerance = turn.absolute_y_axis_tolerance = tolerance
    turn.absolute_z_axis_tolerance = about_z
    return turn


def joint_goal(**positions: float) -> Constraints:
    """Return joint constraints.

    Args:
        positions: Position by name [rad].
    """
    return Constraints(
        joint_constraints=[
            JointConstraint(joint_name=name, position=q, tolerance_above=1e-3, tolerance_below=1e-3)
            for name, q in positions.items()
        ]
    )
