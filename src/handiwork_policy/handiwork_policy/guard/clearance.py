"""Distances of an arm to everything, by the planner's own kernels, at the rate of a control loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.contracts.planning import Attachment, SceneQuery
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_planning.collision.motion_check import first_blocked
from handiwork_planning.kernels.arrays import OFF
from handiwork_planning.scene.query import LINK_MARGIN_M, Query, Reader
from handiwork_planning.scene.scene import CollisionScene

WIDTH_STEP_M = 0.01
"""Openings of the gripper are rounded up to this, so that few robots have to be prepared, m."""
MOVED_M = 0.0005
"""Objects that moved less than this are taken to rest, m."""
SLACK_M = 2.0e-5
"""More than the error of the kernels; a pair that is nearer than it may be can come nearer by this in a step, m."""
HELD_SLACK_M = 5.0e-4
NEAR_M = 0.05
"""Pairs farther apart than this are not measured, m."""


@dataclass(frozen=True)
class _Known:
    width: float
    held: tuple[str, ...]
    poses: Array
    version: int


class ClearanceChecker:
    """Tests paths of one arm in the newest world. One thread at a time may use it.

    Args:
        robot: The robot.
        arm: The arm.
        world_T_root: Pose of the robot's root link.
        clearance_m: Distance that is kept, m.
        may_touch: Names of the objects that are no obstacle.
    """

    def __init__(
        self, robot: Robot, arm: ArmSpec, world_T_root: Pose, clearance_m: float, may_touch: tuple[str, ...]
    ) -> None:
        self._robot, self._arm, self._clearance_m = robot, arm, clearance_m
        self._ignored = frozenset(may_touch)
        self._scene, self._reader = CollisionScene(), Reader(robot, world_T_root)
        self._query: Query | None = None
        self._known: _Known | None = None
        self._hit = np.empty(2, dtype=np.int64)

    def update(self, world: World, held: tuple[Attachment, ...], q: Array) -> None:
        """Take the newest world over; cheap while nothing but the arm moves.

        Args:
            world: The world.
            held: What the arm holds.
            q: Positions of the arm's reference, (dof,), rad or m.
        """
        gripper, width = self._arm.gripper, 0.0
        if gripper is not None and gripper.joint in world.joints.position:
            now = gripper.width(world.joints.position[gripper.joint])
            width = min(np.ceil(now / WIDTH_STEP_M) * WIDTH_STEP_M, gripper.max_width_m)
        names = [name for name in world.objects if name in world.states and name not in self._ignored]
        poses = np.array(
            [
                [*world.states[n].world_T_object.translation_m, *world.states[n].world_T_object.rotation.wxyz]
                for n in names
            ]
        ).reshape(-1, 7)
        known = _Known(float(width), tuple(a.object for a in held), poses, world.version)
        if self._is_same(known):
            return
        joints = () if gripper is None else ((gripper.joint, gripper.position(known.width)),)
        ignored = self._ignored - {a.object for a in held}
        ignored &= frozenset(world.objects)
        self._scene.update(world)
        made = self._reader.read(self._arm, self._scene, SceneQuery(ignored, held, frozenset(), joints))
        self._query, self._known = self._with_clearance(made, q), known

    def blocked(self, path: Array) -> BodyPair | None:
        """Return the first pair that comes too near on a path of straight joint motions; None if it is free.

        Args:
            path: Positions, (n, dof), n at least 2, rad or m.
        """
        query = self._query
        assert query is not None, "update comes first"
        rows = np.ascontiguousarray(path)
        if first_blocked(query.checker, rows, self._hit) < 0:
            return None
        return query.pair(self._hit)

    def release(self, q: Array) -> None:
        """Let pairs that are nearer than they may be go apart: they must not come nearer than at ``q``.

        Args:
            q: Positions of the arm's reference, (dof,), rad or m.
        """
        if self._query is not None:
            self._query = self._with_clearance(self._query, q, is_widened=True)

    def _is_same(self, now: _Known) -> bool:
        old = self._known
        return (
            old is not None
            and (old.width, old.held, old.version) == (now.width, now.held, now.version)
            and old.poses.shape == now.poses.shape
            and (not len(old.poses) or float(np.abs(old.poses - now.poses).max()) < MOVED_M)
        )

    def _with_clearance(self, query: Query, q: Array, *, is_widened: bool = False) -> Query:
        margins = query.margins
        is_on = margins > 0.5 * OFF
        wide = margins if is_widened else np.where(is_on, margins + self._clearance_m, margins)
        d = query.distances(np.ascontiguousarray(q), NEAR_M)
        floor = np.where(query.held[:, None], d - HELD_SLACK_M, np.maximum(d - SLACK_M, LINK_MARGIN_M))
        lowered = np.where(is_on & (d < wide + SLACK_M), np.minimum(wide, floor), wide)
        return query.with_margins(lowered)
