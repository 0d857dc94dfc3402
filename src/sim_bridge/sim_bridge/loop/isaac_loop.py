"""The simulation's thread on Isaac Sim's timeline: a late start, one command a tick, a clock that restarts. No ROS."""

from __future__ import annotations

import time
from collections.abc import Callable

from sim_bridge.isaac_emulation.joint_emulation import CommandQueue
from sim_bridge.loop.sim_loop import SimLoop
from sim_bridge.mujoco.simulation import Simulation

LATE_START_S = 1.5
"""The wall time until the timeline plays, s."""


class IsaacLoop(SimLoop):
    """The simulation's thread without controllers: the drives follow the queued commands.

    Args:
        simulation: The simulation, as for ``SimLoop``.
        real_time_factor: Simulated seconds per second, as for ``SimLoop``.
        paused: Whether the world begins paused.
        queue: The received commands.
        publish: Called after every tick, as for ``SimLoop``.
        complain: Receives the faults of commands as text.
    """

    def __init__(
        self,
        simulation: Simulation,
        real_time_factor: float,
        *,
        paused: bool,
        queue: CommandQueue,
        publish: Callable[[Simulation, int | None], None],
        complain: Callable[[str], None],
    ) -> None:
        super().__init__(simulation, real_time_factor, paused=paused, publish=publish)
        self._queue, self._complain = queue, complain
        self._zero_s = simulation.world.time_s
        self._let_grippers_push()

    @property
    def time_s(self) -> float:
        """The simulated time since the last reset, s."""
        return self.simulation.world.time_s - self._zero_s

    def start_over(self) -> None:
        """Reset everything to the start, the time too; on this thread."""
        self.simulation.reset(self.simulation.declared)
        self._zero_s = self.simulation.world.time_s
        self._queue.clear()

    def run(self) -> None:
        """Run the thread."""
        self._serve(time.monotonic() + LATE_START_S, until_work=False)
        super().run()

    def _due_after(self, due_s: float, period_s: float) -> float:
        """Return the time of the next frame: after a late frame it begins in at least half the period."""
        return max(due_s + period_s, time.monotonic() + 0.5 * period_s)

    def _advance(self) -> None:
        fault = self._queue.apply_one(self.simulation)
        if fault:
            self._complain(fault)
        super()._advance()

    def _let_grippers_push(self) -> None:
        """Set the force limits of the drives to the largest force of the gripper: drives have no goals with a force."""
        for gripper in self.simulation.grippers.values():
            gripper.controller.force_n = gripper.controller.spec.max_force_n
        self.simulation.apply_forces()
