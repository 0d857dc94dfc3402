"""The command of an arm: a target of the tool, and the way to it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from handiwork_core.model.geometry import Array, Pose, frozen

from .approach import Approach


def _still() -> Array:
    return frozen(np.zeros(6))


@dataclass(frozen=True, slots=True, eq=False)
class MotionCommand:
    """A target for the EE link, sent again at every tick.

    Attributes:
        world_T_target: Target of the commanded frame, the EE or the tip of its tool.
        approach: The funnel that leads to it; None: straight.
        posture: Configuration near which the target is to be reached, (n,), rad or m; None: near the present one.
        world_v_target: Velocity of the target, linear then angular, (6,), m/s and rad/s.
        speed: Share of the speed limits, above 0 and at most 1.
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
        """Return the pose to aim at now.

        Args:
            world_T_ee: The present pose of the commanded frame.
        """
        return (
            self.world_T_target
            if self.approach is None
            else self.approach.shifted(self.world_T_target, world_T_ee)
        )
