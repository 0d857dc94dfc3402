"""Goals for a tool in any frame: the tool's pose in the hand, and poses in the world."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.robot.tool_frames import ee_T_tool, tool_names
from skill_server.params import checks
from skill_server.state import gripper_state
from skill_server.state.frame_lookup import BASE, WORLD, frame_used
from skill_server.tool_paths.waypoints import MOST_WAYPOINTS, Leg, Waypoint, check_motion

from . import arm_motions

Row = tuple[float, float, float]


def check_tool(name: str, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
    """Refuse a tool that is neither a rigid frame of the hand nor an object.

    Args:
        name: Name of a link, a tool frame or an object; empty for the EE link.
        robot: Robot with the links and tool frames.
        arm: Arm of the goal.
        world: World at the time of the goal.

    Returns:
        OK, or the fault; whether an object is held is found out later.
    """
    if not name or name in world.objects:
        return OK
    known = {*robot.links, *robot.tool_frames, *(f"{robot.name}/{link}" for link in robot.links)}
    if name not in known:
        choices = [*tool_names(robot, arm), *sorted(world.objects)]
        text = f"tool is {name!r}, which is no link, tool frame or object; {nearest(name, choices)}"
        return checks.fault(Code.BAD_GOAL, "tool", text)
    try:
        ee_T_tool(robot, arm, name)
    except ValueError as error:
        return checks.fault(Code.UNSUPPORTED, "tool", f"tool {error}")
    return OK


def tool_in_hand(name: str, context: Context, world: World) -> Pose:
    """Return the pose of a tool in the EE frame.

    Args:
        name: Name of a link, a tool frame or the held object; empty for the EE link.
        context: Context of the run.
        world: Snapshot of the world.

    Returns:
        ee_T_tool.

    Raises:
        StepFailed: The object is not held.
    """
    if not name:
        return Pose.identity()
    if name in world.objects:
        return arm_motions.held(context, world, name).link_T_object
    return ee_T_tool(context.robot, context.arm_spec, name)


def tool_at_end(name: str, context: Context, before: World) -> Pose:
    """Return the pose of a tool in the EE frame, also of an object that was let go at the end of the run.

    Args:
        name: Name of a link, a tool frame or the object; empty for the EE link.
        context: Context of the run.
        before: Snapshot of before the run, in which the object was held.

    Returns:
        ee_T_tool.
    """
    if name in context.held:
        return context.held[name].link_T_object
    if name in before.states:
        base = context.world.world_T_base()
        return gripper_state.attachment(before, context.robot, context.arm_spec, base, name).link_T_object
    return tool_in_hand(name, context, before)


def rotation_of(euler: Row | None, quaternion: Sequence[float] | None) -> Rotation | None:
    """Return a given orientation.

    Args:
        euler: Fixed-axis x, y, z angles, deg; None for none.
        quaternion: Quaternion, w, x, y, z; None for none.

    Returns:
        The orientation; None when none is given.
    """
    if quaternion is not None:
        return Rotation.from_wxyz(quaternion)
    if euler is None:
        return None
    roll, pitch, yaw = np.deg2rad(euler)
    return Rotation.from_rpy(float(roll), float(pitch), float(yaw))


def orientation_frame(frame: str) -> str:
    """Return the frame of the orientations beside positions in a frame: the base for the world, else the same.

    Args:
        frame: Frame of the positions.
    """
    return BASE if frame == WORLD else frame


def check_waypoints(waypoints: Sequence[Waypoint]) -> Outcome:
    """Check each waypoint by itself.

    Args:
        waypoints: Waypoints of a goal.

    Returns:
        OK, or the faults.
    """
    if len(waypoints) > MOST_WAYPOINTS:
        text = f"waypoints has {len(waypoints)} entries; at most {MOST_WAYPOINTS} are taken, split the goal"
        return checks.fault(Code.BAD_GOAL, "waypoints", text)
    return checks.all_faults(_check_waypoint(f"waypoints[{i}].", point) for i, point in enumerate(waypoints))


def _check_waypoint(prefix: str, point: Waypoint) -> Outcome:
    orientation = OK
    if point.euler is not None and point.quaternion is not None:
        text = f"{prefix}euler fixes the orientation, so quaternion cannot apply; keep one of the two"
        orientation = checks.fault(Code.CONTRADICTION, f"{prefix}quaternion", text)
    elif point.quaternion is not None:
        try:
            Rotation.from_wxyz(point.quaternion)
        except ValueError as error:
            orientation = checks.fault(Code.BAD_NUMBER, f"{prefix}quaternion", f"{prefix}{error}")
    return checks.all_faults(
        (
            arm_motions.check_vector(f"{prefix}position", point.position, 5.0, "m"),
            check_motion(prefix, point.motion, point.interim, point.center),
            orientation,
        )
    )


def legs_of(
    waypoints: Sequence[Waypoint], frame: str, kept: Rotation, context: Context, world: World
) -> list[Leg]:
    """Return the legs to the waypoints of a goal, in the world.

    Args:
        waypoints: The waypoints.
        frame: Frame of waypoints that name none.
        kept: Orientation of the tool in the world where a waypoint gives none.
        context: Context of the run.
        world: Snapshot of the world.

    Raises:
        StepFailed: A frame is not known, or its newest transform is too old.
    """
    made = []
    for i, point in enumerate(waypoints):
        prefix, name = f"waypoints[{i}].", point.frame or frame
        place = frame_used(name, f"{prefix}frame" if point.frame else "frame", context, world)
        turn = rotation_of(point.euler, point.quaternion)
        if turn is not None:
            turn = frame_used(orientation_frame(name), f"{prefix}frame", context, world).rotation @ turn
        made.append(
            Leg(
                point.motion,
                Pose.of(place.apply(point.position), turn or kept),
                interim=applied(place, point.interim),
                center=applied(place, point.center),
                blend_m=point.blend_radius,
                goal_field=f"{prefix}position",
                arc_field=f"{prefix}{'interim' if point.interim is not None else 'center'}",
                blend_field=f"{prefix}blend_radius",
            )
        )
    return made


def applied(frame: Pose, point: Row | None) -> Array | None:
    """Return a point of a frame in the world.

    Args:
        frame: world_T_frame.
        point: Point in the frame, m; None for none.
    """
    return None if point is None else np.asarray(frame.apply(point))
