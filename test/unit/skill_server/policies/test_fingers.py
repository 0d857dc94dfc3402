"""The fingers of a policy move when they are due, so that they are not ahead of the arm."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.model.outcome import OK, Code, Outcome
from skill_server.policies.fingers import FingerThread

SOON_S, LONG_S = 0.1, 20.0


class World:
    """A clock that a test sets, and a gripper that moves until it arrives or is stopped."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._now_s = 0.0
        self.openings = list[float]()
        self._is_there = True

    def now_s(self) -> float:
        return self._now_s

    def set(self, now_s: float) -> None:
        with self._changed:
            self._now_s = now_s
            self._changed.notify_all()

    def sleep(self, seconds: float, *, should_stop: ShouldStop) -> None:
        end_s = self._now_s + seconds
        with self._changed:
            while self._now_s < end_s and not should_stop():
                self._changed.wait(0.01)

    def move(self, width_m: float, *, should_stop: ShouldStop) -> Outcome:
        with self._changed:
            self.openings.append(width_m)
            self._changed.notify_all()
            while not self._is_there:
                if should_stop():
                    return Outcome(Code.CANCELED, "")
                self._changed.wait(0.01)
        return OK

    def block(self) -> None:
        self._is_there = False

    def has_moved(self, count: int, timeout_s: float = LONG_S) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: len(self.openings) >= count, timeout_s)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def fingers(world: World) -> Iterator[FingerThread]:
    made = FingerThread(world, world)  # type: ignore[arg-type]
    yield made
    assert made.close(LONG_S)


def test_an_opening_waits_for_its_time(world: World, fingers: FingerThread) -> None:
    fingers.move(0.02, 1.0)
    assert not world.has_moved(1, SOON_S)
    world.set(0.99)
    assert not world.has_moved(1, SOON_S)
    world.set(1.0)
    assert world.has_moved(1)
    assert world.openings == [0.02]


def test_the_newest_that_is_due_counts_and_the_next_one_waits(world: World, fingers: FingerThread) -> None:
    for width_m, at_s in ((0.08, 1.0), (0.06, 1.04), (0.02, 1.08)):
        fingers.move(width_m, at_s)
    world.set(1.05)
    assert world.has_moved(1)
    assert not world.has_moved(2, SOON_S)
    world.set(1.09)
    assert world.has_moved(2)
    assert world.openings == [0.06, 0.02]


def test_a_motion_under_way_ends_only_when_another_opening_is_due(
    world: World, fingers: FingerThread
) -> None:
    world.block()
    fingers.move(0.0, 0.0)
    assert world.has_moved(1)
    fingers.move(0.08, 2.0)
    assert not world.has_moved(2, SOON_S)
    world.set(2.0)
    assert world.has_moved(2)
    assert world.openings == [0.0, 0.08]


def test_the_end_of_the_run_drops_what_is_not_due(world: World, fingers: FingerThread) -> None:
    fingers.move(0.02, 5.0)
    assert fingers.close(LONG_S)
    world.set(6.0)
    assert world.openings == []
    assert not fingers.fault()
