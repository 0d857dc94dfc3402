"""Parameters of ``move_object``, and of the places at which it puts the object down."""

from __future__ import annotations

from dataclasses import dataclass, replace

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import World
from skill_server.placing.params import PlaceParams

Vector = tuple[float, float, float]
COMMON = (
    "arm",
    "ignore_substring",
    "t_eps",
    "o_eps",
    "max_velocity_scaling_factor",
    "max_acceleration_scaling_factor",
    "allowed_planning_time",
    "seed",
    "test_mode",
    "process_valid",
    "recovery",
    "max_attempts",
    "follow_tolerance",
    "follow_speed",
)
"""The fields that pick and place have in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectPlaceParams(PlaceParams):
    """Parameters of a place at given poses of the object, whatever the grasp.

    Attributes:
        object_poses: Poses of the object in the world, as it is to rest there; empty: releases are sampled.
    """

    object_poses: tuple[Pose, ...] = ()

    @property
    def is_followed(self) -> bool:
        """See ``PlaceParams``; ``object_poses`` do not move with the container either."""
        return not self.object_poses and not self.place_poses

    def ee_poses(self, ee_T_object: Pose) -> tuple[Pose, ...]:
        """See ``PlaceParams``; the object is let go ``place_z_offset`` over its pose."""
        if not self.object_poses:
            return self.place_poses
        over, object_T_ee = Pose.of((0.0, 0.0, self.place_z_offset)), ee_T_object.inverse()
        return tuple(over @ pose @ object_T_ee for pose in self.object_poses)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveObjectParams(ObjectPlaceParams):
    """Parameters of ``move_object``, beyond those of ``ObjectPlaceParams``.

    Attributes:
        up_axis: Axis of the object, in its own frame, that is to point up in the world; all zero: any.
        up_tol_deg: Largest angle between that axis and up at the release, deg.
        regrasp: True: put the object down and grasp it again where no grasp serves the place.
        max_regrasps: The most times that it is put down on the way.
        regrasp_on: What it is put down on; empty: what it stands on, and what that stands on.
        search_time: Steady time for one search for a chain of grasps, s.
    """

    up_axis: Vector = (0.0, 0.0, 0.0)
    up_tol_deg: float = 8.0
    regrasp: bool = True
    max_regrasps: int = 2
    regrasp_on: str = ""
    search_time: float = 30.0

    def placed(self, world: World) -> MoveObjectParams:
        """Return the parameters of the place, aligned by ``up_axis`` where it is given.

        Args:
            world: Snapshot with the container, which need not stand level.
        """
        if not any(self.up_axis):
            return self
        container_R_world = world.states[self.container].world_T_object.rotation.matrix().T
        x, y, z = container_R_world[:, 2].tolist()
        return replace(
            self,
            align_pick_obj_axis=self.up_axis,
            align_place_obj_axis=(x, y, z),
            align_obj_tol_deg=self.up_tol_deg,
        )
