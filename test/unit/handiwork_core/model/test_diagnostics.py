"""Diagnoses name the fault, and meters measure the right rates."""

from __future__ import annotations

import json
import math

import pytest

from handiwork_core.intake.counters import IntakeStatistics, PublisherCount
from handiwork_core.model.diagnostics import (
    Level,
    RateMeter,
    delay_diagnosis,
    intake_diagnosis,
)
from handiwork_core.process.event_text import MOST_CHARACTERS, event_text


def test_rate_counts_between_two_looks() -> None:
    meter = RateMeter()
    assert math.isnan(meter.rate_hz("a", 10, 1.0))
    assert meter.rate_hz("a", 60, 1.5) == pytest.approx(100.0)
    assert math.isnan(meter.rate_hz("b", 60, 1.5))
    assert math.isnan(meter.rate_hz("a", 60, 1.5))


@pytest.mark.parametrize(("delay_s", "level"), [(0.01, Level.OK), (0.2, Level.WARN), (2.0, Level.ERROR)])
def test_delay_has_a_level(delay_s: float, level: Level) -> None:
    found = delay_diagnosis(delay_s)
    assert found.level is level
    assert f"{delay_s:.3f}" in found.values.values()


@pytest.mark.parametrize(
    ("age_s", "dropped_hz", "level"),
    [
        (0.01, 0.0, Level.OK),
        (0.01, math.nan, Level.OK),
        (0.01, 50.0, Level.ERROR),
        (math.inf, 0.0, Level.STALE),
    ],
)
def test_intake_names_drops_and_publishers(age_s: float, dropped_hz: float, level: Level) -> None:
    publishers = (PublisherCount("/rogue", "01ab"), PublisherCount("/sim_bridge", "02cd"))
    counts = IntakeStatistics("joint_states", 200, 100, "position of j1 is nan", age_s, publishers)
    found = intake_diagnosis(counts, 100.0, dropped_hz)
    assert found.level is level
    assert "/rogue" in found.values["publishers"]
    assert found.values["dropped"] == "100"
    assert ("j1 is nan" in found.message) == (level is Level.ERROR)


def test_event_text_quotes_what_is_not_one_word_and_leaves_out_what_is_empty() -> None:
    text = event_text(
        "goal ended", goal="1a2b", code="OK", duration_s=1.23456, message='a "b"', arm="", n=None
    )
    assert text == 'event="goal ended" goal=1a2b code=OK duration_s=1.235 message="a \\"b\\""'
    assert event_text("x", flag=True) == "event=x flag=true"


def test_event_text_keeps_one_line_and_a_bounded_size() -> None:
    text = event_text("x", message="a\n" * 10_000)
    assert "\n" not in text
    assert len(json.loads(text.split("message=", 1)[1])) <= MOST_CHARACTERS + 3
