"""Three hundred malformed requests: each is answered with a code and a sentence, and nothing moves."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from support.stack.moveit_client import MoveItClient, joint_goal, motion_request, pose_goal
from support.stack.rig import Rig

from geometry_msgs.msg import Pose  # isort: skip
from moveit_msgs.msg import MoveItErrorCodes  # isort: skip
from moveit_msgs.srv import GetCartesianPath, GetMotionPlan, GetPositionFK, GetPositionIK  # isort: skip

pytestmark = pytest.mark.processes
LAUNCH_ARGUMENTS = {"moveit": "true"}
COUNT = 300
NAN, INF = float("nan"), float("inf")
NUMBERS = (NAN, INF, -INF)
NAMES = ("", "ghost", "fr3_link", "\u00fc" * 300, "../../etc", "fr3_hand\n")


def pick(rng: np.random.Generator, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def plan_request(rng: np.random.Generator) -> tuple[str, Any]:
    """Return a plan request with one fault."""
    request = motion_request(pose_goal(0.5, 0.0, 0.4))
    place, turn = (
        request.goal_constraints[0].position_constraints[0],
        request.goal_constraints[0].orientation_constraints[0],
    )
    number, name = pick(rng, NUMBERS), pick(rng, NAMES)

    def joint() -> None:
        goal = joint_goal(fr3_joint1=0.1)
        setattr(goal.joint_constraints[0], pick(rng, ("position", "tolerance_above", "tolerance_below")), NAN)
        request.goal_constraints = [goal]

    faults: tuple[Callable[[], Any], ...] = (
        lambda: setattr(request, "group_name", name or "ghost"),
        lambda: setattr(place, "link_name", name),
        lambda: setattr(turn, "link_name", name),
        lambda: setattr(place.header, "frame_id", name or "ghost"),
        lambda: setattr(turn.header, "frame_id", name or "ghost"),
        lambda: setattr(place.constraint_region.primitive_poses[0].position, pick(rng, "xyz"), number),
        lambda: setattr(place.target_point_offset, pick(rng, "xyz"), number),
        lambda: setattr(turn.orientation, pick(rng, "xyzw"), pick(rng, (NAN, INF, 7.0))),
        lambda: setattr(turn, f"absolute_{pick(rng, 'xyz')}_axis_tolerance", pick(rng, (NAN, -1.0))),
        lambda: setattr(turn, "parameterization", int(rng.integers(2, 255))),
        lambda: setattr(place.constraint_region, "primitive_poses", [Pose()] * int(rng.integers(2, 5))),
        lambda: setattr(place.constraint_region, "primitives", []),
        lambda: setattr(place.constraint_region.primitives[0], "type", int(rng.integers(4, 255))),
        lambda: setattr(place.constraint_region.primitives[0], "dimensions", [pick(rng, (NAN, INF, -1.0))]),
        lambda: setattr(place.constraint_region.primitives[0], "dimensions", []),
        lambda: setattr(
            request, pick(rng, ("max_velocity_scaling_factor", "max_acceleration_scaling_factor")), -1.0
        ),
        lambda: setattr(request, "allowed_planning_time", pick(rng, (NAN, -1.0, INF))),
        lambda: setattr(request, "goal_constraints", []),
        lambda: setattr(request, "max_cartesian_speed", 0.1),
        lambda: setattr(request, "trajectory_constraints", _constrained(request)),
        lambda: setattr(request.start_state.joint_state, "name", [name or "ghost"]),
        lambda: _start(request, [pick(rng, (NAN, 40.0))]),
        lambda: _start(request, [0.1, 0.2]),
        joint,
    )
    pick(rng, faults)()
    return "plan_kinematic_path", GetMotionPlan.Request(motion_plan_request=request)


def _constrained(request: Any) -> Any:
    copied = copy.deepcopy(request.trajectory_constraints)
    copied.constraints = list(request.goal_constraints)
    return copied


def _start(request: Any, positions: list[float]) -> None:
    request.start_state.joint_state.name = ["fr3_joint2"]
    request.start_state.joint_state.position = positions


def other_request(rng: np.random.Generator) -> tuple[str, Any]:
    """Return a request for kinematics or a path with one fault."""
    name, kind = pick(rng, NAMES) or "ghost", int(rng.integers(8))
    if kind < 2:
        fk = GetPositionFK.Request(fk_link_names=[name] if kind else [])
        return "compute_fk", fk
    if kind < 5:
        ik = GetPositionIK.Request()
        ik.ik_request.group_name = name if kind == 2 else "fr3_arm"
        ik.ik_request.ik_link_name = name if kind == 3 else "fr3_hand"
        ik.ik_request.pose_stamped.pose.position.x = pick(rng, (*NUMBERS, 9.0)) if kind == 4 else 0.4
        return "compute_ik", ik
    path = GetCartesianPath.Request(group_name="fr3_arm", max_step=0.01, waypoints=[Pose()])
    if kind == 5:
        path.max_step = pick(rng, (0.0, -1.0, *NUMBERS))
    elif kind == 6:
        path.waypoints = pick(rng, ([], [Pose()]))
        path.header.frame_id = "ghost"
    else:
        setattr(path, pick(rng, ("jump_threshold", "revolute_jump_threshold")), pick(rng, (NAN, -1.0)))
    return "compute_cartesian_path", path


def requests() -> Iterator[tuple[str, Any]]:
    rng = np.random.default_rng(0)
    for number in range(COUNT):
        yield other_request(rng) if number % 4 == 3 else plan_request(rng)


def test_every_malformed_request_has_a_code_and_a_sentence(rig: Rig, moveit: MoveItClient) -> None:
    values = set()
    for name, request in requests():
        answer = moveit.call(name, request)
        error = answer.motion_plan_response.error_code if name == "plan_kinematic_path" else answer.error_code
        assert error.val not in (
            MoveItErrorCodes.SUCCESS,
            MoveItErrorCodes.UNDEFINED,
            MoveItErrorCodes.FAILURE,
        ), request
        assert error.val != MoveItErrorCodes.CRASH, error.message
        assert len(error.message.split()) >= 4 and error.source, (request, error)
        values.add(error.val)
    assert len(values) >= 6, values
    assert moveit.plan(pose_goal(0.5, 0.0, 0.4)).error_code.val == MoveItErrorCodes.SUCCESS
    assert rig.joints.greatest_change() < 1e-3
