"""Silence counts only the time in which the thread could have run."""

from __future__ import annotations

import os
import sys

import pytest

from handiwork_core.intake.silence import Silence, processor_wait_s


class Times:
    """Steady time, and time spent without a processor, both set by hand."""

    def __init__(self) -> None:
        self.now_s = self.waited_s = 100.0
        self.silence = Silence(lambda: self.waited_s, lambda: self.now_s)

    def pass_(self, seconds: float, waited_s: float = 0.0) -> float:
        self.now_s += seconds
        self.waited_s += waited_s
        return self.silence.look()


def test_silence_adds_up_and_ends_with_a_beat() -> None:
    times = Times()
    assert times.pass_(0.5) == pytest.approx(0.5)
    assert times.pass_(0.5) == pytest.approx(1.0)
    times.silence.beat()
    assert times.pass_(0.5) == 0.0
    assert times.pass_(0.5) == pytest.approx(0.5)


def test_time_without_a_processor_is_not_silence() -> None:
    times = Times()
    assert times.pass_(0.8, waited_s=0.7) == pytest.approx(0.1)
    assert times.pass_(0.8, waited_s=5.0) == pytest.approx(0.1)


def test_a_judge_that_was_held_up_does_not_blame_others() -> None:
    times = Times()
    assert times.pass_(3600.0) <= 1.0


def test_the_kernel_counts_what_this_process_waited() -> None:
    assert processor_wait_s(os.getpid()) >= 0.0
    assert processor_wait_s(2**22 + 1) == 0.0


def test_reading_the_wait_interns_no_string(monkeypatch: pytest.MonkeyPatch) -> None:
    interned = list[str]()
    monkeypatch.setattr(sys, "intern", lambda text: interned.append(text) or text)
    assert processor_wait_s(os.getpid()) >= 0.0
    assert interned == []
