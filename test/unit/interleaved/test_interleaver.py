"""The runner itself: it finds planted races, finds them again by their seed, and detects when nothing can continue."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from support.interleaving.interleaver import Deadlock, Interleaver

HERE = sys.modules[__name__]
SEEDS = range(200)


class Counter:
    """A counter that loses updates: it reads, and writes later."""

    def __init__(self) -> None:
        self.count = 0

    def add(self) -> None:
        count = self.count
        count += 1
        self.count = count


class LockedCounter(Counter):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def add(self) -> None:
        with self.lock:
            super().add()


def counted(kind: type[Counter], seed: int) -> int:
    """Return the count after three threads have added to it.

    Args:
        kind: Class of the counter.
        seed: Seed of the interleaving.
    """
    run = Interleaver(seed, [HERE])
    with run.patched():
        counter = kind()
        for name in ("a", "b", "c"):
            run.spawn(counter.add, name)
        run.run()
    return counter.count


def test_a_lost_update_is_found_and_found_again_by_its_seed() -> None:
    counts = [counted(Counter, seed) for seed in SEEDS]
    bad = [seed for seed in SEEDS if counts[seed] < 3]
    assert 20 < len(bad) < len(SEEDS)
    assert [counted(Counter, seed) for seed in bad] == [counts[seed] for seed in bad]


def test_a_lock_keeps_every_update() -> None:
    assert {counted(LockedCounter, seed) for seed in SEEDS} == {3}


def test_two_locks_in_opposite_order_are_a_deadlock_in_some_runs() -> None:
    def ends(seed: int) -> bool:
        run = Interleaver(seed, [HERE])
        with run.patched():
            a, b = threading.Lock(), threading.Lock()

            def take(first: threading.Lock, second: threading.Lock) -> None:
                with first, second:
                    pass

            run.spawn(lambda: take(a, b), "ab")
            run.spawn(lambda: take(b, a), "ba")
            try:
                run.run()
            except Deadlock:
                return False
        return True

    found = {ends(seed) for seed in SEEDS}
    assert found == {True, False}


def test_time_goes_on_only_when_nothing_else_can() -> None:
    run = Interleaver(0, [HERE])
    order: list[str] = []
    with run.patched():
        done = threading.Event()

        def slow() -> None:
            time.sleep(5.0)  # noqa: TID251 - time of the run
            order.append("slow")
            done.set()

        def waits() -> None:
            assert not done.wait(1.0)
            order.append("gave up")
            assert done.wait(10.0)

        begun_s = time.monotonic()
        run.spawn(slow, "slow")
        run.spawn(waits, "waits")
        run.run()
        assert time.monotonic() == begun_s + 5.0
    assert order == ["gave up", "slow"]


def test_a_failure_in_a_thread_is_the_failure_of_the_run() -> None:
    run = Interleaver(3, [HERE])

    def fails() -> None:
        raise ValueError("planted")

    run.spawn(fails, "fails")
    with pytest.raises(ValueError, match="planted"):
        run.run()
