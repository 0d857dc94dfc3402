"""Parameters of Place."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.geometry import Pose
from skill_server.geometry.orientation_cones import OrientationFilter

from .release_points import HeightsFrom


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceParams(SkillParams):
    """Parameters of Place, with the fields, units and defaults of ``Place.action``.

    ``place_poses`` are EE poses in the world.
    """

    container: str
    arm: str = ""
    object: str = ""
    place_poses: tuple[Pose, ...] = ()
    place_part: int = -1
    place_direction: str = "vertical"
    position_constraint: str = "object"
    x_ratio_range: tuple[float, float] = (0.4, 0.6)
    y_ratio_range: tuple[float, float] = (0.4, 0.6)
    z_ratio_range: tuple[float, float] = (0.4, 0.6)
    heights_from: str = "support"
    pre_place_z_offset: float = 0.12
    place_z_offset: float = 0.01
    offset_place_obj_axis: tuple[float, float, float] = (0.0, 0.0, 0.0)
    pre_place_align: float = 0.2
    pre_place_offset: float = 0.2
    place_align: float = 0.1
    place_offset: float = 0.1
    orientation_filters: tuple[OrientationFilter, ...] = ()
    align_pick_obj_axis: tuple[float, float, float] = (0.0, 0.0, 0.0)
    align_place_obj_axis: tuple[float, float, float] = (0.0, 0.0, 0.0)
    align_obj_tol_deg: float = 0.0
    align_plane_x_axis: tuple[float, float, float] = (0.0, 0.0, 0.0)
    align_plane_y_axis: tuple[float, float, float] = (0.0, 0.0, 0.0)
    pre_place_hold_vec_weight: tuple[float, ...] = ()
    post_place_hold_vec_weight: tuple[float, ...] = ()
    hesitate_steps: int = 0
    gripper_change_steps: int = 9
    post_place_vector: tuple[float, ...] = ()
    test_mode: str = "forward"
    success_mode: str = "xybbox"
    success_th: float = 0.0
    xybbox_margin: float = 0.015
    height_drop: float = 0.4
    threshold: float = 0.03
    right_axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    cup_rise: float = 0.05
    below_tolerance: float = 0.005
    process_valid: bool = True
    recovery: str = "next_candidate"
    max_attempts: int = 3
    follow_tolerance: float = 0.01
    follow_speed: float = 0.05

    @property
    def is_followed(self) -> bool:
        """False where the goal gives poses of the world, which do not move with the target."""
        return not self.place_poses

    @property
    def targets(self) -> tuple[str, ...]:
        """Objects whose motion makes the chosen commands wrong."""
        return (self.container,)

    def ee_poses(self, ee_T_object: Pose) -> tuple[Pose, ...]:
        """Return the EE poses of the goal for the release; empty: releases are sampled.

        Args:
            ee_T_object: Pose of the held object in the EE frame.
        """
        return self.place_poses

    @property
    def is_horizontal(self) -> bool:
        """True for placing along ``align_place_obj_axis``."""
        return self.place_direction == "horizontal"

    @property
    def finds_support(self) -> bool:
        """True when the release is from above and as high as object and support demand."""
        return self.heights_from == HeightsFrom.SUPPORT.value and not self.is_horizontal

    @property
    def retreats(self) -> bool:
        """True when the hand moves away after the release: by default, and by a vector that is not zero."""
        return not self.post_place_vector or any(self.post_place_vector)

    @property
    def is_aligned(self) -> bool:
        """True when the held object's axis is to meet an axis or a plane of the container."""
        return any(self.align_pick_obj_axis)
