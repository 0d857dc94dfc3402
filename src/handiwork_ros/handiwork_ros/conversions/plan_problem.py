"""Conversion of planning requests: their options, and the problems of a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import PoseArray
from handiwork_msgs.msg import PlanOptions as PlanOptionsMsg
from handiwork_msgs.msg import PlanProblem
from std_msgs.msg import Header

from handiwork_core.contracts.planning import JointGoals, PathGoal, PlanRequest, PoseGoals
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import JointState
from handiwork_core.robot.robot import Robot

from .planning import PlanOptions, options_to_msg
from .pose import pose_to_msg


def request_options_to_msg(robot: Robot, request: PlanRequest) -> PlanOptionsMsg:
    """Write the options of a planning request.

    Args:
        robot: The robot, which names the joints.
        request: The request. An empty ``start_q`` means the measured joints.
    """
    names = robot.arm(request.arm).joint_names
    q = np.ravel(request.start_q).tolist()
    return options_to_msg(
        PlanOptions(
            request.arm,
            JointState(0.0, dict(zip(names, q, strict=True))) if q else None,
            request.scene,
            request.hold_vec_weight,
            request.budget_s,
            request.velocity_scaling,
            request.acceleration_scaling,
            request.seed,
        )
    )


def plan_problem_to_msg(robot: Robot, request: PlanRequest) -> PlanProblem:
    """Write a planning request as one problem of a batch.

    Args:
        robot: The robot, which names the joints.
        request: The request.
    """
    problem, goal = PlanProblem(options=request_options_to_msg(robot, request)), request.goal
    if isinstance(goal, JointGoals):
        problem.kind, problem.goals = PlanProblem.TO_JOINTS, np.ravel(goal.q).tolist()
    elif isinstance(goal, PoseGoals):
        problem.kind, problem.poses = PlanProblem.TO_POSES, pose_array_to_msg(goal.world_T_ee)
    elif isinstance(goal, PathGoal):
        problem.kind, problem.poses = PlanProblem.ALONG, pose_array_to_msg(goal.world_T_ee)
        problem.max_deviation = float(goal.max_deviation_m)
    else:
        problem.kind, problem.poses = PlanProblem.STRAIGHT, pose_array_to_msg((goal.world_T_ee,))
        problem.max_deviation = float(goal.max_deviation_m)
    return problem


def pose_array_to_msg(poses: Sequence[Pose]) -> PoseArray:
    """Write poses in ``world``.

    Args:
        poses: The poses.
    """
    return PoseArray(header=Header(frame_id="world"), poses=[pose_to_msg(pose) for pose in poses])
