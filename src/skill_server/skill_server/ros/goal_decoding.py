"""Decodes goal messages into skill parameters; checks every number, pose and frame, without waiting."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import PoseStamped, Quaternion
from handiwork_msgs.msg import OrientationFilter as OrientationFilterMsg

from handiwork_core.config.dataclass_loader import ConfigError, nearest
from handiwork_core.contracts.skill_params import SKILL
from handiwork_core.intake.limits import GOAL_LIST, GOAL_TEXT
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.actions.skill_binding import GoalRejected
from handiwork_ros.conversions import BadMessage, finite, pose_from_msg
from handiwork_ros.ports.frames import FrameBuffer
from skill_server.geometry.orientation_cones import OrientationFilter
from skill_server.params.parsing import nested_kind, nested_parameters_from_yaml
from skill_server.params.validation import Judge, apart_from
from skill_server.state.frame_lookup import KnownFrames

P = TypeVar("P")

WorldTFrame = Callable[[str, str], Pose]
"""Returns world_T_frame of a frame; the second argument is the goal field with its name. Raises HandiworkError."""


def decode_goal(params_type: type[P], goal: Any, world_T_frame: WorldTFrame, judge: Judge | None = None) -> P:
    """Fill a dataclass from the goal's fields of the same names.

    Args:
        params_type: Dataclass of the skill's parameters.
        goal: Goal message.
        world_T_frame: Looks up frames.
        judge: Check of the parameters, whose faults are added to those of the message; None: no check.

    Returns:
        The parameters.

    Raises:
        GoalRejected: A number is not finite, a pose is malformed or too far away for exact numbers, or a frame is
            unknown; the outcome names the first field, and lists all faults with those that ``judge`` finds in the
            other fields.
    """
    faults, values = list[Outcome](), dict[str, Any]()
    for f in dataclasses.fields(params_type):  # type: ignore[arg-type]  # every params type is a dataclass
        before = len(faults)
        given = getattr(goal, f.name)
        if other := f.metadata.get(SKILL):
            value = _nested(params_type, f.name, other, given, goal.arm, faults)
        else:
            value = _value(given, f.name, world_T_frame, faults)
        if len(faults) == before:
            values[f.name] = value
    if faults:
        bad = {f.name for f in dataclasses.fields(params_type)} - set(values)  # type: ignore[arg-type]
        rest = apart_from(judge(params_type(**values)), bad) if judge else ()
        raise GoalRejected(replace(faults[0], others=(*faults[1:], *rest)).in_one())
    return params_type(**values)


def decode_arm(robot: Robot, name: str) -> ArmSpec:
    """Return the arm of a goal.

    Args:
        robot: Robot with the arms.
        name: Name in the goal.

    Returns:
        The arm.

    Raises:
        GoalRejected: There is no such arm.
    """
    try:
        return robot.arm(name)
    except KeyError as error:
        arms = sorted(robot.arms)
        text = (
            f"arm {name!r} is not known; {nearest(name, arms)}"
            if name
            else f"arm is empty; name one of {arms}"
        )
        raise GoalRejected(Outcome(Code.BAD_GOAL, text, field_name="arm")) from error


def frames_of(robot: Robot, world: World, tf: FrameBuffer) -> WorldTFrame:
    """Return a lookup of frames among objects, robot links as measured now, and transforms.

    Args:
        robot: Robot with the links.
        world: Snapshot with the poses and joints.
        tf: Transforms.

    Returns:
        The lookup.
    """
    root = f"{robot.name}/{robot.root_link}"
    return KnownFrames(robot, world, lambda field: tf.lookup("world", root, field), tf).pose


def noting(world_T_frame: WorldTFrame, found: dict[str, Pose]) -> WorldTFrame:
    """Return a lookup that notes what it returns, because the parameters have no frames any more.

    Args:
        world_T_frame: Looks up frames.
        found: Takes world_T_frame of each frame by its name.

    Returns:
        The lookup.
    """

    def looked_up(name: str, field: str) -> Pose:
        found[name] = world_T_frame(name, field)
        return found[name]

    return looked_up


def _value(value: Any, field: str, world_T_frame: WorldTFrame, faults: list[Outcome]) -> Any:
    """Return the value, or None after adding a fault."""
    if isinstance(value, str) and len(value) > GOAL_TEXT:
        text = f"{field} has {len(value)} characters; at most {GOAL_TEXT} are taken"
        faults.append(Outcome(Code.BAD_GOAL, text, "check", field))
        return None
    if isinstance(value, (bool, str, int)):
        return value
    try:
        if isinstance(value, float):
            return float(finite((value,), field)[0])
        if isinstance(value, PoseStamped):
            return _pose(value, field, world_T_frame)
        if isinstance(value, Quaternion):
            return pose_from_msg(PoseMsg(orientation=value), field).rotation
    except HandiworkError as error:
        faults.append(error.outcome)
        return None
    if isinstance(value, OrientationFilterMsg):
        low, high = (
            _value(getattr(value, key), f"{field}.{key}", world_T_frame, faults)
            for key in ("min_angle_deg", "max_angle_deg")
        )
        return OrientationFilter(value.ee_axis, value.direction, low, high, value.frame)
    if len(value) > GOAL_LIST:
        text = f"{field} has {len(value)} entries; at most {GOAL_LIST} are taken, send fewer"
        faults.append(Outcome(Code.BAD_GOAL, text, "check", field))
        return None
    return tuple(_value(item, f"{field}[{i}]", world_T_frame, faults) for i, item in enumerate(value))


def _nested(kind: type[Any], name: str, skill: str, text: str, arm: str, faults: list[Outcome]) -> Any:
    """Return the parameters of another skill, None for an empty text, or None after adding faults."""
    if not text.strip():
        return None
    try:
        return nested_parameters_from_yaml(nested_kind(kind, name), skill, text, arm, name)
    except ConfigError as error:
        for fault in error.faults:
            key, found, _ = fault.partition(":")
            path = f"{name}.{key}" if found and " " not in key else name
            faults.append(Outcome(Code.BAD_GOAL, f"{name}.{fault}", "check", path))
        return None


def _pose(stamped: PoseStamped, field: str, world_T_frame: WorldTFrame) -> Pose:
    frame_T_ee = pose_from_msg(stamped.pose, f"{field}.pose")
    frame_field = f"{field}.header.frame_id"
    if not stamped.header.frame_id:
        raise BadMessage(frame_field, "is empty; name a frame, for example 'world'", Code.UNKNOWN_FRAME)
    world_T_source = world_T_frame(stamped.header.frame_id.lstrip("/"), frame_field)
    try:
        return world_T_source @ frame_T_ee
    except ValueError as error:
        raise BadMessage(f"{field}.pose.position", f"is too far away: {error}") from error
