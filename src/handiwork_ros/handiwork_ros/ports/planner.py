"""Implements the Planner port over the ``planner/*`` services."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from handiwork_msgs.msg import Candidate as CandidateMsg
from handiwork_msgs.srv import (
    CheckCandidates,
    PlanAlong,
    PlanStraight,
    PlanToJoints,
    PlanToPoses,
    ValidateTrajectory,
)
from rclpy.node import Node
from std_msgs.msg import Header

from handiwork_core.contracts.planning import (
    CandidatesRequest,
    CandidatesResult,
    JointGoals,
    PathGoal,
    PathRest,
    PlanRequest,
    PlanResult,
    PoseGoals,
    SceneQuery,
    ShouldStop,
    Verdict,
)
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import JointState
from handiwork_core.robot.robot import Robot
from handiwork_ros.conversions import (
    BadMessage,
    PlanOptions,
    candidate_verdict_from_msg,
    options_to_msg,
    outcome_from_msg,
    plan_result_from_msg,
    pose_array_to_msg,
    pose_to_msg,
    request_options_to_msg,
    scene_to_msg,
    time_to_msg,
    trajectory_to_msg,
)
from handiwork_ros.liveness.heartbeat import Heartbeats
from handiwork_ros.rclpy_support.service_call import NoAnswer, call

PLANNER = "planner_node"
GRACE_S = 2.0
"""The time for queueing and transport that a call has in addition to its planning budget, s."""

VALIDATE_S = 5.0
"""The budget of a validation, s of steady time."""
AGAIN_S = 0.05
"""The pause before a request to a planner whose queue is full is repeated, s."""

WORLD_HEADER = Header(frame_id="world")


class PlannerClient:
    """Client of the planner. Its methods block: call them from a worker thread while the node is spun.

    A lost planner is a result with PLANNER_LOST, not an exception.

    Args:
        node: Hosts the clients; another thread spins it.
        robot: Description of the robot.
        signs: Bond to the planner.
    """

    def __init__(self, node: Node, robot: Robot, signs: Heartbeats) -> None:
        self._node, self._robot, self._signs = node, robot, signs
        kinds = {
            "plan_to_poses": PlanToPoses,
            "plan_to_joints": PlanToJoints,
            "plan_straight": PlanStraight,
            "plan_along": PlanAlong,
            "check_candidates": CheckCandidates,
            "validate_trajectory": ValidateTrajectory,
        }
        self._clients = {name: node.create_client(kind, f"planner/{name}") for name, kind in kinds.items()}

    def plan(self, request: PlanRequest, *, should_stop: ShouldStop) -> PlanResult:
        """Plan a motion; see ``Planner.plan``.

        Args:
            request: The planning problem.
            should_stop: Returns True when the call must end.

        Returns:
            The planner's answer.
        """
        name, message = self._plan_message(request)
        answer = self._call(name, message, request.budget_s + GRACE_S, should_stop)
        if isinstance(answer, tuple):
            return PlanResult(answer[0], answer[1], seed=request.seed)
        return plan_result_from_msg(answer.result)

    def check_candidates(self, request: CandidatesRequest, *, should_stop: ShouldStop) -> CandidatesResult:
        """Check many candidates; see ``Planner.check_candidates``.

        Args:
            request: The candidates.
            should_stop: Returns True when the call must end.

        Returns:
            The planner's answer.
        """
        options = PlanOptions(
            arm=request.arm,
            start=self._start(request.arm, request.start_q),
            budget_s=request.budget_s,
            seed=request.seed,
        )
        message = CheckCandidates.Request(
            options=options_to_msg(options),
            frame_id="world",
            candidates=[
                CandidateMsg(poses=[pose_to_msg(p) for p in c.world_T_ee]) for c in request.candidates
            ],
            scenes=[scene_to_msg(s) for s in request.scenes],
        )
        answer = self._call("check_candidates", message, request.budget_s + GRACE_S, should_stop)
        if isinstance(answer, tuple):
            return CandidatesResult(answer[0], answer[1], ())
        dof = len(self._robot.arm(request.arm).joint_names)
        try:
            verdicts = tuple(candidate_verdict_from_msg(v, dof) for v in answer.verdicts)
        except BadMessage as error:
            return CandidatesResult(Code.INTERNAL, f"the planner's answer is malformed: {error}", ())
        outcome = outcome_from_msg(answer.outcome)
        return CandidatesResult(
            outcome.code, outcome.message, verdicts, answer.planning_time, answer.world_version
        )

    def validate(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, *, should_stop: ShouldStop
    ) -> Verdict:
        """Validate a trajectory; see ``Planner.validate``. The planner takes the newest joint_states as the start.

        Args:
            arm: Name of the arm.
            trajectory: The path of the arm's joints.
            scene: Obstacles and held objects.
            should_stop: Returns True when the call must end.

        Returns:
            The planner's verdict.
        """
        options = options_to_msg(PlanOptions(arm=arm, scene=scene, budget_s=VALIDATE_S))
        message = ValidateTrajectory.Request(options=options, trajectory=trajectory_to_msg(trajectory))
        return self._verdict(message, should_stop)

    def validate_rest(
        self, arm: str, trajectory: Trajectory, scene: SceneQuery, rest: PathRest, *, should_stop: ShouldStop
    ) -> Verdict:
        """Validate the rest of a motion that is under way; see ``Planner.validate_rest``.

        Args:
            arm: Name of the arm.
            trajectory: The whole path of the arm's joints.
            scene: Obstacles and held objects.
            rest: The rest of the path, and the world that it is checked against.
            should_stop: Returns True when the call must end.

        Returns:
            The planner's verdict.
        """
        message = ValidateTrajectory.Request(
            options=options_to_msg(PlanOptions(arm=arm, scene=scene, budget_s=VALIDATE_S)),
            trajectory=trajectory_to_msg(trajectory.remaining(rest.from_s)),
            under_way=True,
            changed=sorted(rest.changed),
            min_objects_version=rest.objects_version,
            min_states_stamp=time_to_msg(rest.states_stamp_s),
        )
        return self._verdict(message, should_stop)

    def _verdict(self, message: ValidateTrajectory.Request, should_stop: ShouldStop) -> Verdict:
        answer = self._call("validate_trajectory", message, VALIDATE_S + GRACE_S, should_stop)
        if isinstance(answer, tuple):
            return Verdict(answer[0], answer[1])
        outcome = outcome_from_msg(answer.outcome)
        return Verdict(outcome.code, outcome.message, outcome.blocking, answer.clearance, answer.point_index)

    def _plan_message(self, request: PlanRequest) -> tuple[str, Any]:
        options = request_options_to_msg(self._robot, request)
        goal = request.goal
        if isinstance(goal, JointGoals):
            return "plan_to_joints", PlanToJoints.Request(options=options, goals=np.ravel(goal.q).tolist())
        if isinstance(goal, PoseGoals):
            return "plan_to_poses", PlanToPoses.Request(
                options=options, goals=pose_array_to_msg(goal.world_T_ee)
            )
        if isinstance(goal, PathGoal):
            return "plan_along", PlanAlong.Request(
                options=options,
                path=pose_array_to_msg(goal.world_T_ee),
                max_deviation=float(goal.max_deviation_m),
            )
        pose = PoseStamped(header=WORLD_HEADER, pose=pose_to_msg(goal.world_T_ee))
        return "plan_straight", PlanStraight.Request(
            options=options, goal=pose, max_deviation=float(goal.max_deviation_m)
        )

    def _start(self, arm: str, q: Any) -> JointState:
        names = self._robot.arm(arm).joint_names
        return JointState(0.0, dict(zip(names, (float(v) for v in q), strict=True)))

    def _call(self, name: str, message: Any, timeout_s: float, should_stop: ShouldStop) -> Any:
        """Return the response, or a tuple of code and message; repeat the request while the planner's queue is full."""
        end_s, pause = time.monotonic() + timeout_s, threading.Event()
        while True:
            answer = self._ask(name, message, end_s - time.monotonic(), should_stop)
            left_s = end_s - time.monotonic()
            if not _is_busy(answer) or left_s < AGAIN_S or should_stop():
                return answer
            pause.wait(AGAIN_S)

    def _ask(self, name: str, message: Any, timeout_s: float, should_stop: ShouldStop) -> Any:
        """Return the response, or a tuple of code and message."""
        begun_s, gid = time.monotonic(), self._signs.gid(PLANNER)

        def is_lost() -> bool:
            newest = self._signs.gid(PLANNER)
            if newest is None:
                return self._signs.silence_s(PLANNER, begun_s) > self._signs.limit_s(PLANNER)
            return (gid is not None and newest != gid) or not self._signs.is_alive(PLANNER)

        answer = call(
            self._node,
            self._clients[name],
            message,
            timeout_s=timeout_s,
            should_stop=should_stop,
            is_lost=is_lost,
        )
        if answer is NoAnswer.STOPPED:
            return Code.CANCELED, "stopped while waiting for the planner"
        if answer is NoAnswer.LOST:
            _loss, reason = self._signs.loss(PLANNER)
            text = f"{reason or f'{PLANNER} was restarted, or is not there,'} during planner/{name}"
            return Code.PLANNER_LOST, f"{text}; restart it and send the goal again"
        if answer is NoAnswer.TIMEOUT:
            text = f"{PLANNER} lives but did not answer planner/{name} within {timeout_s:.1f} s; send the goal again"
            return Code.PLANNER_LOST, text
        if answer is NoAnswer.FAILED:
            return Code.INTERNAL, f"calling planner/{name} failed; see the log of {self._node.get_name()}"
        return answer


def _is_busy(answer: Any) -> bool:
    """Check whether the planner refused because of its queue; plans carry their outcome in ``result``."""
    if isinstance(answer, tuple):
        return False
    outcome = answer.result.outcome if hasattr(answer, "result") else answer.outcome
    return bool(outcome.code == Code.BUSY)
