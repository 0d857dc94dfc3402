"""The treatment of joints by Isaac Sim's ROS 2 bridge: order, rounding, and the effect of a command. No ROS.

Source: the bridge's code, releases 5.1 and 6.0. Positions, velocities and efforts are rounded to 1e-4 before they are
published. Each tick takes one of the commands that wait. An array of a command that is empty or of a wrong length
becomes NaN, which leaves that channel as it is; a command is refused only when all three arrays are such.
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
    """A JointState command as it was received.

    Attributes:
        names: Names of the joints.
        position: Positions in the same order, rad or m; empty for none.
        velocity: Velocities, rad/s or m/s; empty for none.
        effort: Efforts, Nm or N; empty for none.
    """

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
    """Return one array of a command, with NaN where the message has another number of values.

    Args:
        values: Values of the message.
        count: Number of joints of the command.

    Returns:
        The values, (count,).
    """
    return np.array(values, dtype=np.float64) if len(values) == count else np.full(count, np.nan)


def articulation_order(robot: Robot, moving: Sequence[Joint]) -> tuple[str, ...]:
    """Return joints in the order of an articulation: layer by layer from the root, so that two arms alternate.

    Args:
        robot: The robot.
        moving: The joints to sort.

    Returns:
        Names of the joints.
    """
    parents = {joint.child: joint for joint in robot.joints.values()}

    def depth(joint: Joint) -> int:
        above = parents.get(joint.parent)
        return 0 if above is None else 1 + depth(above)

    return tuple(joint.name for joint in sorted(moving, key=depth))


class CommandQueue:
    """Commands that wait for their tick; the oldest are dropped when more than ``depth`` wait.

    Args:
        depth: The largest number of commands.
    """

    def __init__(self, depth: int) -> None:
        self._waiting: deque[WireCommand] = deque(maxlen=depth)

    def put(self, command: WireCommand) -> None:
        """Add a command; any thread may call this.

        Args:
            command: The command.
        """
        self._waiting.append(command)

    def clear(self) -> None:
        """Drop all commands."""
        self._waiting.clear()

    def apply_one(self, simulation: Simulation) -> str:
        """Apply the oldest command, if there is one.

        Args:
            simulation: The simulation.

        Returns:
            The fault of the command as one sentence; empty when it was applied or there is none.
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
    """Set the targets of the drives to the values that are numbers. Efforts are ignored: no drive takes them here.

    Args:
        simulation: The simulation.
        command: The command; all its joints exist.
    """
    count = len(command.names)
    indices = simulation.world.indices(command.names)
    position, velocity = channel(command.position, count), channel(command.velocity, count)
    simulation.world.command_finite(indices, position, velocity)
