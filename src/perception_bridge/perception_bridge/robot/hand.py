"""What the fingers of an arm hold, by their own width: perception has no contact sensors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.world import WorldObject
from handiwork_core.robot.robot import ArmSpec, GripperSpec
from handiwork_core.scene.bounds import box_points

CLOSED_M = 0.003
"""Fingers that came nearer by so much have closed; so much wider than at their end they hold something, m."""
STILL_M, STILL_S = 0.0005, 0.15
"""Fingers whose width changed by less than the one in the other, have stopped, m and s."""
OPENED_M = 0.004
"""Fingers that are so much wider than when they stopped have let go, m."""
LOST_M = 0.008
"""Fingers that are so much narrower than when they stopped have lost the object, m."""
REACH_M = 0.015
"""Greatest distance of the TCP from the box of what is held, m."""
LOOSE_M = 0.01
"""Fingers that are so much wider than the object do not touch it, m."""


class HandWatch:
    """Finds the object between two fingers: they stopped before their end, and the TCP is at the object.

    Args:
        arm: The arm.
        gripper: Its gripper, with fingers.
    """

    def __init__(self, arm: ArmSpec, gripper: GripperSpec) -> None:
        self.arm, self._gripper = arm, gripper
        self.object, self.ee_T_object = "", Pose.identity()
        self._widest_m, self._stopped_m = 0.0, 0.0
        self._since: tuple[float, float] | None = None
        """Time and width since which the fingers are still."""

    def take(
        self,
        stamp_s: float,
        joints: Mapping[str, float],
        world_T_ee: Pose,
        world_T_tcp: Pose,
        known: Mapping[str, tuple[WorldObject, Pose]],
    ) -> str:
        """Take measured joints.

        Args:
            stamp_s: Their time, s.
            joints: Positions by name, rad or m.
            world_T_ee: Pose of the EE.
            world_T_tcp: Pose of the TCP.
            known: Objects with known poses, by name.

        Returns:
            The name of the object that was let go by these joints; empty for none.
        """
        if self._gripper.joint not in joints:
            return ""
        width = self._gripper.width(joints[self._gripper.joint])
        if self.object:
            if -LOST_M < width - self._stopped_m < OPENED_M:
                return ""
            released, self.object = self.object, ""
            self._widest_m, self._since = width, None
            return released
        self._widest_m = max(self._widest_m, width)
        if self._has_closed(stamp_s, width):
            self.object = self._between(width, world_T_ee, world_T_tcp, known)
            if self.object:
                self._stopped_m = width
                self.ee_T_object = world_T_ee.inverse() @ known[self.object][1]
        return ""

    def drop(self) -> None:
        """Forget the object: it was seen elsewhere."""
        self.object, self._widest_m = "", 0.0

    def _has_closed(self, stamp_s: float, width: float) -> bool:
        since = self._since
        if since is None or stamp_s < since[0] or abs(width - since[1]) > STILL_M:
            self._since = (stamp_s, width)
            return False
        is_between = self._gripper.min_width_m + CLOSED_M < width < self._widest_m - CLOSED_M
        return is_between and stamp_s - since[0] >= STILL_S

    def _between(
        self, width: float, world_T_ee: Pose, world_T_tcp: Pose, known: Mapping[str, tuple[WorldObject, Pose]]
    ) -> str:
        closing = world_T_ee.rotation.matrix()[:, self._gripper.closing_axis]
        found = [
            (_distance_m(body, pose, world_T_tcp), name)
            for name, (body, pose) in known.items()
            if width < _extent_m(body, pose, closing) + LOOSE_M
        ]
        near = min(found, default=(np.inf, ""))
        return near[1] if near[0] <= REACH_M else ""


def _extent_m(body: WorldObject, world_T_object: Pose, axis: Array) -> float:
    """Return the extent of an object's box along an axis of ``world``, m."""
    points = np.concatenate([box_points(shape) for shape in body.shapes])
    return float(np.ptp(world_T_object.apply(points) @ axis))


def _distance_m(body: WorldObject, world_T_object: Pose, world_T_tcp: Pose) -> float:
    """Return the distance of the TCP from the box of an object along its own axes, m."""
    points = np.concatenate([box_points(shape) for shape in body.shapes])
    tcp = world_T_object.inverse().apply(world_T_tcp.translation_m)
    outside = np.maximum(points.min(axis=0) - tcp, 0.0) + np.maximum(tcp - points.max(axis=0), 0.0)
    return float(np.linalg.norm(outside))
