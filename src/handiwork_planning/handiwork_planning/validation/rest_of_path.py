"""The referee's check of the rest of a motion in progress, after something in the world has changed.

Most changes are far from the path: the balls around the bodies show that, which takes a millisecond.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from handiwork_core.contracts.planning import PathRest, SceneQuery, Verdict
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import Code
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import Shape, World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.voxels.voxel_map import UNMODELLED

from . import motion_limits, trajectory_check
from .robot_bodies import frames_of, rigid_parts, track_of
from .shape_distances import distance, radius
from .voxel_distances import distances_of

SPARE_M = 0.01
"""Bodies that keep this distance from all changes, beside their motion between samples, are clear of them, m."""


def collisions(
    robot: Robot,
    arm: ArmSpec,
    world_T_root: Pose,
    world: World,
    query: SceneQuery,
    trajectory: Trajectory,
    rest: PathRest,
) -> Verdict:
    """Judge the rest of a trajectory as ``trajectory_check.collisions`` does.

    Args:
        robot: The robot.
        arm: The arm that moves.
        world_T_root: Pose of the robot's root link.
        world: Objects and their states.
        query: Attachments, openings, ignored and allowed bodies.
        trajectory: The whole trajectory.
        rest: The time from which it is judged, and the objects that have changed.

    Returns:
        OK, or the first collision with an object of ``rest.changed``; ``at`` counts the samples of the rest.
    """
    fault = motion_limits.shape_fault(arm, trajectory)
    if fault:
        return Verdict(Code.TRAJECTORY_REFUSED, f"the trajectory {fault}", at=0)
    left, query = trajectory.remaining(rest.from_s), _since(query, rest.from_s)
    if rest.changed:
        same = frozenset(world.objects) - rest.changed
        query = replace(query, ignored=query.ignored | same)
        gap = _nearest(robot, arm, world_T_root, world, query, left)
        if gap > 0.0:
            return Verdict(Code.OK, "nothing that has changed is near the rest of the path", clearance_m=gap)
    is_whole = not rest.changed
    return trajectory_check.collisions(robot, arm, world_T_root, world, query, left, with_robot=is_whole)


def _since(query: SceneQuery, from_s: float) -> SceneQuery:
    """Return the scene with the times of arms that move in the same motion counted from a time on it, s."""
    others = (o if o.t_s is None else replace(o, t_s=o.t_s - from_s) for o in query.others)
    return replace(query, others=tuple(others))


def _nearest(
    robot: Robot, arm: ArmSpec, root: Pose, world: World, query: SceneQuery, left: Trajectory
) -> float:
    """Return a lower bound of the distance to all objects that count, anywhere on the way [m]; 0 or less: unknown."""
    bodies, rigid = trajectory_check.bodies_of(robot, world, query), rigid_parts(robot, arm)
    frames = frames_of(robot, arm, root, dict(query.gripper_m), left.q)
    held = {attachment.object for attachment in query.attached}
    names = [n for n in world.objects if n in world.states and n not in query.ignored and n not in held]
    nearest = float("inf")
    for body in bodies:
        if rigid[body.link] == rigid[robot.root_link]:
            continue
        track = track_of(frames[body.link], body)
        step = float(np.linalg.norm(np.diff(track.middle, axis=0), axis=1).max())
        if world.voxels is not None and UNMODELLED not in query.ignored:
            room = track.radius + step + SPARE_M
            gaps = distances_of(world.voxels).of_balls(track.middle, np.full(len(track.middle), room))
            nearest = min(nearest, float(gaps.min()))
        for name in names:
            pose = world.states[name].world_T_object
            for shape in world.objects[name].shapes:
                local = (pose @ shape.object_T_shape).inverse().apply(track.middle)
                room = track.radius + step + SPARE_M
                nearest = min(nearest, _gap(shape, local, room))
    return nearest


def _gap(shape: Shape, points: Array, room: float) -> float:
    """Return the distance of points (m, 3) from a shape, which may be replaced by a ball, beyond ``room``."""
    gap = float(np.linalg.norm(points, axis=1).min()) - radius(shape) - room
    if gap > 0.0 or shape.vertices is not None:
        return gap
    return float(distance(shape, points).min()) - room
