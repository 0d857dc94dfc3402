"""Antipodal grasps of a parallel gripper, made from an object's shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.robot.robot import GripperSpec
from handiwork_core.scene.bounds import support, world_aabb
from skill_server.geometry.mesh_contacts import opposite_pairs
from skill_server.geometry.solids import shape_box
from skill_server.state.gripper_reach import GripperReach

from .finger_clearance import FINGER_THICKNESS_M, fingers_blocked, palm_blocked
from .opposite_faces import face_closings

TILTS_DEG = (0.0, 15.0, -15.0, 30.0, -30.0, 45.0, -45.0, 60.0, -60.0, 75.0, -75.0, 90.0, -90.0)
TURNS = 12
"""The number of closing directions that are tried around a round body."""
CLEARANCE_M = 0.008
"""The opening must be this much wider than the object."""
SUPPORT_MARGIN_M = 0.004
FINGER_HALF_BREADTH_M = 0.011
FAR_TIPS_MM = 20.0
"""Finger tips that reach so far beyond the TCP keep it above low objects; a message then tells their distance, mm."""
LEAST_DEPTH_M = 0.008
"""The TCP goes at least this deep into the object."""
PALM_M = 0.003
"""Distance of the palm from the object."""
STEEP_Z = -0.3
"""The vertical component up to which an approach is so steep that less depth raises the finger tips."""


@dataclass(frozen=True, slots=True, eq=False)
class Grasp:
    """One grasp of an object.

    Attributes:
        world_T_ee: Pose of the EE when the fingers close.
        width_m: Distance between the pads, m.
        score: Lower is better; 0 is straight down on the centre.
        approach: Direction of the approach in the world, (3,); None: along the hand's own axis.
    """

    world_T_ee: Pose
    width_m: float
    score: float
    approach: Array | None = None


@dataclass(frozen=True, slots=True)
class GraspSet:
    """The grasps of one object.

    Attributes:
        grasps: Grasps, best first.
        removed: Reasons why others were not made.
    """

    grasps: tuple[Grasp, ...]
    removed: str


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """One line of closing on a body.

    ``closing`` (3,) unit and ``centre`` (3,) in the world, ``width_m`` between the pads.
    """

    closing: Array
    centre: Array
    width_m: float
    shape: Shape
    world_T_shape: Pose


def grasps_for(
    body: WorldObject, world_T_object: Pose, gripper: GripperSpec, reach: GripperReach, opening_m: float
) -> GraspSet:
    """Make antipodal grasps of a body of primitives that rests on a support at its lowest point.

    A hull is grasped at its faces. The TCP is at the middle of the body or as deep as palm and knuckles let it; finger
    tips stay ``SUPPORT_MARGIN_M`` above the lowest point; open fingers and palm are clear of the body's other shapes.

    Args:
        body: Object to grasp.
        world_T_object: Pose of the object.
        gripper: Parallel gripper.
        reach: Lengths of palm and fingers, and the palm's spheres.
        opening_m: Opening of the fingers before they close, m.

    Returns:
        The grasps, best first.
    """
    floor = float(world_aabb(body, world_T_object)[0][2])
    made: list[Grasp] = []
    wide = shallow = low = 0
    for line in _lines(body, world_T_object):
        if line.width_m > opening_m - CLEARANCE_M:
            wide += 1
            continue
        for tilt in TILTS_DEG:
            approach = _approach(line.closing, np.deg2rad(tilt))
            half = _half_m(line, approach)
            body_end = reach.body_end_m(line.width_m)
            least, deepest = min(LEAST_DEPTH_M, half), min(half, gripper.tcp_offset_m - body_end - PALM_M)
            depth = _depth_above(floor, line, approach, half, deepest, reach.tip_m - gripper.tcp_offset_m)
            if deepest < least:
                shallow += 1
            elif depth < least:
                low += 1
            else:
                made.append(_grasp(line, approach, depth, gripper))
    poses = [grasp.world_T_ee for grasp in made]
    blocked = fingers_blocked(poses, body, world_T_object, gripper, reach, opening_m)
    met = palm_blocked(poses, body, world_T_object, reach) & ~blocked
    free = [grasp for grasp, is_blocked in zip(made, blocked | met, strict=True) if not is_blocked]
    ahead = (reach.tip_m - gripper.tcp_offset_m) * 1e3
    tips = f"the finger tips, {ahead:.0f} mm ahead of the TCP," if ahead >= FAR_TIPS_MM else "the finger tips"
    removed = (
        f"{wide} closing directions were wider than {(opening_m - CLEARANCE_M) * 1e3:.0f} mm, "
        f"{shallow} grasps would be less than {LEAST_DEPTH_M * 1e3:.0f} mm deep with palm or knuckles at the object, "
        f"{low} would put {tips} into the support, {int(blocked.sum())} the fingers into the object, "
        f"{int(met.sum())} the palm"
    )
    return GraspSet(tuple(sorted(free, key=lambda g: g.score)), removed)


def _lines(body: WorldObject, world_T_object: Pose) -> Iterator[_Line]:
    for shape in body.shapes:
        world_T_shape = world_T_object @ shape.object_T_shape
        for direction, centre, width in _closings(shape, world_T_shape):
            for sign in (1.0, -1.0):
                yield _Line(sign * direction, centre, width, shape, world_T_shape)


def _closings(shape: Shape, world_T_shape: Pose) -> Iterator[tuple[Array, Array, float]]:
    """Yield closing directions (3,), middles (3,) between the pads in the world, and distances [m]."""
    turn = world_T_shape.rotation.matrix()
    if shape.kind is ShapeKind.MESH:
        for direction, centre, width in opposite_pairs(shape):
            yield turn @ direction, world_T_shape.apply(centre), width
        return
    faces = face_closings(shape.vertices) if shape.vertices is not None else []
    for direction, centre in faces:
        yield turn @ direction, world_T_shape.apply(centre), _width(shape, direction)
    if faces:
        return
    middle = shape_box(shape).pose.translation_m
    for direction in _closing_directions(shape, world_T_shape):
        local = turn.T @ direction
        offset = 0.5 * (support(shape, local) - support(shape, -local)) - float(middle @ local)
        yield direction, world_T_shape.apply(middle) + offset * direction, _width(shape, local)


def _width(shape: Shape, direction: Array) -> float:
    """Return the extent along a unit vector (3,) of the shape's frame, m."""
    return support(shape, direction) + support(shape, -direction)


def _closing_directions(shape: Shape, world_T_shape: Pose) -> list[Array]:
    """Return unit vectors in the world along which two pads meet parallel or opposite surfaces, in one sense each."""
    if shape.kind in (ShapeKind.BOX, ShapeKind.CONVEX, ShapeKind.MESH):
        axes = list((world_T_shape.rotation @ shape_box(shape).pose.rotation).matrix().T)
    else:
        turn = np.eye(3) if shape.kind is ShapeKind.SPHERE else world_T_shape.rotation.matrix()
        angles = np.arange(TURNS) * np.pi / TURNS
        axes = [np.cos(a) * turn[:, 0] + np.sin(a) * turn[:, 1] for a in angles]
        if shape.kind is not ShapeKind.SPHERE:
            axes.append(turn[:, 2])
    return axes


def _approach(closing: Array, tilt_rad: float) -> Array:
    """Return a unit vector across ``closing``: the steepest way down, turned about ``closing``."""
    down = np.array([0.0, 0.0, -1.0]) - closing * -closing[2]
    if np.linalg.norm(down) < 1e-3:
        down = np.array([1.0, 0.0, 0.0]) - closing * closing[0]
    down = down / np.linalg.norm(down)
    side = np.cross(closing, down)
    return np.asarray(np.cos(tilt_rad) * down + np.sin(tilt_rad) * side)


def _half_m(line: _Line, approach: Array) -> float:
    """Return the distance along ``approach`` from the near surface to the middle between the pads, m."""
    local = line.world_T_shape.rotation.matrix().T @ approach
    return float((line.centre - line.world_T_shape.translation_m) @ approach) + support(line.shape, -local)


def _depth_above(
    floor: float, line: _Line, approach: Array, half: float, deepest: float, tip: float
) -> float:
    """Return the depth of the TCP beyond the near surface at which the finger tips stay above the support, m.

    At most ``deepest``; negative infinity where less depth does not raise the tips. ``tip`` is the distance of the tips
    ahead of the TCP.
    """
    surface = line.centre - half * approach
    side = np.cross(line.closing, approach)
    drop = abs(side[2]) * FINGER_HALF_BREADTH_M + abs(line.closing[2]) * (
        line.width_m / 2.0 + FINGER_THICKNESS_M
    )
    lowest = float((surface + (deepest + tip) * approach)[2]) - drop
    missing = floor + SUPPORT_MARGIN_M - lowest
    if missing <= 0.0:
        return deepest
    return deepest - missing / -float(approach[2]) if approach[2] <= STEEP_Z else -np.inf


def _grasp(line: _Line, approach: Array, depth: float, gripper: GripperSpec) -> Grasp:
    half = _half_m(line, approach)
    tcp = line.centre + (depth - half) * approach
    columns = np.zeros((3, 3))
    columns[:, gripper.ee_axis], columns[:, gripper.closing_axis] = approach, line.closing
    third = 3 - gripper.ee_axis - gripper.closing_axis
    columns[:, third] = np.cross(columns[:, (third + 1) % 3], columns[:, (third + 2) % 3])
    pose = Pose.of(tcp - gripper.tcp_offset_m * approach, Rotation.from_matrix(columns))
    steep = float(np.arccos(np.clip(-approach[2], -1.0, 1.0))) / (np.pi / 2.0)
    off_centre = (half - depth) / max(half, 1e-6)
    return Grasp(pose, line.width_m, steep + 0.3 * off_centre + 0.2 * line.width_m / gripper.max_width_m)
