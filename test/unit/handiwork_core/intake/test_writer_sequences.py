"""Two writers of a topic are distinguished from one that lost messages or was restarted."""

from __future__ import annotations

import random

import pytest

from handiwork_core.intake.writer_sequences import (
    CALM_MESSAGES,
    HOLD_S,
    LONGEST_HOLD_S,
    MOST_WRITERS,
    WriterSequences,
)


def feed(found: WriterSequences, numbers: list[int], now_s: float, period_s: float = 0.01) -> float:
    for number in numbers:
        now_s += period_s
        found.take(number, now_s)
    return now_s


def fed(numbers: list[int], period_s: float = 0.01) -> tuple[WriterSequences, float]:
    found = WriterSequences()
    return found, feed(found, numbers, 0.0, period_s)


def test_one_writer_is_one_even_when_messages_are_lost() -> None:
    found, now_s = fed([1, 2, 3, 10, 400, 401, 9000])
    assert not found.are_several(now_s)


@pytest.mark.parametrize("offset", [0, 1, 2, 3, 50, 5000])
@pytest.mark.parametrize("seed", range(5))
def test_two_writers_are_seen_whatever_their_counts_are(offset: int, seed: int) -> None:
    rng, counts, numbers = random.Random(seed), [100, 100 + offset], []
    for _ in range(200):
        which = rng.randrange(2)
        counts[which] += 1
        numbers.append(counts[which])
    found, now_s = fed(numbers)
    assert found.are_several(now_s)


def test_one_message_of_a_second_writer_among_those_of_the_first_is_seen() -> None:
    found, now_s = fed([*range(500, 600), 1, 600])
    assert found.are_several(now_s)
    feed(found, [*range(601, 601 + CALM_MESSAGES)], now_s)
    assert not found.are_several(now_s + HOLD_S)


def test_a_writer_that_came_back_is_one() -> None:
    found, now_s = fed([*range(500, 600), *range(1, 2000)])
    assert not found.are_several(now_s)


def test_a_handover_is_forgotten_after_the_hold_time() -> None:
    found, now_s = fed([10, 11, 1, 12, 2, 13])
    now_s = feed(found, [*range(3, 4 + CALM_MESSAGES)], now_s)
    assert found.are_several(now_s)
    assert not found.are_several(now_s + HOLD_S)


def test_a_busy_reader_that_gets_few_messages_by_chance_of_one_writer_still_knows_two() -> None:
    found, now_s = fed([10, 100, 11, 101])
    for number in (12, 13, 14):
        now_s += HOLD_S
        found.take(number, now_s)
        assert found.are_several(now_s)


def test_silence_ends_the_conflict_late() -> None:
    found, now_s = fed([10, 100, 11, 101])
    assert found.are_several(now_s + 2.0 * HOLD_S)
    assert not found.are_several(now_s + LONGEST_HOLD_S)


def test_what_is_no_count_is_passed_over() -> None:
    found, now_s = fed([0, 2**64 - 1, 0, 2**64 - 1])
    assert not found.are_several(now_s)


def test_any_number_of_writers_needs_bounded_memory() -> None:
    found, _ = fed([*range(10_000, 0, -1)], period_s=0.0)
    assert len(found._writers) <= MOST_WRITERS + 1
