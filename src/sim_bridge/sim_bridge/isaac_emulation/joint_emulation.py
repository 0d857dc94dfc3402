"""How Isaac Sim's ROS 2 bridge treats joints: order, rounding, and what it makes of a command. No ROS.

Read in the bridge's sources, releases 5.1 and 6.0: positions, velocities and efforts are rounded to 1e-4 before they
are published; of the commands that wait, one is taken at each tick; an array of a command that is empty or of a wrong
length becomes NaN, which leaves that channel as it is, and a command is refused only when all three arrays are such.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import Joint, Robot
from sim_bridge.mujoco.simulation import Simulation


@dataclass(frozen=True, slots=True)
class WireCommand:
    """A JointState as it came."""

    names: tuple[str, ...]
    position: tuple[float, ...] = ()
    velocity: tuple[float, ...] = ()
    effort: tuple[float, ...] = ()

    @property
    def is_refused(self) -> bool:
        """True when no array fits the names."""
        return not any(
            len(self.names) == len(each) > 0 for each in (self.position, self.velocity, self.effort)
        )


def channel(values: Sequence[float], count: int) -> Array:
    """One array of a command (count,): NaN where the message has another number of values."""
    return np.array(values, dtype=np.float64) if len(values) == count else np.full(count, np.nan)


def articulation_order(robot: Robot, moving: Sequence[Joint]) -> tuple[str, ...]:
    """Joints in the order of an articulation: layer by layer from the root, so that two arms alternate."""
    parents = {joint.child: joint for joint in robot.joints.values()}

    def depth(joint: Joint) -> int:
        above = parents.get(joint.parent)
        return 0 if above is None else 1 + depth(above)

    return tuple(joint.name for joint in sorted(moving, key=depth))


class CommandQueue:
    """Commands that wait for their tick; the oldest are dropped where more than ``depth`` wait."""

    def __init__(self, depth: int) -> None:
        self._waiting: deque[WireCommand] = deque(maxlen=depth)

    def put(self, command: WireCommand) -> None:
        """Take one; from any thread."""
        self._waiting.append(command)

    def clear(self) -> None:
        """Forget all."""
        self._waiting.clear()

    def apply_one(self, simulation: Simulation) -> str:
        """Obey the oldest command, if there is one.

        Returns:
            What is wrong with it, in one sentence; empty when it was obeyed.
        """
        if not self._waiting:
            return ""
        command = self._waiting.popleft()
        names = simulation.world.joint_names
        unknown = [name for name in command.names if name not in names]
        if unknown:
            return f"command for {unknown}, which the articulation lacks; its joints are {list(names)}"
        if command.is_refused:
            return f"command for {len(command.names)} joints has no array of that length"
        servo(simulation, command)
        return ""


def servo(simulation: Simulation, command: WireCommand) -> None:
    """Give the drives the targets that are numbers; efforts have no drive here."""
    count = len(command.names)
    indices = simulation.world.indices(command.names)
    position, velocity = channel(command.position, count), channel(command.velocity, count)
    simulation.world.command_finite(indices, position, velocity)
