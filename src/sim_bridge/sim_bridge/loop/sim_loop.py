"""The thread that runs the physics in step with real time, faster, or on request. No ROS."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from handiwork_core.control.control_thread import slots_of
from sim_bridge.mujoco.simulation import CONTROL_S, Simulation

TICK_S = 0.01
"""The simulated time between two publications, s."""

CONTROLS_PER_TICK = round(TICK_S / CONTROL_S)

FEEDBACK_TICKS = 5
"""The progress of a trajectory is reported with every fifth tick: 20 Hz."""

PAUSED_PERIOD_S = 0.2
"""The wall time between two publications of the paused world, s."""

LAG_S = 0.2
"""A simulation that is later than this, in s, drops the lost time instead of catching up."""

LAST_BRAKE_S = 1.0
"""The simulated time in which running goals may come to rest when the thread ends, s."""

T = TypeVar("T")


class SimLoop(threading.Thread):
    """The thread that owns the simulation while it runs; other threads give it work by ``submit``.

    Args:
        simulation: The simulation; no other thread may use it until ``close`` has returned.
        real_time_factor: Simulated seconds per second; 0 is as fast as possible.
        paused: Whether the world begins paused.
        publish: Called on this thread after every tick with the tick's number; None while paused.
    """

    def __init__(
        self,
        simulation: Simulation,
        real_time_factor: float,
        *,
        paused: bool,
        publish: Callable[[Simulation, int | None], None],
    ) -> None:
        super().__init__(name="physics", daemon=True)
        self.simulation = simulation
        self.arms, self.grippers = slots_of(simulation)
        self.paused = paused
        self._factor, self._publish = real_time_factor, publish
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._closing = False
        self._steps_left = 0
        self._stepped: list[Future[None]] = []
        self._tick = 0

    @property
    def plant(self) -> Simulation:
        """The simulation, for the servers of its controllers."""
        return self.simulation

    @property
    def idle(self) -> bool:
        """True when every goal has its result."""
        arms = any(slot.busy for slot in self.arms.values())
        return not arms and not any(slot.busy for slot in self.grippers.values())

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Run ``work`` on this thread between two ticks; any thread may call this.

        Args:
            work: The function to run.

        Returns:
            The future of what ``work`` returns or raises.
        """
        future: Future[T] = Future()

        def call() -> None:
            try:
                future.set_result(work())
            except Exception as error:  # noqa: BLE001 the border between two threads
                future.set_exception(error)

        self._work.put(call)
        return future

    def set_factor(self, real_time_factor: float) -> None:
        """Set the simulated seconds per second from the next tick on; any thread may call this.

        Args:
            real_time_factor: The factor; 0 is as fast as possible.
        """

        def change() -> None:
            self._factor = real_time_factor

        self._work.put(change)

    def step(self, duration_s: float) -> Future[None]:
        """Advance a paused world.

        Args:
            duration_s: Simulated time, s; at least one control period is done.

        Returns:
            A future that ends when this is done.
        """
        future: Future[None] = Future()

        def add() -> None:
            self._steps_left += max(1, round(duration_s / CONTROL_S))
            self._stepped.append(future)

        self._work.put(add)
        return future

    def close(self) -> None:
        """Bring running goals to rest and end the thread."""
        self._closing = True
        self._work.put(None)
        self.join(5.0)

    def run(self) -> None:
        """Run the thread."""
        due = time.monotonic()
        while not self._closing:
            if self.paused and self._steps_left == 0:
                self._release()
                self._publish(self.simulation, None)
                self._serve(time.monotonic() + PAUSED_PERIOD_S, until_work=True)
                due = time.monotonic()
                continue
            self._advance()
            if self._factor > 0.0 and not self.paused:
                due = self._due_after(due, TICK_S / self._factor)
                self._serve(due, until_work=False)
            else:
                self._serve(0.0, until_work=False)
        self._finish()

    def _due_after(self, due_s: float, period_s: float) -> float:
        """Return the steady time at which the tick after one that was due at ``due_s`` begins."""
        return max(due_s + period_s, time.monotonic() - LAG_S)

    def _advance(self) -> None:
        controls = CONTROLS_PER_TICK if not self.paused else min(CONTROLS_PER_TICK, self._steps_left)
        self.simulation.advance(controls)
        self._tick += 1
        self._poll()
        if self._tick % FEEDBACK_TICKS == 0:
            self._tell_progress()
        self._publish(self.simulation, self._tick)
        self._steps_left = max(0, self._steps_left - controls) if self.paused else 0
        if self._steps_left == 0:
            for future in self._stepped:
                future.set_result(None)
            self._stepped.clear()

    def _serve(self, deadline: float, *, until_work: bool) -> None:
        """Run submitted work until ``deadline`` or, with ``until_work``, until some was done."""
        while not self._closing:
            wait_s = deadline - time.monotonic()
            try:
                work = self._work.get(timeout=wait_s) if wait_s > 0.0 else self._work.get_nowait()
            except queue.Empty:
                return
            if work is not None:
                work()
                self._poll()
            if until_work and self._work.empty():
                return

    def _poll(self) -> None:
        for arm in self.arms.values():
            arm.poll()
        for gripper in self.grippers.values():
            gripper.poll()

    def _release(self) -> None:
        for arm in self.arms.values():
            arm.release()
        for gripper in self.grippers.values():
            gripper.release()

    def _tell_progress(self) -> None:
        for slot in self.arms.values():
            if slot.active is not None and slot.active.progressed is not None:
                slot.active.progressed()

    def _finish(self) -> None:
        message = "the simulation ends"
        while not self._work.empty():  # goals that were submitted meanwhile need a result, too
            if (work := self._work.get_nowait()) is not None:
                work()
        for arm in self.arms.values():
            arm.abort(message)
        for gripper in self.grippers.values():
            gripper.abort(message)
        for _ in range(round(LAST_BRAKE_S / CONTROL_S)):
            if self.idle:
                break
            self.simulation.advance(1)
            self._poll()
        self._publish(self.simulation, None)
