"""Reading of the requests of the ``planner/*`` services: options, goals in ``world``, candidates and their scenes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from handiwork_core.contracts.planning import (
    NO_Q,
    Candidate,
    Goal,
    PathGoal,
    PathRest,
    PlanRequest,
    SceneQuery,
    StraightGoal,
)
from handiwork_core.intake.limits import GOAL_POSES, SCENES
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros import conversions as to
from handiwork_ros.ports.frames import FrameBuffer
from planner_node.pipeline.request_checks import (
    RequestRefused,
    check_limits,
    checked_arm,
    checked_q,
    ordered_q,
)


class RequestReader:
    """Reads the poses of requests.

    Args:
        frames: The received frames.
    """

    def __init__(self, frames: FrameBuffer) -> None:
        self._frames = frames

    def pose_in_world(self, pose: Any, frame_id: str, field: str) -> Pose:
        """Convert a message's pose to ``world``.

        Args:
            pose: The pose message.
            frame_id: Its frame.
            field: Name of the field, for errors.

        Returns:
            world_T_pose.

        Raises:
            Refused: The frame is not named.
            UnknownFrame: The frame is not known.
        """
        inner, frame = to.pose_from_msg(pose, field), self._world_T_frame(frame_id, field)
        return inner if frame is None else frame @ inner

    def poses_in_world(
        self, poses: Sequence[Any], frame_id: str, field: str, field_of: Callable[[int], str]
    ) -> tuple[Pose, ...]:
        """Convert many poses of a message to ``world``.

        Args:
            poses: The pose messages.
            frame_id: Their frame.
            field: Name of the field, for errors of the frame.
            field_of: Returns the field name of the pose with an index, for errors of poses.

        Returns:
            world_T_pose of each.

        Raises:
            Refused: The frame is not named.
            UnknownFrame: The frame is not known.
        """
        inner, frame = to.poses_from_msg(poses, field_of), self._world_T_frame(frame_id, field)
        return inner if frame is None else tuple(frame @ pose for pose in inner)

    def _world_T_frame(self, frame_id: str, field: str) -> Pose | None:
        """Return the pose of a frame in ``world``; None for ``world`` itself."""
        if not frame_id:
            text = f"{field}: header.frame_id is empty; name the frame, such as 'world'"
            raise RequestRefused(Code.UNKNOWN_FRAME, text, f"{field}.header.frame_id")
        if frame_id == "world":
            return None
        return self._frames.lookup("world", frame_id, f"{field}.header.frame_id")

    def goal_poses(self, array: Any, field: str) -> tuple[Pose, ...]:
        """Read the poses of a request.

        Args:
            array: The poses' message.
            field: Name of the field, for errors.

        Returns:
            world_T_pose of each.

        Raises:
            Refused: There is no pose, or the frame is not named.
            BadMessage: There are too many poses, or one is malformed.
            UnknownFrame: The frame is not known.
        """
        to.at_most(f"{field}.poses", len(array.poses), GOAL_POSES, "poses")
        if not array.poses:
            raise RequestRefused(Code.BAD_GOAL, f"{field} is empty; send at least one pose", field)
        return self.poses_in_world(array.poses, array.header.frame_id, field, lambda i: f"{field}[{i}]")

    def straight_goal(self, request: Any) -> StraightGoal:
        """Read the goal of a straight motion.

        Args:
            request: The request.

        Raises:
            Refused: The deviation is not above zero, or the frame is not named.
            UnknownFrame: The frame is not known.
        """
        check_deviation(request)
        pose = self.pose_in_world(request.goal.pose, request.goal.header.frame_id, "goal")
        return StraightGoal(pose, request.max_deviation)

    def path_goal(self, request: Any) -> PathGoal:
        """Read the goal of a motion along many poses.

        Args:
            request: The request.

        Raises:
            Refused: There is no pose, the deviation is not above zero, or the frame is not named.
            BadMessage: There are too many poses, or one is malformed.
            UnknownFrame: The frame is not known.
        """
        check_deviation(request)
        return PathGoal(self.goal_poses(request.path, "path"), request.max_deviation)

    def candidates(self, request: Any) -> tuple[Candidate, ...]:
        """Read the candidates of a request.

        Args:
            request: The request.

        Raises:
            Refused: The frame is not named.
            BadMessage: There are too many poses or scenes, or a pose is malformed.
            UnknownFrame: The frame is not known.
        """
        count = sum(len(c.poses) for c in request.candidates)
        to.at_most("candidates", count, GOAL_POSES, "poses")
        to.at_most("scenes", len(request.scenes), SCENES, "scenes")
        places = [(i, k) for i, c in enumerate(request.candidates) for k in range(len(c.poses))]
        poses = iter(
            self.poses_in_world(
                [pose for c in request.candidates for pose in c.poses],
                request.frame_id,
                "candidates",
                lambda n: "candidates[{}].poses[{}]".format(*places[n]),
            )
        )
        return tuple(Candidate(tuple(islice(poses, len(c.poses)))) for c in request.candidates)


def check_deviation(request: Any) -> None:
    """Check the largest deviation from a line.

    Args:
        request: A message with ``max_deviation``, m.

    Raises:
        Refused: It is not above zero.
    """
    if not 0.0 < request.max_deviation < float("inf"):
        text = f"max_deviation is {request.max_deviation}; send a number above 0"
        raise RequestRefused(Code.BAD_NUMBER, text, "max_deviation")


def options_for(msg: Any, robot: Robot) -> tuple[to.PlanOptions, ArmSpec, Any, float]:
    """Read the options of a request.

    Args:
        msg: The options' message.
        robot: The robot.

    Returns:
        Options, arm, start (dof,) or empty for the measured one, and the deadline, counted from now, s of steady time.

    Raises:
        Refused: The robot has no such arm, or a number is outside of its range.
        BadMessage: A part is malformed.
    """
    arrived_s = time.monotonic()
    options = to.options_from_msg(msg)
    arm = checked_arm(robot, options.arm)
    check_limits(options.budget_s, options.velocity_scaling, options.acceleration_scaling)
    start = NO_Q if options.start is None else ordered_q(options.start.position, arm, "options.start")
    return options, arm, start, arrived_s + options.budget_s


def plan_request(options: to.PlanOptions, arm: ArmSpec, start: Any, goal: Goal) -> PlanRequest:
    """Return the planning problem of a request.

    Args:
        options: Its options.
        arm: The arm.
        start: Joint positions at the start, (dof,), or empty for the measured ones.
        goal: The goal.
    """
    return PlanRequest(
        arm.name,
        start,
        goal,
        options.scene,
        options.hold_vec_weight,
        options.budget_s,
        options.velocity_scaling,
        options.acceleration_scaling,
        options.seed,
    )


def joint_goals(goals: Any, arm: ArmSpec) -> Any:
    """Read the configurations of a request.

    Args:
        goals: Their numbers in one row.
        arm: The arm.

    Returns:
        (n, dof), rad or m.

    Raises:
        Refused: They do not divide into configurations, or leave the limits.
        BadMessage: There are too many.
    """
    to.at_most("goals", len(goals), GOAL_POSES * len(arm.joint_names), "numbers")
    return checked_q(goals, arm, "goals")


def candidate_scenes(
    request: Any, candidates: Sequence[Candidate], scene: SceneQuery
) -> tuple[SceneQuery, ...]:
    """Read the scenes of candidates.

    Args:
        request: The request.
        candidates: Its candidates.
        scene: The scene of its options, for a request without scenes of its own.

    Returns:
        One scene for all poses, or one for each pose of a candidate.

    Raises:
        Refused: There is no candidate or an empty one, or the numbers of scenes and poses do not match.
        BadMessage: A scene is malformed.
    """
    counts = {len(c.world_T_ee) for c in candidates}
    if not candidates or 0 in counts:
        raise RequestRefused(
            Code.BAD_GOAL, "candidates is empty or holds an empty one; send poses", "candidates"
        )
    scenes = tuple(to.scene_from_msg(s, f"scenes[{i}]") for i, s in enumerate(request.scenes)) or (scene,)
    if len(scenes) > 1 and counts != {len(scenes)}:
        poses = sorted(counts)
        text = f"scenes has {len(scenes)} entries for candidates of {poses} poses; send one, or one per pose"
        raise RequestRefused(Code.BAD_GOAL, text, "scenes")
    return scenes


def path_rest(request: Any) -> PathRest | None:
    """Return the rest of a trajectory that is under way; None for one that has not begun.

    Args:
        request: The request.

    Raises:
        Refused: The time that the arm has reached is no time.
    """
    if not request.under_way:
        return None
    if not 0.0 <= request.from_time < float("inf"):
        text = f"from_time is {request.from_time}; send the time that the arm has reached, 0 or more"
        raise RequestRefused(Code.BAD_NUMBER, text, "from_time")
    stamp_s = to.time_from_msg(request.min_states_stamp)
    return PathRest(request.from_time, frozenset(request.changed), request.min_objects_version, stamp_s)
