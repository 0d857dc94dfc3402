"""The moment at which the soak cancels a goal: within the motion, however fast the world runs."""

from __future__ import annotations

from itertools import count

import pytest

from handiwork_cli.commands.stack.soak import PLANNING_S, wait_for_moment


class Arm:
    """Rests for some reads, then moves; the world advances by a step with each read.

    Args:
        step_s: The step, s.
        rests: Number of reads at rest.
    """

    def __init__(self, step_s: float, rests: int = 20) -> None:
        self._reads, self._step_s, self._rests = count(), step_s, rests
        self.world_s = self.begun_s = 0.0

    def now(self) -> tuple[float, float]:
        at = next(self._reads)
        self.world_s = at * self._step_s
        self.begun_s = self.begun_s or (self.world_s if at >= self._rests else 0.0)
        return (0.5 if at >= self._rests else 0.0), self.world_s


@pytest.mark.parametrize("step_s", [0.0005, 0.01, 0.1])
def test_a_moment_of_the_motion_is_one_of_world_time_at_any_speed_of_the_world(step_s: float) -> None:
    arm = Arm(step_s)
    wait_for_moment(arm, PLANNING_S + 0.3, lambda: False)
    assert arm.begun_s > 0.0
    assert 0.3 - 1e-9 <= arm.world_s - arm.begun_s <= 0.3 + 1.01 * step_s


def test_a_moment_of_planning_comes_without_a_motion() -> None:
    arm = Arm(0.01, rests=10**9)
    wait_for_moment(arm, 0.05, lambda: False)
    assert arm.begun_s == 0.0


def test_the_wait_ends_with_the_goal() -> None:
    wait_for_moment(Arm(0.01, rests=10**9), PLANNING_S + 1.0, iter([False, False, True]).__next__)
