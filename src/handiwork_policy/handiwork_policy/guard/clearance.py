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
    commanded: float
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
        self._wider: Query | None = None
        """The query of the opening that the fingers move to, while that is wider than the measured one."""
        self._known: _Known | None = None
        self._hit = np.empty(2, dtype=np.int64)
        self._measured_m = 0.0
        self.commanded_m = 0.0
        """Opening that the fingers were last sent to, m: they may be anywhere between it and the measured one."""

    def update(self, world: World, held: tuple[Attachment, ...], q: Array) -> None:
        """Take the newest world over; cheap while nothing but the arm moves.

        Args:
            world: The world.
            held: What the arm holds.
            q: Positions of the arm's reference, (dof,), rad or m.
        """
        gripper, width = self._arm.gripper, 0.0
        if gripper is not None and gripper.joint in world.joints.position:
            now = self._measured_m = gripper.width(world.joints.position[gripper.joint])
            width = min(np.ceil(now / WIDTH_STEP_M) * WIDTH_STEP_M, gripper.max_width_m)
        names = [name for name in world.objects if name in world.states and name not in self._ignored]
        poses = np.array(
            [
                [*world.states[n].world_T_object.translation_m, *world.states[n].world_T_object.rotation.wxyz]
                for n in names
            ]
        ).reshape(-1, 7)
        commanded = max(float(width), self.commanded_m)
        known = _Known(float(width), commanded, tuple(a.object for a in held), poses, world.version)
        if self._is_same(known):
            return
        self._scene.update(world)
        self._objects, self._held = frozenset(world.objects), held
        self._query, self._known = self._with_clearance(self._read(known.width), q), known
        self._wider = None
        if commanded > known.width:
            self._wider = self._with_clearance(self._read(commanded), q)

    def _read(self, width_m: float) -> Query:
        """Return the query of an opening in the world of the last update."""
        gripper = self._arm.gripper
        joints = () if gripper is None else ((gripper.joint, gripper.position(width_m)),)
        ignored = (self._ignored - {a.object for a in self._held}) & self._objects
        return self._reader.read(self._arm, self._scene, SceneQuery(ignored, self._held, frozenset(), joints))

    def blocked_opening(self, width_m: float, path: Array) -> BodyPair | None:
        """Return the first pair that fingers which open or close would touch; None if they are free.

        A hand that is turned to its side moves a finger down also while it closes.

        Args:
            width_m: Opening, m.
            path: Positions that the arm may have meanwhile, (n, dof), rad or m.
        """
        known, query = self._known, self._query
        assert known is not None
        assert query is not None
        if self._measured_m <= width_m <= known.commanded:
            return None
        moved = self._read(width_m)
        for q in np.ascontiguousarray(path):
            before, after = query.distances(q, NEAR_M), moved.distances(q, NEAR_M)
            touching = (moved.margins > 0.5 * OFF) & (after < LINK_MARGIN_M) & (after < before - SLACK_M)
            if touching.any():
                return moved.pair(np.argwhere(touching)[0])
        return None

    def blocked(self, path: Array) -> BodyPair | None:
        """Return the first pair that comes too near on a path of straight joint motions; None if it is free.

        Args:
            path: Positions, (n, dof), n at least 2, rad or m.
        """
        assert self._query is not None, "update comes first"
        rows = np.ascontiguousarray(path)
        for query in (self._query, self._wider):
            if query is not None and first_blocked(query.checker, rows, self._hit) >= 0:
                return query.pair(self._hit)
        return None

    def release(self, q: Array) -> None:
        """Let pairs that are nearer than they may be go apart: they must not come nearer than at ``q``.

        Args:
            q: Positions of the arm's reference, (dof,), rad or m.
        """
        if self._query is not None:
            self._query = self._with_clearance(self._query, q, is_widened=True)
        if self._wider is not None:
            self._wider = self._with_clearance(self._wider, q, is_widened=True)

    def _is_same(self, now: _Known) -> bool:
        old = self._known
        return (
            old is not None
            and (old.width, old.commanded, old.held, old.version)
            == (now.width, now.commanded, now.held, now.version)
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
