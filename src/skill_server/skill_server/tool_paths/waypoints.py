"""The points of a goal with several motions, as a client writes them, and the motions from rest to rest they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from skill_server.params import checks

from .blends import rounded
from .sampling import sampled
from .segments import Line, PathRefused, Segment, arc_about, arc_through

PTP, LIN, CIRC = "ptp", "lin", "circ"
MOTIONS = (PTP, LIN, CIRC)
"""Kinds of motions, with the names of Pilz's planner in MoveIt: free, on a straight line, on an arc of a circle."""
LEAST_RADIUS_M, MOST_RADIUS_M = 0.01, 1.0
"""Range of blend radii. A curve is off its corner by at most 0.8 radii, and the planner follows it within 2 mm."""
LONGEST_M = 50.0
"""Longest curve of one goal, for which a client must not keep the server busy."""
MOST_WAYPOINTS = 100
Row = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waypoint:
    """A pose on the way to a goal. Without ``euler`` and ``quaternion`` the tool keeps its present orientation.

    Attributes:
        position: Position of the tool, m.
        frame: Frame of all its points and its orientation; empty: that of the goal's.
        euler: Orientation as fixed-axis x, y, z angles, deg.
        quaternion: Orientation, w, x, y, z.
        motion: ``ptp``, ``lin`` or ``circ``; the motion that leads to it.
        interim: Point on the arc of a ``circ``, m.
        center: Center of a ``circ``, which is then the shorter arc, m.
        blend_radius: The next motion begins within this distance, without a stop, m; 0: the tool stops.
    """

    position: Row
    frame: str = ""
    euler: Row | None = None
    quaternion: tuple[float, float, float, float] | None = None
    motion: str = LIN
    interim: Row | None = None
    center: Row | None = None
    blend_radius: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Leg:
    """One motion of a goal, in the world.

    Attributes:
        motion: ``ptp``, ``lin`` or ``circ``.
        goal: world_T_tool at its end.
        interim: Point on the arc, (3,), m; None for none.
        center: Center of the arc, (3,), m; None for none.
        blend_m: Radius of the blend at its end, m; 0: the tool stops.
        goal_field: Field of the goal that gives the end.
        arc_field: Field of the goal that gives the point or center of the arc.
        blend_field: Field of the goal that gives the radius.
    """

    motion: str
    goal: Pose
    interim: Array | None = None
    center: Array | None = None
    blend_m: float = 0.0
    goal_field: str = ""
    arc_field: str = ""
    blend_field: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Travel:
    """A motion from rest to rest.

    Attributes:
        poses: world_T_tool of its goal, and before it of the curve that leads there; one pose for a free motion.
        is_free: True for a free motion.
        first: Index of its first leg.
        last: Index of its last leg.
    """

    poses: tuple[Pose, ...]
    is_free: bool
    first: int
    last: int


def travels(start: Pose, legs: Sequence[Leg]) -> tuple[Travel, ...]:
    """Return the motions from rest to rest of a list of legs.

    Args:
        start: world_T_tool before the first leg.
        legs: Legs in order; blends are between ``lin`` and ``circ`` only, see ``check_blends``.

    Returns:
        The motions, in order.

    Raises:
        PathRefused: Points of an arc do not make one, blends overlap, or the curve is too long.
    """
    made: list[Travel] = []
    here, segments, begun, length_m = start, list[Segment](), 0, 0.0
    for i, leg in enumerate(legs):
        if leg.motion == PTP:
            made.append(Travel((leg.goal,), True, i, i))
        else:
            begun = begun if segments else i
            segments.append(_segment(here, leg))
            length_m += segments[-1].length_m
            if length_m > LONGEST_M:
                text = f"the curve to motion {i + 1} is {length_m:.1f} m long, more than {LONGEST_M:g} m; split it"
                raise PathRefused(leg.goal_field, text)
            if leg.blend_m == 0.0 or i == len(legs) - 1:
                blended = legs[begun:i]
                fields = [one.blend_field for one in blended]
                curve = rounded(segments, [one.blend_m for one in blended], fields)
                made.append(Travel(sampled(curve), False, begun, i))
                segments = []
        here = leg.goal
    return tuple(made)


def _segment(start: Pose, leg: Leg) -> Segment:
    if leg.interim is not None:
        return arc_through(start, leg.interim, leg.goal, leg.arc_field)
    if leg.center is not None:
        return arc_about(start, leg.center, leg.goal, leg.arc_field)
    return Line(start, leg.goal)


def check_motion(prefix: str, motion: str, interim: Row | None, center: Row | None) -> Outcome:
    """Refuse an unknown kind of motion, and points of an arc that do not go with it.

    Args:
        prefix: What precedes the names of the fields, such as ``waypoints[0].``.
        motion: Kind of the motion.
        interim: Point on the arc; None for none.
        center: Center of the arc; None for none.

    Returns:
        OK, or the faults.
    """
    given = [name for name, point in (("interim", interim), ("center", center)) if point is not None]
    fit = OK
    if motion == CIRC and len(given) != 1:
        text = (
            f"{prefix}motion circ needs either interim or center, and has {' and '.join(given) or 'neither'}"
        )
        fit = checks.fault(Code.CONTRADICTION, f"{prefix}motion", f"{text}; give one of them")
    elif motion != CIRC and given:
        text = f"{prefix}{given[0]} does nothing for motion {motion!r}; write motion circ, or leave it out"
        fit = checks.fault(Code.CONTRADICTION, f"{prefix}{given[0]}", text)
    return checks.all_faults(
        (
            checks.choice(f"{prefix}motion", motion, MOTIONS),
            fit,
            *(
                checks.number(f"{prefix}{name}[{k}]", value, -10.0, 10.0, "m")
                for name, point in (("interim", interim), ("center", center))
                for k, value in enumerate(point or ())
            ),
        )
    )


def check_blends(radii: Sequence[tuple[str, float]], motions: Sequence[str]) -> Outcome:
    """Refuse radii out of range, and blends beside a free motion.

    Args:
        radii: Field and radius [m] at the end of each motion but the last.
        motions: Kind of each motion.

    Returns:
        OK, or the faults.
    """
    found = []
    for (name, radius), kinds in zip(radii, pairwise(motions), strict=True):
        if radius != 0.0:
            found.append(checks.number(name, radius, LEAST_RADIUS_M, MOST_RADIUS_M, "m"))
            if PTP in kinds:
                text = f"{name} is {radius:g} m beside a ptp motion, which stops; set it to 0, or the motion to lin"
                found.append(checks.fault(Code.CONTRADICTION, name, text))
    return checks.all_faults(found)
