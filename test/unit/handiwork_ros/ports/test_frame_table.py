"""The number of frames is bounded, and frames that are not published any more are removed."""

from __future__ import annotations

from handiwork_core.intake.limits import FRAME_LIFETIME_S, FRAMES
from handiwork_ros.ports.frame_table import FrameTable


def test_frames_beyond_the_limit_are_refused_and_counted() -> None:
    for forgets in (True, False):
        table = FrameTable[int](forgets=forgets)
        assert table.keep(((f"a{i}", i) for i in range(FRAMES - 1)), 0.0) == 0
        assert table.keep([("b", 1), ("c", 1), ("d", 1), ("b", 2), ("x" * 1_000, 0)], 0.1) == 3
        assert (len(table.links), table.links["b"]) == (FRAMES, 2)


def test_frames_without_a_publisher_are_forgotten_while_others_come() -> None:
    table, now_s = FrameTable[int](forgets=True), 0.0
    table.keep([("gone", 0), ("here", 0)], now_s)
    while now_s < FRAME_LIFETIME_S - 1.0:
        now_s += 0.5
        table.keep([("here", 0)], now_s)
    assert set(table.links) == {"gone", "here"}
    table.keep([("here", 1)], now_s + 2.5)
    assert table.links == {"here": 1}


def test_nothing_is_forgotten_in_a_pause() -> None:
    table = FrameTable[int](forgets=True)
    table.keep([("gone", 0), ("here", 0)], 0.0)
    table.keep([("here", 1)], 10_000.0)
    assert table.links == {"gone": 0, "here": 1}


def test_static_frames_stay() -> None:
    table = FrameTable[int](forgets=False)
    table.keep([("base", 0)], 0.0)
    for k in range(200):
        table.keep([("other", k)], float(k))
    assert set(table.links) == {"base", "other"}


def test_many_names_leave_no_growth() -> None:
    table = FrameTable[int](forgets=True)
    refused = sum(table.keep([(f"n{k}_{i}", i) for i in range(1_000)], 2.0 * k) for k in range(200))
    assert len(table.links) <= FRAMES
    assert refused > 0
