"""A suction cup as written in ``robot.yaml``, in the place of a gripper."""

from __future__ import annotations

import math
from dataclasses import dataclass

from handiwork_core.model.geometry import Rotation, frozen
from handiwork_core.model.suction import SuctionSpec
from handiwork_core.robot.robot import GripperSpec

OPEN_M = 0.01
"""A cup has no width; as a gripper its width is 0 while suction is on, and this value otherwise, m."""


@dataclass(frozen=True, slots=True)
class SuctionFile:
    """A suction cup as written; see ``SuctionSpec``. Axes are of the EE frame; ``ee_axis`` points out of the cup."""

    name: str
    link: str
    radius: float
    reach: float
    max_angle: float
    max_pull: float
    max_shear: float
    max_moment: float
    ee_axis: int
    closing_axis: int
    tcp_offset: float
    R_ee_graspnet: tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]

    def __post_init__(self) -> None:
        lengths = (self.radius, self.reach, self.tcp_offset)
        if min(*lengths, self.max_pull, self.max_shear, self.max_moment) <= 0.0:
            raise ValueError("radius, reach, tcp_offset and the greatest loads must be more than 0")
        if not 0.0 < self.max_angle < math.pi / 2.0:
            raise ValueError(f"max_angle {self.max_angle} must lie between 0 and pi / 2")
        if {self.ee_axis, self.closing_axis} - {0, 1, 2} or self.ee_axis == self.closing_axis:
            raise ValueError("ee_axis and closing_axis are two of 0, 1 and 2")
        Rotation.from_matrix(self.R_ee_graspnet)

    def build(self) -> GripperSpec:
        """Return the cup as a gripper without joints, whose only finger is the cup."""
        cup = SuctionSpec(
            self.link, self.radius, self.reach, self.max_angle, self.max_pull, self.max_shear, self.max_moment
        )
        return GripperSpec(
            self.name, "", (self.link,), 0.0, OPEN_M, 1.0, self.max_pull, OPEN_M, self.ee_axis, self.closing_axis,
            self.tcp_offset, frozen(self.R_ee_graspnet), suction=cup,
        )  # fmt: skip
