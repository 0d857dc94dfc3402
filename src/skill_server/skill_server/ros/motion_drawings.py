"""Publishes what a running goal does next: the motion that it begins, and the candidates that were rejected."""

from __future__ import annotations

from collections.abc import Callable

from geometry_msgs.msg import Vector3
from rclpy.node import Node
from std_msgs.msg import ColorRGBA
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import Marker, MarkerArray

from handiwork_core.contracts.delegating import A, DelegatingPlanner, Request
from handiwork_core.contracts.planning import CandidatesRequest, CandidatesResult, ShouldStop
from handiwork_core.contracts.ports import Planner
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_ros.conversions import pose_to_msg, trajectory_to_msg
from handiwork_ros.rclpy_support.qos import LATEST
from handiwork_ros.rclpy_support.service_call import on_executor
from skill_server.motions.candidate_selection import Ways, cause_of

MOST = 40
"""Rejected candidates that are drawn."""
ARROW = Vector3(x=0.05, y=0.004, z=0.004)
REJECTED = ColorRGBA(r=0.9, g=0.2, b=0.1, a=0.8)


class MotionDrawings:
    """Publishes on ``motion/planned`` and ``candidates/markers``; without a subscriber nothing is made.

    Args:
        node: Owns the publishers; its executor publishes.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._motions = node.create_publisher(JointTrajectory, "motion/planned", LATEST)
        self._markers = node.create_publisher(MarkerArray, "candidates/markers", LATEST)

    def show_motion(self, trajectory: Trajectory) -> None:
        """Publish a motion that begins; from any thread.

        Args:
            trajectory: The motion.
        """
        if self._motions.get_subscription_count():
            message = trajectory_to_msg(trajectory)
            on_executor(self._node, lambda: self._motions.publish(message))

    def show_candidates(self, request: CandidatesRequest, result: CandidatesResult) -> None:
        """Publish the candidates that were rejected, each with the cause; from any thread.

        Args:
            request: The candidates.
            result: Their verdicts.
        """
        if self._markers.get_subscription_count():
            message = MarkerArray(markers=[Marker(action=Marker.DELETEALL), *rejected(request, result)])
            on_executor(self._node, lambda: self._markers.publish(message))


def rejected(request: CandidatesRequest, result: CandidatesResult) -> list[Marker]:
    """Return an arrow along the x axis of the EE for each rejected candidate; its namespace is the cause.

    Args:
        request: The candidates.
        result: Their verdicts; none where the planner refused the request.
    """
    made = list[Marker]()
    for candidate, verdict in zip(request.candidates, result.verdicts, strict=False):
        if verdict.code is Code.OK or len(made) == MOST:
            continue
        pose = candidate.world_T_ee[max(0, verdict.waypoint)]
        marker = Marker(type=Marker.ARROW, action=Marker.ADD, ns=cause_of(verdict, Ways()), id=len(made))
        marker.header.frame_id, marker.pose = "world", pose_to_msg(pose)
        marker.scale, marker.color = ARROW, REJECTED
        made.append(marker)
    return made


class DrawnPlanner(DelegatingPlanner):
    """A planner port whose rejected candidates are drawn.

    Args:
        planner: The port that answers.
        drawings: Publishes them.
    """

    def __init__(self, planner: Planner, drawings: MotionDrawings) -> None:
        self._planner, self._drawings = planner, drawings

    def answer(
        self, port: str, arm: str, request: Request, ask: Callable[[Planner], A], should_stop: ShouldStop
    ) -> A:
        """Ask the planner, and draw what it rejects; see ``DelegatingPlanner.answer``.

        Args:
            port: Not used.
            arm: Not used.
            request: The arguments.
            ask: Asks a planner.
            should_stop: Not used.
        """
        result = ask(self._planner)
        if isinstance(request, CandidatesRequest) and isinstance(result, CandidatesResult):
            self._drawings.show_candidates(request, result)
        return result
