"""The checks of one control period, compiled. Independent of planner and controllers: own kinematics, own limits.

Vectors of the whole robot are (n,) in the order of its joint vector; frames are those of ``kernel_arrays.Tree``.
"""

from __future__ import annotations

import math

from handiwork_core.model.geometry import Array

from .jit import compiled
from .kernel_arrays import Body, JointTable, Scratch, Tree, Zones
from .tool_kinematics import forward, tool_speed
from .zone_check import check_zones

NOTHING, POSITION, VELOCITY, ACCELERATION, EFFORT, NOT_FINITE, TOOL_SPEED, ZONE = 0, 1, 2, 3, 4, 5, 6, 7
STEP = 0.02
"""Largest distance from the measurement at which a command may step, rad or m: so a path may begin beside an arm."""


@compiled
def check_joints(
    table: JointTable,
    command: Array,
    rate: Array,
    last: Array,
    last_rate: Array,
    measured: Array,
    measured_rate: Array,
    effort: Array,
    over_s: Array,
    scale: float,
    step_s: float,
    effort_time_s: float,
    found: Array,
) -> int:
    """Compare command and measurement with the joints' limits.

    A step of the command towards the measured state is no violation, because a controller aborts a path in this way.
    A command beyond a position limit is no violation while it returns. A joint that could not brake any more in
    front of its position limit violates that limit.

    Args:
        table: Limits of the m supervised joints.
        command: Positions to be sent, (n,), rad or m.
        rate: Their velocities, (n,), rad/s or m/s.
        last: Positions sent a period ago, (n,), rad or m.
        last_rate: Their velocities, (n,), rad/s or m/s.
        measured: Measured positions, (n,), rad or m.
        measured_rate: Measured velocities, (n,), rad/s or m/s.
        effort: Efforts of the drives, (n,), Nm or N; nan if they are unknown.
        over_s: Time for which each effort has exceeded its limit, (m,), s; updated.
        scale: Share of the velocity limits.
        step_s: Control period, s.
        effort_time_s: Time for which an effort may exceed its limit, s.
        found: Gets the supervised joint's number, the value and the limit, (3,).

    Returns:
        Code of the limit that is exceeded, or ``NOTHING``.
    """
    for j in range(len(table.place)):
        i = table.place[j]
        q, v, before, rate_before = command[i], rate[i], last[i], last_rate[i]
        here, moving = measured[i], measured_rate[i]
        found[0] = j
        if not (math.isfinite(q) and math.isfinite(v) and math.isfinite(here) and math.isfinite(moving)):
            found[1], found[2] = q, 0.0
            return NOT_FINITE
        rest = q + 0.5 * v * abs(v) / table.deceleration[j]
        if (rest > table.upper[j] and q > before) or (rest < table.lower[j] and q < before):
            found[1], found[2] = rest, table.upper[j] if rest > table.upper[j] else table.lower[j]
            return POSITION
        limit = table.velocity[j] * scale
        speed = abs(v)
        if abs(q - here) > STEP and abs(q - here) > abs(before - here):
            speed = max(speed, abs(q - before) / step_s)
        if speed > limit:
            found[1], found[2] = speed, limit
            return VELOCITY
        bend = abs(v - rate_before) / step_s
        if bend > table.acceleration[j] and abs(v - moving) > abs(rate_before - moving):
            found[1], found[2] = bend, table.acceleration[j]
            return ACCELERATION
        if abs(effort[i]) > table.effort[j]:
            over_s[j] += step_s
            if over_s[j] > effort_time_s:
                found[1], found[2] = abs(effort[i]), table.effort[j]
                return EFFORT
        else:
            over_s[j] = 0.0
    return NOTHING


@compiled
def check_space(
    table: JointTable,
    tree: Tree,
    body: Body,
    zones: Zones,
    scratch: Scratch,
    command: Array,
    rate: Array,
    at_stop: Array,
    tool_limit: float,
    margin: float,
    found: Array,
) -> int:
    """Compare the speed of the tools, and the way to the end of a stop, with their limits.

    Args:
        table: Decelerations of a stop.
        tree: The robot.
        body: Its spheres and tool centre points.
        zones: Keep-out zones.
        scratch: Overwritten.
        command: Positions to be sent, (n,), rad or m.
        rate: Their velocities, (n,), rad/s or m/s.
        at_stop: Filled with the positions at the end of the stop, (n,), rad or m.
        tool_limit: Greatest speed of a tool centre point, m/s.
        margin: Distance from a zone that is kept, m.
        found: Gets the number of tool or zone, value, limit, and the number of the group of spheres, (4,).

    Returns:
        Code of the limit that is exceeded, or ``NOTHING``.
    """
    forward(tree, command, scratch.rotation, scratch.translation)
    speed, tool = tool_speed(tree, body, rate, scratch)
    if speed > tool_limit:
        found[0], found[1], found[2] = tool, speed, tool_limit
        return TOOL_SPEED
    if len(zones.kind) == 0:
        return NOTHING
    time_s = 0.0
    for j in range(len(table.place)):
        time_s = max(time_s, abs(rate[table.place[j]]) / table.deceleration[j])
    if time_s == 0.0:
        return NOTHING
    for i in range(len(command)):
        at_stop[i] = command[i] + 0.5 * time_s * rate[i]
    forward(tree, at_stop, scratch.stop_rotation, scratch.stop_translation)
    zone, group = check_zones(zones, body, scratch, margin, found)
    if zone < 0:
        return NOTHING
    found[0], found[3] = zone, group
    return ZONE


@compiled
def check(
    table: JointTable,
    tree: Tree,
    body: Body,
    zones: Zones,
    scratch: Scratch,
    command: Array,
    rate: Array,
    last: Array,
    last_rate: Array,
    measured: Array,
    measured_rate: Array,
    effort: Array,
    over_s: Array,
    at_stop: Array,
    scale: float,
    tool_limit: float,
    margin: float,
    step_s: float,
    effort_time_s: float,
    found: Array,
) -> int:
    """Call ``check_joints``, then ``check_space``.

    Args:
        table: Limits of the m supervised joints.
        tree: The robot.
        body: Its spheres and tool centre points.
        zones: Keep-out zones.
        scratch: Overwritten.
        command: Positions to be sent, (n,), rad or m.
        rate: Their velocities, (n,), rad/s or m/s.
        last: Positions sent a period ago, (n,), rad or m.
        last_rate: Their velocities, (n,), rad/s or m/s.
        measured: Measured positions, (n,), rad or m.
        measured_rate: Measured velocities, (n,), rad/s or m/s.
        effort: Efforts of the drives, (n,), Nm or N; nan if they are unknown.
        over_s: Time for which each effort has exceeded its limit, (m,), s; updated.
        at_stop: Overwritten, (n,).
        scale: Share of the velocity limits.
        tool_limit: Greatest speed of a tool centre point, m/s.
        margin: Distance from a zone that is kept, m.
        step_s: Control period, s.
        effort_time_s: Time for which an effort may exceed its limit, s.
        found: Gets the number of the subject, value, limit, and the number of the group of spheres, (4,).

    Returns:
        Code of the limit that is exceeded, or ``NOTHING``.
    """
    code = check_joints(
        table,
        command,
        rate,
        last,
        last_rate,
        measured,
        measured_rate,
        effort,
        over_s,
        scale,
        step_s,
        effort_time_s,
        found,
    )
    if code != NOTHING:
        return code
    return check_space(table, tree, body, zones, scratch, command, rate, at_stop, tool_limit, margin, found)
