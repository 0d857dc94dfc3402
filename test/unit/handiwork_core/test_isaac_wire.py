"""The texts of the Isaac interface are read as they were written, and malformed ones are named."""

from __future__ import annotations

import json

import numpy as np
import pytest

from handiwork_core.isaac_wire import (
    BadWire,
    CupState,
    contacts_of,
    contacts_text,
    cups_of,
    cups_text,
    on_grid,
)
from handiwork_core.model.geometry import frozen
from handiwork_core.model.world import Contact


def test_numbers_lie_on_the_grid() -> None:
    assert on_grid(np.array([0.12344, 0.12346, -1e-5])) == pytest.approx([0.1234, 0.1235, 0.0], abs=1e-12)


def test_contacts_go_there_and_back() -> None:
    contact = Contact("cube", "fr3/fr3_leftfinger", frozen((1.0, -2.0, 3.0)), frozen((0.1, 0.2, 0.3)))
    stamp_s, (back,) = contacts_of(contacts_text([contact], 1.5))
    assert (stamp_s, back.a, back.b) == (1.5, "cube", "fr3/fr3_leftfinger")
    assert back.force_on_a_n.tolist() == [1.0, -2.0, 3.0]
    assert back.point_m.tolist() == [0.1, 0.2, 0.3]


def test_a_contact_without_numbers_is_left_out() -> None:
    contact = Contact("a", "b", frozen((float("nan"), 0.0, 0.0)), frozen((0.0, 0.0, 0.0)))
    assert contacts_of(contacts_text([contact], 0.0)) == (0.0, ())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"stamp": 0.0}', "contacts"),
        ('{"stamp": "now", "contacts": []}', "stamp is 'now'"),
        ('{"stamp": NaN, "contacts": []}', "stamp is nan"),
        ('{"stamp": 1' + 400 * "0" + ', "contacts": []}', "stamp is 1000"),
        ('{"stamp": 0.0, "contacts": {}}', "contacts is dict"),
        ('{"stamp": 0.0, "contacts": [["a", "b", 0, 0, 0, 0, 0]]}', "row 0"),
        ('{"stamp": 0.0, "contacts": [["a", "b", 0, 0, NaN, 0, 0, 0]]}', "row 0"),
        ('{"stamp": 0.0, "contacts": [["a", "", 0, 0, 0, 0, 0, 0]]}', "row 0"),
        ('{"stamp": 0.0, "contacts": [["a", "b", true, 0, 0, 0, 0, 0]]}', "row 0"),
        ('{"stamp": 0.0, "contacts": [["a", "b", 1' + 400 * "0" + ", 0, 0, 0, 0, 0]]}", "cannot be read"),
    ],
)
def test_malformed_contacts_are_named(text: str, words: str) -> None:
    with pytest.raises(BadWire, match=words):
        contacts_of(text)


def test_cups_go_there_and_back() -> None:
    cups = {"cup": CupState(True, True, ("box",)), "other": CupState(False, False)}
    assert cups_of(cups_text(cups, 2.0)) == (2.0, cups)


def test_a_closing_gripper_is_not_closed_yet() -> None:
    text = json.dumps({"stamp": 0.0, "cups": {"cup": {"on": True, "status": "Closing", "objects": []}}})
    assert not cups_of(text)[1]["cup"].is_closed


def test_malformed_cups_are_named() -> None:
    with pytest.raises(BadWire, match="status"):
        cups_of('{"stamp": 0.0, "cups": {"cup": {"on": true, "objects": []}}}')
