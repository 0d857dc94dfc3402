"""Messages are counted, and silence is explained by the dropped messages and their publishers."""

from __future__ import annotations

import math

from handiwork_core.intake.counters import IntakeCounter, PublisherCount, duplicate_name

ROGUE, SIM = PublisherCount("/lab/rogue", "01ff"), PublisherCount("/sim_bridge", "02aa")


def test_statistics_count_what_came_and_what_was_dropped() -> None:
    counter = IntakeCounter("joint_states")
    assert counter.statistics(5.0).good_age_s == math.inf
    counter.take_good(1.0)
    counter.take_bad("position is [nan]")
    counter.take_bad("position is [inf]")
    found = counter.statistics(5.0, (ROGUE, SIM))
    assert (found.received, found.dropped, found.last_fault) == (3, 2, "position is [inf]")
    assert found.good_age_s == 4.0 and found.publishers == (ROGUE, SIM)


def test_silence_names_topic_reason_count_and_publishers() -> None:
    counter = IntakeCounter("joint_states")
    assert counter.silence_text((), "start the robot") == "joint_states is silent; start the robot"
    counter.take_good(1.0)
    for _ in range(7):
        counter.take_bad("position is [nan]")
    text = counter.silence_text((ROGUE, SIM), "start the robot")
    for part in ("joint_states", "7", "position is [nan]", "/lab/rogue (GID 01ff)", "/sim_bridge (GID 02aa)"):
        assert part in text, text
    counter.take_good(2.0)
    assert counter.silence_text((ROGUE,), "start the robot").endswith("start the robot")


def test_the_first_name_that_occurs_twice_is_found() -> None:
    assert duplicate_name(["a", "b", "c"]) == ""
    assert duplicate_name(["a", "b", "b", "a"]) == "b"
