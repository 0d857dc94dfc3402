"""What a recording says about an arm at work: joints, objects, commands, goals and conditions, each over time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_data.episodes.episode import EpisodeError
from handiwork_viz.recording.bag_reader import Read

JOINTS, OBJECTS, CONDITIONS = "joint_states", "world/object_states", "conditions"
COMMANDS = "joint_commands"
FEEDBACK, STATUS = "/_action/feedback", "/_action/status"
SENT, ENDED = "/_action/send_goal/_service_event", "/_action/get_result/_service_event"
TRAJECTORY, GRIPPER = "/follow_joint_trajectory", "/gripper_cmd"
BUSY, TERMINAL = 2, (4, 5, 6)
"""Status of an action's goal in action_msgs: executing, and succeeded, canceled, aborted."""


@dataclass(frozen=True, eq=False)
class JointRow:
    """Measured joints: arrival, s since 1970; stamp, s; position, velocity and effort by joint."""

    at_s: float
    stamp_s: float
    position: dict[str, float]
    velocity: dict[str, float]
    effort: dict[str, float]


@dataclass(eq=False)
class Motion:
    """A trajectory that a controller followed.

    Attributes:
        begin_s: Stamp of the joints at which it was sent, s.
        joints: Names of its joints.
        times_s: Times of its points since its beginning, s.
        positions: Its points, (n, joints).
        shown: Stamps and times since the beginning that the controller reported.
    """

    begin_s: float
    joints: tuple[str, ...]
    times_s: Array
    positions: Array
    shown: list[tuple[float, float]] = field(default_factory=list)


@dataclass(eq=False)
class Goal:
    """A goal of a skill or a task.

    Attributes:
        action: Name of the action.
        begin_s: Stamp of its beginning, s.
        end_s: Stamp of its end, s; None while it runs.
        succeeded: True when the action reported so.
        request: Its goal; None where it was not recorded.
        outcome: Its outcome; None where it was not recorded.
        stages: Names of the stages with the stamps of their begin.
    """

    action: str
    begin_s: float
    end_s: float | None = None
    succeeded: bool = False
    request: Any = None
    outcome: Any = None
    stages: list[tuple[str, float]] = field(default_factory=list)


@dataclass(eq=False)
class Tracks:
    """A recording, sorted by what it says. Stamps are those of the joints, which is the robot's own time."""

    joints: list[JointRow] = field(default_factory=list)
    objects: list[tuple[float, dict[str, Array]]] = field(default_factory=list)
    commands: list[tuple[float, dict[str, float]]] = field(default_factory=list)
    motions: dict[str, Motion] = field(default_factory=dict)
    grippers: list[tuple[float, str, float]] = field(default_factory=list)
    goals: dict[str, Goal] = field(default_factory=dict)
    conditions: list[tuple[float, dict[str, tuple[int, float, str]]]] = field(default_factory=list)


def tracks_of(messages: Iterable[Read]) -> Tracks:
    """Sort the messages of a recording.

    Args:
        messages: The messages in the order of their arrival.

    Raises:
        EpisodeError: It is of several stacks, has no joint states, or its clock went back.
    """
    tracks, spaces = Tracks(), set[str]()
    for one in messages:
        name = one.topic.lstrip("/")
        if name.endswith(JOINTS):
            spaces.add(name.removesuffix(JOINTS))
            _take_joints(tracks, one)
        elif not tracks.joints:
            _take_goal(tracks, name, one, 0.0)
        elif name.endswith(OBJECTS) and not name.endswith(f"ground_truth/{OBJECTS}"):
            tracks.objects.append((_stamp(one.message.header), _poses(one.message)))
        elif name.endswith(COMMANDS):
            command = dict(zip(one.message.name, one.message.position, strict=False))
            tracks.commands.append((_stamp(one.message.header), command))
        elif name.rsplit("/", 1)[-1] == CONDITIONS and hasattr(one.message, "conditions"):
            found = {c.key: (int(c.value), float(c.margin), str(c.reason)) for c in one.message.conditions}
            tracks.conditions.append((tracks.joints[-1].stamp_s, found))
        else:
            _take_goal(tracks, name, one, tracks.joints[-1].stamp_s)
    if len(spaces) > 1:
        names = ", ".join(sorted(repr(space.rstrip("/")) for space in spaces))
        raise EpisodeError(f"the recording is of several stacks ({names}); record each with --topics")
    if not tracks.joints:
        raise EpisodeError(f"the recording has no topic {JOINTS}; record it with all topics")
    return tracks


def _take_joints(tracks: Tracks, one: Read) -> None:
    message, stamp_s = one.message, _stamp(one.message.header)
    if tracks.joints and stamp_s < tracks.joints[-1].stamp_s:
        raise EpisodeError(
            f"the clock of the recording went back from {tracks.joints[-1].stamp_s:.2f} to {stamp_s:.2f} s, as after a "
            "reset; record each run for itself"
        )
    values = (dict(zip(message.name, rows, strict=False)) for rows in _measured(message))
    tracks.joints.append(JointRow(one.at_s, stamp_s, *values))


def _measured(message: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401 - a decoded message
    return message.position, message.velocity, message.effort


def _take_goal(tracks: Tracks, name: str, one: Read, now_s: float) -> None:
    """Take what belongs to an action: of controllers the commands, of skills and tasks the goals."""
    message = one.message
    if name.endswith(SENT):
        action = name.removesuffix(SENT)
        for request in message.request:
            _take_request(tracks, f"/{action}", _key(request.goal_id), request.goal, now_s)
    elif name.endswith(FEEDBACK):
        key, feedback = _key(message.goal_id), message.feedback
        if key in tracks.motions:
            passed_s = _stamp_of(feedback.desired.time_from_start)
            tracks.motions[key].shown.append((_stamp(feedback.header), passed_s))
        elif key in tracks.goals:
            stage = getattr(getattr(feedback, "feedback", None), "stage", "")
            stages = tracks.goals[key].stages
            if stage and (not stages or stages[-1][0] != stage):
                stages.append((stage, now_s))
    elif name.endswith(STATUS):
        action = name.removesuffix(STATUS)
        if action.endswith((TRAJECTORY, GRIPPER)):
            return
        for status in message.status_list:
            _take_status(tracks, action, _key(status.goal_info.goal_id), int(status.status), now_s)
    elif name.endswith(ENDED):
        for request, response in zip(message.request, message.response, strict=False):
            goal = tracks.goals.get(_key(request.goal_id))
            if goal is not None:
                result = response.result
                goal.outcome = getattr(getattr(result, "result", result), "outcome", None)


def _take_request(tracks: Tracks, action: str, key: str, goal: Any, now_s: float) -> None:  # noqa: ANN401
    if action.endswith(TRAJECTORY):
        points = goal.trajectory.points
        times = np.array([_stamp_of(point.time_from_start) for point in points])
        rows = np.array([list(point.positions) for point in points])
        tracks.motions[key] = Motion(now_s, tuple(goal.trajectory.joint_names), times, rows)
    elif action.endswith(GRIPPER):
        for joint, position in zip(goal.command.name, goal.command.position, strict=False):
            tracks.grippers.append((now_s, joint, float(position)))
    else:
        known = tracks.goals.setdefault(key, Goal(action.strip("/"), now_s))
        known.request = goal


def _take_status(tracks: Tracks, action: str, key: str, status: int, now_s: float) -> None:
    if status == BUSY:
        tracks.goals.setdefault(key, Goal(action, now_s))
    goal = tracks.goals.get(key)
    if goal is not None and goal.end_s is None and status in TERMINAL:
        goal.end_s, goal.succeeded = now_s, status == TERMINAL[0]


def _poses(message: Any) -> dict[str, Array]:  # noqa: ANN401 - a decoded message
    found = {}
    for state in message.states:
        place, turn = state.pose.position, state.pose.orientation
        row = [place.x, place.y, place.z, turn.w, turn.x, turn.y, turn.z]
        found[str(state.name)] = np.array(row)
    return found


def _key(goal_id: Any) -> str:  # noqa: ANN401 - a decoded message
    return bytes(goal_id.uuid).hex()


def _stamp(header: Any) -> float:  # noqa: ANN401 - a decoded message
    return _stamp_of(header.stamp)


def _stamp_of(time: Any) -> float:  # noqa: ANN401 - a decoded message
    return float(time.sec) + 1e-9 * float(time.nanosec)
