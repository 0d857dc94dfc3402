"""The labelled situations: number, categories, labels, states and pictures."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from conditionals_node.scoring import CATEGORIES, load_situations
from conditionals_node.scoring.situations import (
    load_families,
    questions_of,
    scenes_of,
    truth_of,
)
from handiwork_core.contracts.predicate import Truth
from support.paths import DATA as TEST_DATA

PICTURES = TEST_DATA / "situations" / "pictures"
MOVING_S = 0.3
"""Situations that are recorded sooner need not be at rest, s."""


def test_there_are_200_situations_and_ten_of_each_category() -> None:
    situations = load_situations()
    counts = Counter(one.category for one in situations)
    assert len(situations) >= 200
    assert set(counts) == set(CATEGORIES)
    assert min(counts.values()) >= 10, counts
    assert len({one.key for one in situations}) == len(situations)


def test_every_question_has_a_label_and_a_reason() -> None:
    questions = [question for one in load_situations() for question in one.questions]
    labels = Counter(question.label for question in questions)
    assert labels[Truth.TRUE] > 300 and labels[Truth.FALSE] > 300 and labels[Truth.UNKNOWN] >= 20, labels
    assert all(question.why.endswith(".") and " " in question.why for question in questions)


def test_hidden_things_are_known_but_have_no_pose() -> None:
    hidden = {one.key: set(one.complete.states) - set(one.world.states) for one in load_situations()}
    assert hidden["hidden behind the screen 1"] == {"cube"}
    (one,) = [one for one in load_situations() if one.key == "hidden behind the screen 1"]
    assert "cube" in one.world.objects
    assert one.world.contacts is not None
    assert not any("cube" in (contact.a, contact.b) for contact in one.world.contacts)
    assert any("cube" in (contact.a, contact.b) for contact in one.complete.contacts or ())


def test_without_touch_there_are_no_contacts() -> None:
    blind = {one.key for one in load_situations() if one.world.contacts is None}
    assert blind == {"no sense of touch 1", "no sense of touch in the bin 1"}


def test_things_that_were_left_alone_are_at_rest_and_carried() -> None:
    entries = {key: entry for family in load_families() for key, entry in scenes_of(family)}
    seen = 0
    for one in load_situations():
        entry = entries[one.key]
        if "speed" in entry or entry.get("settle", 1.0) < MOVING_S:
            continue
        movable = [name for name, item in one.complete.objects.items() if not item.is_static]
        for name in movable:
            assert np.linalg.norm(one.complete.states[name].world_v_object) < 5e-3, (one.key, name)
            lift = sum(
                contact.force_on_a_n[2] * (1 if contact.a == name else -1)
                for contact in one.complete.contacts or ()
                if name in (contact.a, contact.b)
            )
            weight = 9.81 * one.complete.objects[name].mass_kg
            assert lift == pytest.approx(weight, rel=0.05, abs=2e-3), (one.key, name)
            seen += 1
    assert seen > 300


def test_every_situation_has_a_small_picture_and_no_picture_is_left_over() -> None:
    wanted = {f"{one.key.replace(' ', '-').replace(chr(39), '')}.webp" for one in load_situations()}
    assert {path.name for path in PICTURES.iterdir()} == wanted
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 1.5e6


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (True, Truth.TRUE),
        (np.bool_(False), Truth.FALSE),
        (None, Truth.UNKNOWN),
        ("unknown", Truth.UNKNOWN),
        (Truth.TRUE, Truth.TRUE),
    ],
)
def test_verdicts_may_be_given_in_several_ways(given: object, wanted: Truth) -> None:
    assert truth_of(given) is wanted


@pytest.mark.parametrize("given", ["yes", 1, 0.5, []])
def test_other_values_are_no_verdicts(given: object) -> None:
    with pytest.raises(ValueError, match="is no verdict"):
        truth_of(given)


def test_a_reason_with_a_comma_without_quotes_is_refused() -> None:
    row = ["object_upright(object=can)", True, "It lies", "as cans do", "at times."]
    with pytest.raises(ValueError, match="put a text with a comma in quotes"):
        questions_of({"why": "", "asks": [row]})
