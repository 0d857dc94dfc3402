"""Processes that answer messages: order, exceptions, forgetting, and a process that ends by itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handiwork_planning.worker_process import WorkerProcess, worker_context
from support.adder import Adder

AHEAD = 3

pytestmark = pytest.mark.processes


@pytest.fixture
def worker() -> Iterator[WorkerProcess[int | str, int]]:
    made: WorkerProcess[int | str, int] = WorkerProcess(worker_context("support.adder"), Adder, (100,), AHEAD)
    yield made
    made.dismiss()
    made.close()


def test_answers_come_in_order_with_several_messages_under_way(worker: WorkerProcess[int | str, int]) -> None:
    for number in range(1, AHEAD):
        worker.send(number)
    sums = []
    for number in range(AHEAD, 50):
        worker.send(number)
        sums.append(worker.receive())
    assert sums == [100 + sum(range(1, n + 1)) for n in range(1, 48)]
    assert worker.under_way == AHEAD - 1


def test_what_an_answer_raises_is_raised_again_and_the_process_goes_on(
    worker: WorkerProcess[int | str, int],
) -> None:
    worker.send("seven")
    worker.send(7)
    with pytest.raises(ValueError, match="seven is no number"):
        worker.receive()
    assert worker.receive() == 107


def test_discarded_messages_leave_nothing_behind(worker: WorkerProcess[int | str, int]) -> None:
    for message in (1, "two", 3):
        worker.send(message)
    worker.discard()
    assert worker.under_way == 0
    worker.send(5)
    assert worker.receive() == 5


def test_a_process_that_ended_is_named_with_its_exit_code(worker: WorkerProcess[int | str, int]) -> None:
    worker.send(0)
    with pytest.raises(RuntimeError, match=r"process \d+ of the pool has ended with exit code 3"):
        worker.receive()
    worker.discard()
    with pytest.raises(RuntimeError, match="has ended"):
        worker.send(1)
