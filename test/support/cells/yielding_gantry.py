"""A gantry with an admittance controller over a level surface: fakes for skills that press, wipe and insert."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from handiwork_core.admittance.settings import AdmittanceSettings
from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.testing.fakes import Cell, FakeArm, FakeClock, Fakes
from handiwork_core.testing.gantry import gantry_pose

M_PER_S = 0.05
"""Speed of a free hand that is pushed, m/s."""
SINK_M = 0.001
"""A hand in the hole sinks by this in each tick of a motion, m."""
NEAR_M = 1e-6


class FakeCompliance:
    """Moves the hand by its push until the surface gives the opposite force; sideways it does not yield.

    ``floor`` returns the least height of the hand's origin over a point (2,), m.
    """

    def __init__(self, cell: Cell, floor: Callable[[Array], float]) -> None:
        self._cell, self._floor = cell, floor
        self.settings = AdmittanceSettings()
        self.pushed: Array = np.zeros(6)

    def set_admittance(self, settings: AdmittanceSettings, *, should_stop: ShouldStop) -> Outcome:
        self._cell.call("compliance.set_admittance")
        if should_stop():
            return Outcome(Code.CANCELED, "stopped")
        self.settings = settings
        return OK

    def set_wrench(self, wrench: Array) -> None:
        self._cell.call("compliance.set_wrench")
        self.pushed = wrench

    def wrench(self) -> Array | None:
        q, push = self._cell.q, self._push()
        touches = push[2] < 0.0 and q[2] < self._floor(q[:2]) + NEAR_M
        return -self.pushed if touches else np.zeros(6)

    def release(self) -> None:
        """Yield no more, as the controller does with a stop of the arm."""
        self.settings, self.pushed = AdmittanceSettings(), np.zeros(6)

    def move(self, farthest_m: float) -> None:
        """Move the hand by its push, by a distance at most, m."""
        push, q = self._push(), self._cell.q.copy()
        size = float(np.linalg.norm(push))
        if size > 0.0:
            q[:3] += push / size * farthest_m
            if push[2] < 0.0:
                # A motion of the reference does not lift the hand, nor does the surface let it through.
                q[2] = min(max(q[2], self._floor(q[:2])), self._cell.q[2])
            self._cell.q = q
            self._cell.carry()

    def _push(self) -> Array:
        """Return the force of the push in ``world``, (3,), N."""
        if not self.settings.yields:
            return np.zeros(3)
        return np.asarray(gantry_pose(self._cell.q).rotation.matrix() @ self.pushed[:3])


class _Clock(FakeClock):
    """The hand moves while time passes."""

    def __init__(self, cell: Cell, compliance: FakeCompliance) -> None:
        super().__init__(cell)
        self._of, self._compliance = cell, compliance

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        before_s = self._of.now_s
        super().sleep(seconds, should_stop=should_stop)
        self._compliance.move(M_PER_S * (self._of.now_s - before_s))


class _Arm(FakeArm):
    """A stop ends the yielding."""

    def __init__(self, cell: Cell, compliance: FakeCompliance) -> None:
        super().__init__(cell)
        self._compliance = compliance
        self.on_tick = lambda _t: compliance.move(SINK_M)

    def stop(self) -> Outcome:
        self._compliance.release()
        return super().stop()


def yielding(made: Fakes, floor: Callable[[Array], float]) -> tuple[Fakes, FakeCompliance]:
    """Give a gantry an admittance controller.

    Args:
        made: Its fakes.
        floor: Returns the least height of the hand's origin over a point (2,), m.
    """
    compliance = FakeCompliance(made.cell, floor)
    made.context.compliance = compliance
    made.context.clock = _Clock(made.cell, compliance)
    made.arm = made.context.arm = _Arm(made.cell, compliance)
    return made, compliance
