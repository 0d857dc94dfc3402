"""Injects faults at their times, and undoes those that last."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from handiwork_cli.chaos.trials import (
    FORGED,
    Fault,
    FaultKind,
    Trial,
)

from .intrusions import Intrusions, NotAsPromisedError

if TYPE_CHECKING:
    from handiwork_cli.stack.demo_cells import Target
    from handiwork_cli.stack.stack import Stack

    from .rogue import Rogue

ROGUES = frozenset(
    {
        FaultKind.BAD_JOINTS,
        FaultKind.BAD_STATES,
        FaultKind.SECOND_JOINTS,
        FaultKind.MANY_FRAMES,
        FaultKind.MANY_OBJECTS,
        *FORGED,
    }
)
SHIFT_M = 0.05
"""The distance by which a MOVED_OBJECT is moved."""


class Injector:
    """Injects the faults of one trial in threads, from its construction on.

    Args:
        stack: The running stack.
        trial: The trial with the faults.
        joints: Joints of the arm, for forged messages.
        target: The object and the container of the arm's goals.
        cancel: Cancels the trial's goal.
        send_lifted: Sends a trajectory whose path tolerance is lifted.
        shift: Moves the object by a distance along x [m].
    """

    def __init__(
        self,
        stack: Stack,
        trial: Trial,
        joints: tuple[str, ...],
        target: Target,
        cancel: Callable[[], None],
        send_lifted: Callable[[], None],
        shift: Callable[[float], None],
    ) -> None:
        self._stack, self._trial, self._joints = stack, trial, joints
        self._actions: dict[FaultKind, Callable[[], None]] = {
            FaultKind.CANCEL: cancel,
            FaultKind.LIFTED_TOLERANCE: send_lifted,
            FaultKind.MOVED_OBJECT: lambda: shift(SHIFT_M),
            FaultKind.RESET: self._reset,
        }
        self._intrusions = Intrusions(stack, target)
        self._begin_s, self._closing = time.monotonic(), threading.Event()
        self.injected: list[Fault] = []
        """The faults that have begun."""
        self.failures: dict[str, str] = {}
        """Text of the fault -> reason why it could not be injected."""
        self.broken: dict[str, str] = {}
        """Text of the fault -> what the stack has done though it promises not to."""
        self._threads = [
            threading.Thread(target=self._inject, args=(fault,), name=fault.kind.value, daemon=True)
            for fault in trial.faults
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Begin no new fault, wait for those that last, and undo them."""
        self._closing.set()
        for thread in self._threads:
            thread.join()

    def _inject(self, fault: Fault) -> None:
        if self._closing.wait(max(0.0, self._begin_s + fault.at_s - time.monotonic())):
            return
        self.injected.append(fault)
        try:
            self._do(fault)
        except NotAsPromisedError as error:
            self.broken[fault.text] = str(error)
        except Exception as error:  # noqa: BLE001 - a fault that cannot be injected must not end the run
            self.failures[fault.text] = repr(error)

    def _do(self, fault: Fault) -> None:
        if fault.kind in ROGUES:
            self._rogue(fault).wait()
        elif self._intrusions.does(fault.kind):
            self._intrusions.run(fault)
        elif fault.kind is FaultKind.KILL:
            self._signal(fault.target, signal.SIGKILL)
        elif fault.kind is FaultKind.FREEZE:
            pid = self._signal(fault.target, signal.SIGSTOP)
            threading.Event().wait(fault.lasts_s)
            if pid is not None and self._stack.runner.pid(fault.target) == pid:
                os.kill(pid, signal.SIGCONT)
        elif fault.kind is FaultKind.PAUSE:
            self._pause(is_paused=True)
            threading.Event().wait(fault.lasts_s)
            self._pause(is_paused=False)
        else:
            self._actions[fault.kind]()

    def _rogue(self, fault: Fault) -> Rogue:
        from .rogue import Rogue

        return Rogue(fault, self._joints, int(os.environ["ROS_DOMAIN_ID"]))

    def _signal(self, node: str, number: signal.Signals) -> int | None:
        pid = self._stack.runner.pid(node)
        if pid is not None:
            os.kill(pid, number)
        return pid

    def _pause(self, *, is_paused: bool) -> None:
        from handiwork_msgs.srv import SetPaused

        self._stack.call(SetPaused, "sim/set_paused", SetPaused.Request(paused=is_paused))

    def _reset(self) -> None:
        from handiwork_msgs.srv import ResetWorld

        self._stack.call(ResetWorld, "sim/reset", ResetWorld.Request())
