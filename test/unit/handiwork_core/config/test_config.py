"""The strict loader: every fault is named with its key, all at once."""

from __future__ import annotations

import enum
import pickle
from dataclasses import dataclass
from pathlib import Path

import pytest

from handiwork_core.config.dataclass_loader import ConfigError, load, parse


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Inner:
    size: float

    def __post_init__(self) -> None:
        if self.size <= 0.0:
            raise ValueError(f"size {self.size} must be more than 0")


@dataclass(frozen=True)
class Outer:
    name: str
    parts: tuple[Inner, ...]
    corner: tuple[float, float]
    colour: Colour = Colour.RED
    table: dict[str, int] | None = None
    on: bool = False
    who: bool | str | tuple[str, ...] = False


@dataclass(frozen=True)
class Words:
    words: tuple[str, ...]
    zeal: float


GOOD = {"name": "a", "parts": [{"size": 1}], "corner": [0, 1.5]}


def test_good_data_becomes_values() -> None:
    found = parse(Outer, {**GOOD, "colour": "blue", "table": {"x": 3}, "on": True}, "here")
    assert found == Outer("a", (Inner(1.0),), (0.0, 1.5), Colour.BLUE, {"x": 3}, True)
    assert isinstance(found.parts[0].size, float)


@pytest.mark.parametrize(("given", "value"), [(True, True), ("a", "a"), (["a", "b"], ("a", "b"))])
def test_a_value_may_have_one_of_several_kinds(given: object, value: object) -> None:
    assert parse(Outer, {**GOOD, "who": given}, "here").who == value


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nmae": "b"}, ["nmae", "unknown key", "'name'"]),
        ({"name": 3}, ["name", "3", "text"]),
        ({"parts": [{"size": 1}, {"size": -1}]}, ["parts[1]", "-1", "more than 0"]),
        ({"parts": [{}]}, ["parts[0].size", "missing"]),
        ({"corner": [1.0]}, ["corner", "1 entries", "write 2"]),
        ({"corner": [1.0, float("nan")]}, ["corner[1]", "finite"]),
        ({"colour": "bleu"}, ["colour", "bleu", "'blue'"]),
        ({"table": {"x": 1.5}}, ["table.x", "1.5", "whole"]),
        ({"on": 1}, ["on", "true or false"]),
        ({"name": True}, ["name", "text"]),
        ({"parts": "abc"}, ["parts", "list"]),
        ({"who": 3}, ["who", "3", "true or false or text or a list"]),
        ({"who": ["a", 3]}, ["who[1]", "3", "text"]),
    ],
)
def test_a_fault_names_key_value_and_remedy(change: dict[str, object], words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(Outer, {**GOOD, **change}, "here")
    assert caught.value.source == "here"
    (fault,) = caught.value.faults
    assert all(word in fault for word in words), fault


def test_all_faults_are_reported_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse(Outer, {"nmae": 1, "corner": 2}, "here")
    assert len(caught.value.faults) == 4


def test_a_long_list_of_wrong_entries_leaves_room_for_the_faults_of_other_fields() -> None:
    with pytest.raises(ConfigError) as caught:
        parse(Words, {"words": [1.0] * 200, "zeal": "much"}, "here")
    assert [fault.partition(":")[0] for fault in caught.value.faults] == [
        *(f"words[{i}]" for i in range(10)),
        "words",
        "zeal",
    ]
    assert "words: 190 more entries are wrong" in str(caught.value)


@pytest.mark.parametrize(("text", "words"), [("a: [1", "line"), ("- 1", "mapping"), (None, "cannot be read")])
def test_bad_files(tmp_path: Path, text: str | None, words: str) -> None:
    path = tmp_path / "x.yaml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=words):
        load(Outer, path)


def test_an_error_from_another_process_names_the_same_faults() -> None:
    there = pickle.loads(pickle.dumps(ConfigError("a.yaml", ["x: is 1; write 2", "y: is missing; add it"])))
    assert (there.source, there.faults) == ("a.yaml", ("x: is 1; write 2", "y: is missing; add it"))
    assert str(there) == "a.yaml: x: is 1; write 2 | y: is missing; add it"
