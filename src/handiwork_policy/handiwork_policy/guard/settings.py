"""Settings of the guard."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum


class OnExcess(Enum):
    """The answer to a command above a limit of the joints."""

    CLIP = "clip"
    """Each joint alone is held at its limit."""
    SLOW = "slow"
    """All joints are slowed alike, so that the arm keeps its direction."""
    REFUSE = "refuse"
    """The arm brakes, and the run ends."""


class OnCollision(Enum):
    """The answer to a command that leads too near to something."""

    SLOW = "slow"
    """The safe share of the command is done; where no share is safe, the arm brakes."""
    REFUSE = "refuse"
    """The arm brakes, and the run ends."""


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """How commands of a policy are guarded.

    Attributes:
        on_excess: The answer to a command above a limit of the joints or outside of the workspace.
        on_collision: The answer to a command that leads too near to something.
        clearance: Distance that links and held objects keep from everything, m.
        joint_margin: Distance that joints keep from their limits of position, also while they brake, rad or m.
        velocity_scaling: Share of the joints' velocity limits, (0, 1].
        acceleration_scaling: Share of the joints' acceleration limits, (0, 1].
        tool_speed: Greatest speed of the TCP, m/s.
        workspace: Least x, y, z and greatest x, y, z of the TCP in ``world``, m; empty: everywhere.
        may_touch: Objects that the policy may touch, and which are no obstacle.
    """

    on_excess: OnExcess = OnExcess.CLIP
    on_collision: OnCollision = OnCollision.SLOW
    clearance: float = 0.005
    joint_margin: float = 0.01
    velocity_scaling: float = 1.0
    acceleration_scaling: float = 1.0
    tool_speed: float = 1.5
    workspace: tuple[float, ...] = ()
    may_touch: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0.0 <= self.clearance <= 0.2:
            raise ValueError(f"clearance is {self.clearance:g} m; write 0 to 0.2")
        if not 0.0 <= self.joint_margin <= 0.5:
            raise ValueError(f"joint_margin is {self.joint_margin:g} rad or m; write 0 to 0.5")
        for key in ("velocity_scaling", "acceleration_scaling"):
            if not 0.0 < getattr(self, key) <= 1.0:
                raise ValueError(f"{key} is {getattr(self, key):g}; write a share above 0, at most 1")
        if not 0.0 < self.tool_speed <= 10.0:
            raise ValueError(f"tool_speed is {self.tool_speed:g} m/s; write a speed above 0, at most 10")
        box = self.workspace
        if box and (
            len(box) != 6 or not all(map(math.isfinite, box)) or any(box[i] >= box[i + 3] for i in range(3))
        ):
            raise ValueError(f"workspace is {list(box)}; write the least x, y, z, then the greatest, m")
