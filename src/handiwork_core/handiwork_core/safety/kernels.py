"""The checks of one control period, compiled. Independent of planner and controllers: own kinematics, own limits.

Vectors of the whole robot are (n,) in the order of its joint vector; frames are those of ``robot_model.Tree``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array

from .robot_model import Body, Ints, JointTable, Scratch, Tree, Zones

F = TypeVar("F", bound=Callable[..., object])

NOTHING, POSITION, VELOCITY, ACCELERATION, EFFORT, NOT_FINITE, TOOL_SPEED, ZONE = 0, 1, 2, 3, 4, 5, 6, 7
STEP = 0.02
"""Largest distance from the measurement at which a command may step, rad or m: so a path may begin beside an arm."""
SAMPLES = 6
"""Number of places on the way to the stop at which a sphere is compared with a zone."""
DEEPER = 1e-6
"""Motion into a zone below this distance is ignored, m."""


def compiled(function: F) -> F:
    """Compile a function at its first call and keep it on disk if a folder allows it.

    Args:
        function: A function that Numba supports.

    Returns:
        The compiled function.
    """
    try:
        made: F = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # there is no writable folder for it
        made = numba.njit(nogil=True, error_model="numpy")(function)
    return made


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
def forward(tree: Tree, q: Array, rotation: Array, translation: Array) -> None:
    """Compute the poses of all frames in the root link's frame.

    Args:
        tree: The robot, with k moving joints.
        q: Joint positions, (n,), rad or m.
        rotation: Filled with the rotations of the frames, (k + 1, 3, 3).
        translation: Filled with the origins of the frames, (k + 1, 3), m.
    """
    for a in range(3):
        translation[0, a] = 0.0
        for b in range(3):
            rotation[0, a, b] = 1.0 if a == b else 0.0
    for k in range(len(tree.parent)):
        p, source = tree.parent[k], tree.source[k]
        at = tree.offset[k] + (tree.multiplier[k] * q[source] if source >= 0 else 0.0)
        x, y, z = tree.axis[k, 0], tree.axis[k, 1], tree.axis[k, 2]
        sine, rest = 0.0, 0.0
        if tree.is_prismatic[k] == 0:
            sine, rest = math.sin(at), 1.0 - math.cos(at)
        for a in range(3):
            r0 = r1 = r2 = 0.0
            shift = translation[p, a]
            for b in range(3):
                up = rotation[p, a, b]
                r0 += up * tree.rotation[k, b, 0]
                r1 += up * tree.rotation[k, b, 1]
                r2 += up * tree.rotation[k, b, 2]
                shift += up * tree.translation[k, b]
            if tree.is_prismatic[k] == 1:
                shift += (r0 * x + r1 * y + r2 * z) * at
            translation[k + 1, a] = shift
            # Rodrigues: R (I + sin K + (1 - cos) K K), row by row; K K = a a' - I.
            along = r0 * x + r1 * y + r2 * z
            rotation[k + 1, a, 0] = r0 + sine * (r1 * z - r2 * y) + rest * (along * x - r0)
            rotation[k + 1, a, 1] = r1 + sine * (r2 * x - r0 * z) + rest * (along * y - r1)
            rotation[k + 1, a, 2] = r2 + sine * (r0 * y - r1 * x) + rest * (along * z - r2)


@compiled
def tool_speed(tree: Tree, body: Body, rate: Array, scratch: Scratch) -> tuple[float, int]:
    """Return the speed of the fastest tool centre point.

    Args:
        tree: The robot.
        body: Its tool centre points.
        rate: Joint velocities, (n,), rad/s or m/s.
        scratch: Poses of all frames, by ``forward``.

    Returns:
        Speed, m/s, and number of the tool.
    """
    rotation, translation = scratch.rotation, scratch.translation
    linear, angular = scratch.linear, scratch.angular
    for a in range(3):
        linear[0, a] = angular[0, a] = 0.0
    for k in range(len(tree.parent)):
        p, f, source = tree.parent[k], k + 1, tree.source[k]
        v = tree.multiplier[k] * rate[source] if source >= 0 else 0.0
        dx = translation[f, 0] - translation[p, 0]
        dy = translation[f, 1] - translation[p, 1]
        dz = translation[f, 2] - translation[p, 2]
        wx, wy, wz = angular[p, 0], angular[p, 1], angular[p, 2]
        linear[f, 0] = linear[p, 0] + wy * dz - wz * dy
        linear[f, 1] = linear[p, 1] + wz * dx - wx * dz
        linear[f, 2] = linear[p, 2] + wx * dy - wy * dx
        for a in range(3):
            turned = 0.0
            for b in range(3):
                turned += rotation[f, a, b] * tree.axis[k, b]
            angular[f, a] = angular[p, a]
            if tree.is_prismatic[k] == 1:
                linear[f, a] += turned * v
            else:
                angular[f, a] += turned * v
    fastest, which = 0.0, 0
    for t in range(len(body.tool_frame)):
        f = body.tool_frame[t]
        x = y = z = 0.0
        for b in range(3):
            x += rotation[f, 0, b] * body.tool_point[t, b]
            y += rotation[f, 1, b] * body.tool_point[t, b]
            z += rotation[f, 2, b] * body.tool_point[t, b]
        wx, wy, wz = angular[f, 0], angular[f, 1], angular[f, 2]
        vx = linear[f, 0] + wy * z - wz * y
        vy = linear[f, 1] + wz * x - wx * z
        vz = linear[f, 2] + wx * y - wy * x
        speed = math.sqrt(vx * vx + vy * vy + vz * vz)
        if speed > fastest:
            fastest, which = speed, t
    return fastest, which


@compiled
def fastest_tool(
    tree: Tree,
    body: Body,
    position: Array,
    rate: Array,
    scratch: Scratch,
) -> float:
    """Return the greatest tool speed among joint states.

    Args:
        tree: The robot.
        body: Its tool centre points.
        position: Joint positions, (r, n), rad or m.
        rate: Joint velocities, (r, n), rad/s or m/s.
        scratch: Overwritten.

    Returns:
        Speed, m/s; see ``tool_speed``.
    """
    fastest = 0.0
    for row in range(len(position)):
        forward(tree, position[row], scratch.rotation, scratch.translation)
        speed, _tool = tool_speed(tree, body, rate[row], scratch)
        fastest = max(fastest, speed)
    return fastest


@compiled
def place(rotation: Array, translation: Array, frame: int, point: Array, out: Array) -> None:
    """Compute a point of a frame in the root link's frame.

    Args:
        rotation: Rotations of the frames, (k + 1, 3, 3).
        translation: Origins of the frames, (k + 1, 3), m.
        frame: Number of the frame.
        point: Point in this frame, (3,), m.
        out: Filled with the point in the root link's frame, (3,), m.
    """
    for a in range(3):
        out[a] = translation[frame, a]
        for b in range(3):
            out[a] += rotation[frame, a, b] * point[b]


@compiled
def distance(zones: Zones, z: int, x: float, y: float, w: float) -> float:
    """Return the signed distance of a point from a zone, below zero inside.

    Args:
        zones: Keep-out zones in the root link's frame.
        z: Number of the zone.
        x: First coordinate of the point in the root link's frame, m.
        y: Second coordinate, m.
        w: Third coordinate, m.

    Returns:
        Distance, m.
    """
    dx, dy, dw = x - zones.translation[z, 0], y - zones.translation[z, 1], w - zones.translation[z, 2]
    r = zones.rotation[z]
    a = r[0, 0] * dx + r[1, 0] * dy + r[2, 0] * dw
    b = r[0, 1] * dx + r[1, 1] * dy + r[2, 1] * dw
    c = r[0, 2] * dx + r[1, 2] * dy + r[2, 2] * dw
    if zones.kind[z] == 2:
        return c
    if zones.kind[z] == 1:
        a, b = math.sqrt(a * a + b * b) - zones.half[z, 0], -math.inf
    else:
        a, b = abs(a) - zones.half[z, 0], abs(b) - zones.half[z, 1]
    c = abs(c) - zones.half[z, 2]
    inside = max(a, b, c)
    if inside <= 0.0:
        return inside
    a, b, c = max(a, 0.0), max(b, 0.0), max(c, 0.0)
    return math.sqrt(a * a + b * b + c * c)


@compiled
def travel(scratch: Scratch, frame: int, radius: float, now: Array, stop: Array) -> float:
    """Return a bound of the distance that a point of a group of spheres moves.

    Args:
        scratch: Poses of all frames at both ends of the motion.
        frame: Number of the group's frame.
        radius: Radius of the group about its middle, m.
        now: Middle of the group at the beginning, (3,), m.
        stop: Middle of the group at the end, (3,), m.

    Returns:
        Distance, m.
    """
    way, turn = 0.0, 0.0
    for a in range(3):
        way += (stop[a] - now[a]) ** 2
        for b in range(3):
            turn += (scratch.stop_rotation[frame, a, b] - scratch.rotation[frame, a, b]) ** 2
    return math.sqrt(way) + radius * math.sqrt(turn)


@compiled
def check_zones(zones: Zones, body: Body, scratch: Scratch, margin: float, found: Array) -> tuple[int, int]:
    """Find a sphere that moves into a zone, or deeper into one, between the command and the end of a stop.

    Args:
        zones: Keep-out zones.
        body: The spheres.
        scratch: Poses of all frames at both ends of the way.
        margin: Distance that is kept, m.
        found: Gets the least distance on the way, m, at 1 and the margin, m, at 2; (3,).

    Returns:
        Numbers of the zone and of the group of the sphere; -1 if there is none.
    """
    now, stop = np.zeros(3), np.zeros(3)
    for g in range(len(body.group_frame)):
        f, bound = body.group_frame[g], body.group_radius[g]
        place(scratch.rotation, scratch.translation, f, body.group_center[g], now)
        place(scratch.stop_rotation, scratch.stop_translation, f, body.group_center[g], stop)
        far = travel(scratch, f, bound, now, stop) + bound + margin
        for z in range(len(zones.kind)):
            if distance(zones, z, now[0], now[1], now[2]) > far:
                continue
            for s in range(body.first[g], body.first[g + 1]):
                if enters(zones, z, body, s, f, scratch, margin, found):
                    return z, g
    return -1, -1


@compiled
def enters(
    zones: Zones, z: int, body: Body, s: int, f: int, scratch: Scratch, margin: float, found: Array
) -> bool:
    """Check whether a sphere moves into a zone, or deeper into it; see ``check_zones``.

    Args:
        zones: Keep-out zones.
        z: Number of the zone.
        body: The spheres.
        s: Number of the sphere.
        f: Number of its frame.
        scratch: Poses of all frames at both ends of the way.
        margin: Distance that is kept, m.
        found: Gets the distance, m, at 1 and the margin, m, at 2; (3,).

    Returns:
        True if it does.
    """
    now, stop, radius = np.zeros(3), np.zeros(3), body.sphere_radius[s]
    place(scratch.rotation, scratch.translation, f, body.sphere_center[s], now)
    place(scratch.stop_rotation, scratch.stop_translation, f, body.sphere_center[s], stop)
    here = distance(zones, z, now[0], now[1], now[2]) - radius
    dx, dy, dz = stop[0] - now[0], stop[1] - now[1], stop[2] - now[2]
    if here > margin + math.sqrt(dx * dx + dy * dy + dz * dz):
        return False
    for k in range(1, SAMPLES + 1):
        u = k / SAMPLES
        there = distance(zones, z, now[0] + u * dx, now[1] + u * dy, now[2] + u * dz) - radius
        if there < margin and there < here - DEEPER:
            found[1], found[2] = there, margin
            return True
    return False


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


@compiled
def net_forces(
    bodies: NDArray[np.int32],
    address: NDArray[np.int32],
    frame: Array,
    force: Array,
    group: Ints,
    total: Array,
) -> None:
    """Sum the contact forces on each group of bodies from a simulator's list of contacts.

    Args:
        bodies: The two bodies of each contact, (c, 2).
        address: Start of each contact's force in ``force``, (c,); below zero for a contact without force.
        frame: Axes of each contact by rows, (c, 9); its force acts on the second body.
        force: Forces of all constraints, N.
        group: Group of each body, -1 for none.
        total: Filled with the net force on each group in world axes, (g, 3), N.
    """
    total[:] = 0.0
    for c in range(len(address)):
        first, second = group[bodies[c, 0]], group[bodies[c, 1]]
        if address[c] < 0 or first == second:
            continue
        for a in range(3):
            f = 0.0
            for b in range(3):
                f += force[address[c] + b] * frame[c, 3 * b + a]
            if first >= 0:
                total[first, a] -= f
            if second >= 0:
                total[second, a] += f
