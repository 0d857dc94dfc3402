"""Whether the world is calm enough to be judged."""

from __future__ import annotations

import numpy as np

from handiwork_core.outcome import OK, Code, Outcome
from handiwork_core.world import World

FASTEST_RAD_S = 5.0
FASTEST_M_S = 5.0


def process_valid(world: World, name: str, code: Code) -> Outcome:
    """``code`` where a joint or the object is faster than the SimBox format allows."""
    joint = max(((abs(v), j) for j, v in world.joints.velocity.items()), default=(0.0, ""))
    if joint[0] >= FASTEST_RAD_S:
        return Outcome(
            code, f"joint {joint[1]!r} still moves at {joint[0]:.1f}; allowed is {FASTEST_RAD_S:g} rad/s"
        )
    speed = float(np.linalg.norm(world.states[name].world_v_object))
    if speed >= FASTEST_M_S:
        return Outcome(code, f"{name!r} still moves at {speed:.1f} m/s; allowed is {FASTEST_M_S:g} m/s")
    return OK
