"""The time of a check on a busy machine, with times in place of the machine's."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from handiwork_core.model.outcome import Code
from handiwork_ros.actions import admission
from handiwork_ros.actions.admission import BEAT_S, AdmissionQueue


class Busy:
    """A queue with a check that hangs; each beat comes late by a wait for a processor."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = self.waited_s = 100.0
        self.answers: list[Any] = []
        self.freed = threading.Event()
        monkeypatch.setattr(admission, "time", SimpleNamespace(monotonic=lambda: self.now_s))
        monkeypatch.setattr(admission._Worker, "waited_s", lambda _worker: self.waited_s)
        timer = SimpleNamespace(cancel=lambda: None, reset=lambda: None)
        log = SimpleNamespace(error=lambda _text: None)
        node: Any = SimpleNamespace(
            executor=None, create_timer=lambda *_, **__: timer, get_logger=lambda: log
        )
        self.queue = AdmissionQueue(node, limit_s=0.5)
        self.queue.submit("pick", lambda: self.freed.wait(60.0), self.answers.append)

    def beat(self, slept_s: float, waited_s: float) -> None:
        self.now_s += slept_s + waited_s
        self.waited_s += waited_s
        self.queue._beat()


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = Busy(monkeypatch)
    yield made
    made.freed.set()


def test_a_check_that_hangs_is_abandoned_though_every_beat_comes_late(busy: Busy) -> None:
    for _ in range(12):
        busy.beat(BEAT_S, 0.5)
    assert [answer.code for answer in busy.answers] == [Code.UNRESPONSIVE]


def test_time_without_a_processor_does_not_count(busy: Busy) -> None:
    for _ in range(200):
        busy.beat(0.0, 0.5)
    assert not busy.answers


def test_a_wait_that_is_reported_late_is_taken_from_earlier_beats(busy: Busy) -> None:
    for _ in range(50):
        busy.beat(BEAT_S, 0.0)
        busy.now_s -= BEAT_S
        busy.beat(0.0, BEAT_S)
    assert not busy.answers
