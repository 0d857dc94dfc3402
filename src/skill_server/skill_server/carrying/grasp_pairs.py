"""Grasps of one object for two hands: apart from each other, on both sides of its middle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import Shape, ShapeKind, World, WorldObject
from handiwork_core.robot.robot import ArmSpec, GripperSpec, Robot
from handiwork_core.scene.bounds import support, world_aabb
from skill_server.grasping.antipodal_grasps import grasps_for
from skill_server.state import gripper_reach

LEAST_APART_M = 0.12
"""Least distance between the TCPs of both hands, m."""
EDGE_M = 0.02
"""Fingers keep this distance from the ends of a long object, m."""
SHARES = (1.0, -1.0, 0.7, -0.7, 0.4, -0.4)
"""Places of grasps between the middle of a long object and its ends."""
OFF_MIDDLE = 4.0
"""Cost of a metre between the middle of the object and the line of the hands."""
NEAR = 0.5
"""Cost of a metre that the hands are nearer to each other than the object's length."""


@dataclass(frozen=True, slots=True, eq=False)
class HandGrasp:
    """A grasp of one hand.

    Attributes:
        object_T_ee: Pose of the hand in the frame of the object.
        tcp_m: The TCP in the frame of the object, (3,), m.
        cost: Lower is better.
    """

    object_T_ee: Pose
    tcp_m: Array
    cost: float


def hand_grasps(world: World, name: str, robot: Robot, arm: ArmSpec) -> tuple[HandGrasp, ...]:
    """Return grasps of an object where it is, off its middle.

    Args:
        world: Snapshot with the object.
        name: The object.
        robot: The robot.
        arm: An arm with fingers.
    """
    gripper, body, pose = arm.gripper, world.objects[name], world.states[name].world_T_object
    assert gripper is not None
    reach = gripper_reach.reach(robot, arm, gripper)
    middle, found = _middle(body), list[HandGrasp]()
    for grasp in grasps_for(body, pose, gripper, reach, gripper.max_width_m).grasps:
        for object_T_ee in _along(body, pose.inverse() @ grasp.world_T_ee, gripper, reach.tip_m):
            axis = object_T_ee.rotation.matrix()[:, gripper.ee_axis]
            tcp = object_T_ee.translation_m + gripper.tcp_offset_m * axis
            if np.linalg.norm(tcp - middle) >= 0.5 * LEAST_APART_M:
                found.append(HandGrasp(object_T_ee, tcp, grasp.score))
    return tuple(found)


def pairs(
    body: WorldObject, first: Sequence[HandGrasp], second: Sequence[HandGrasp]
) -> list[tuple[int, int, float]]:
    """Pair grasps of two hands.

    Args:
        body: The object.
        first: Grasps of one hand.
        second: Grasps of the other one.

    Returns:
        Indices of both with their cost, best first.
    """
    if not first or not second:
        return []
    middle = _middle(body)
    one, other = (np.stack([grasp.tcp_m for grasp in side]) for side in (first, second))
    ways = other[None] - one[:, None]
    apart = np.linalg.norm(ways, axis=2)
    # Where the line between the hands is nearest to the middle of the object.
    share = np.einsum("ijk,ijk->ij", middle - one[:, None], ways) / np.maximum(apart, 1e-9) ** 2
    nearest = one[:, None] + np.clip(share, 0.0, 1.0)[:, :, None] * ways
    off = np.linalg.norm(nearest - middle, axis=2) + np.abs(share - 0.5) * apart
    cost = OFF_MIDDLE * off - NEAR * apart
    cost += np.array([g.cost for g in first])[:, None] + np.array([g.cost for g in second])[None]
    cost[apart < LEAST_APART_M] = np.inf
    order = np.argsort(cost, axis=None, kind="stable")
    rows, columns = np.unravel_index(order, cost.shape)
    made = zip(rows.tolist(), columns.tolist(), cost[rows, columns].tolist(), strict=True)
    return [one for one in made if np.isfinite(one[2])]


def _middle(body: WorldObject) -> Array:
    low, high = world_aabb(body, Pose.identity())
    return np.asarray(0.5 * (low + high))


def _along(body: WorldObject, object_T_ee: Pose, gripper: GripperSpec, tip_m: float) -> Iterator[Pose]:
    """Yield a grasp, for a single long box at several places of its length.

    The hand slides along an edge of the box, not along itself: one that is tilted would leave the box. The fingers are
    on the box from the TCP to their tips.

    Args:
        body: The object.
        object_T_ee: The grasp at the middle.
        gripper: Gripper of the arm.
        tip_m: Distance of the finger tips from the EE, m.
    """
    if len(body.shapes) != 1 or body.shapes[0].kind is not ShapeKind.BOX:
        yield object_T_ee
        return
    shape, turn = body.shapes[0], object_T_ee.rotation.matrix()
    edge = _edge(shape, turn[:, 3 - gripper.ee_axis - gripper.closing_axis])
    from_middle = object_T_ee.translation_m - shape.object_T_shape.translation_m
    ends = [
        float((from_middle + far * turn[:, gripper.ee_axis]) @ edge) for far in (gripper.tcp_offset_m, tip_m)
    ]
    most = (
        support(shape, shape.object_T_shape.rotation.matrix().T @ edge)
        - EDGE_M
        - 0.5 * abs(ends[1] - ends[0])
    )
    for share in SHARES:
        if most > 0.0:
            shift = share * most - 0.5 * (ends[0] + ends[1])
            yield Pose.of(object_T_ee.translation_m + shift * edge, object_T_ee.rotation)


def _edge(shape: Shape, side: Array) -> Array:
    """Return the direction of the edges of a box that is nearest to another direction, (3,)."""
    axes = shape.object_T_shape.rotation.matrix()
    along = axes.T @ side
    i = int(np.argmax(np.abs(along)))
    return np.asarray(np.sign(along[i]) * axes[:, i])
