"""What an arm is told: where the tool shall be, and how it comes there."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from handiwork_core.model.geometry import Array, Pose, frozen

from .approach import Approach


def _still() -> Array:
    return frozen(np.zeros(6))


@dataclass(frozen=True, slots=True, eq=False)
class MotionCommand:
    """A target for the EE link, sent anew at every tick.

    Attributes:
        world_T_target: where the commanded frame shall be, the EE or the tip of its tool.
        approach: the funnel that leads to it, if any.
        posture: (n,) the configuration near which the target is to be reached [rad or m]; None: near the present one.
        world_v_target: (6,) velocity of the target, linear then angular [m/s, rad/s].
        speed: share of the speed limits, above 0 and at most 1.
    """

    world_T_target: Pose
    approach: Approach | None = None
    posture: Array | None = None
    world_v_target: Array = field(default_factory=_still)
    speed: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.speed <= 1.0:
            raise ValueError(f"speed {self.speed}: must be above 0 and at most 1")
        if self.world_v_target.shape != (6,):
            raise ValueError(
                f"world_v_target has shape {self.world_v_target.shape}: give linear and angular velocity, (6,)"
            )

    def aim(self, world_T_ee: Pose) -> Pose:
        """The pose to go for from where the tool is now."""
        return (
            self.world_T_target
            if self.approach is None
            else self.approach.shifted(self.world_T_target, world_T_ee)
        )
