"""Parameters of Pick."""

from __future__ import annotations

from dataclasses import dataclass, field

from handiwork_core.contracts.skill_params import SKILL, SkillParams, file_field
from handiwork_core.model.geometry import Pose, Rotation
from skill_server.geometry.orientation_cones import OrientationFilter
from skill_server.placing.params import PlaceParams


@dataclass(frozen=True, slots=True, kw_only=True)
class PickParams(SkillParams):
    """Parameters of Pick, with the fields, units and defaults of ``Pick.action``.

    ``grasp_poses`` are EE poses in the world.
    """

    object: str
    arm: str = ""
    grasp_poses: tuple[Pose, ...] = ()
    npy_name: str = file_field()
    grasp_scale: float = 1.0
    tcp_offset: float = 0.0
    constraint_axis: str = ""
    constraint_ratio_range: tuple[float, float] = (0.0, 1.0)
    orientation_filters: tuple[OrientationFilter, ...] = ()
    direction_to_obj: str = ""
    fixed_orientation: tuple[Rotation, ...] = ()
    pre_grasp_offset: float = 0.1
    pre_grasp_hold_vec_weight: tuple[float, ...] = ()
    final_gripper_state: int = -1
    gripper_change_steps: int = 6
    post_grasp_offset_min: float = 0.1
    post_grasp_offset_max: float = 0.1
    return_to_pregrasp: bool = False
    gripper_width: float = 0.0
    grip_force: float = 0.0
    next_place: PlaceParams | None = field(default=None, metadata={SKILL: "place"})
    look_ahead: bool = True
    test_mode: str = "forward"
    lift_th: float = 0.02
    process_valid: bool = True
    recovery: str = "next_candidate"
    max_attempts: int = 3
    follow_tolerance: float = 0.01
    follow_speed: float = 0.1

    @property
    def is_followed(self) -> bool:
        """False where the goal gives poses of the world, which do not move with the target."""
        return not self.grasp_poses

    @property
    def targets(self) -> tuple[str, ...]:
        """Objects whose motion makes the chosen commands wrong."""
        return (self.object,)

    @property
    def is_closing(self) -> bool:
        """True when the hand closes on the object; otherwise it stays open around it."""
        return self.final_gripper_state == -1
