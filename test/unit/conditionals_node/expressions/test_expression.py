"""Expressions: three values against all completions, margins, the text and back, and every fault with its column."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from conditionals_node.expressions.build import Builder
from conditionals_node.expressions.definitions import ConditionSpec, Definitions
from conditionals_node.expressions.expression import (
    Count,
    Expression,
    Leaf,
    Not,
    all_true,
    any_true,
    at_least,
    choose,
    counted,
    opposite,
)
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.predicate import Evidence, Finding, Truth
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS, ROOT

DATA = ROOT / "test" / "data" / "conditionals"
BUILDER = Builder(load_robot(ROBOTS / "fr3"))
LETTERS = "UFT"
GRABBED, IN_BIN = "object_grabbed(object=cube)", "object_in_container(object=cube, container=bin)"


def finding(letter: str, margin: float = 1.0, evidence: str = "") -> Finding:
    if letter == "U":
        return Finding.unknown("not known")
    truth = Truth.of(letter == "T")
    return Finding(
        truth, margin if letter == "T" else -margin, f"is {letter}", (Evidence(evidence or "e", 1.0),)
    )


def values(letters: str) -> list[Finding]:
    return [finding(letter, 0.5 + i) for i, letter in enumerate(letters)]


def of_all_completions(letters: str, low: int, high: int) -> Truth:
    """Return the value that is certain when each UNKNOWN may be TRUE or FALSE."""
    choices = [[x] if x != "U" else ["T", "F"] for x in letters]
    verdicts = {low <= list(filled).count("T") <= high for filled in itertools.product(*choices)}
    return Truth.UNKNOWN if len(verdicts) == 2 else Truth.of(verdicts.pop())


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_counts_are_what_is_certain_whatever_the_unknown_turns_out_to_be(n: int) -> None:
    for letters in map("".join, itertools.product(LETTERS, repeat=n)):
        for low in range(n + 1):
            for high in range(low, n + 1):
                found = counted(values(letters), low, high)
                assert found.truth is of_all_completions(letters, low, high), (letters, low, high)
                assert (found.margin > 0.0) is (found.truth is Truth.TRUE)
                assert math.isnan(found.margin) is (found.truth is Truth.UNKNOWN)
                assert len(found.evidence) == n - letters.count("U")


def holds(margins: np.ndarray, shift: float, low: int, high: int) -> bool:
    return low <= int((margins + shift > 0).sum()) <= high


def test_the_margin_is_the_smallest_change_that_turns_the_verdict() -> None:
    rng = np.random.default_rng(0)
    for _ in range(400):
        margins = rng.normal(size=4)
        low = int(rng.integers(0, 5))
        high = int(rng.integers(low, 5))
        if (low, high) == (0, 4):
            continue
        found = counted([Finding(Truth.of(bool(m > 0)), float(m), "") for m in margins], low, high)
        size, verdict = abs(found.margin), holds(margins, 0.0, low, high)
        assert verdict is (found.truth is Truth.TRUE)
        inner = [holds(margins, sign * size * 0.999, low, high) for sign in (-1, 1)]
        outer = [holds(margins, sign * size * 1.001, low, high) for sign in (-1, 1)]
        assert inner == [verdict] * 2 or not verdict
        assert (not verdict) in outer


def test_and_or_and_not_keep_the_deciding_reason_first_and_all_evidence() -> None:
    parts = [finding("T", 2.0, "a"), finding("F", 0.3, "b"), finding("F", 0.1, "c")]
    both = counted(parts, 3, 3)
    assert (both.truth, both.margin) == (Truth.FALSE, -0.3)
    assert both.reason == "1 of 3 hold, 3 needed: is F; is F; is T"
    assert [item.name for item in both.evidence] == ["b", "c", "a"]
    assert opposite(both).margin == 0.3
    assert opposite(opposite(both)) == both
    assert opposite(Finding(Truth.FALSE, 0.0, "")).margin > 0.0
    assert "and 2 more" in counted([finding("T")] * 5, 5, 5).reason


def test_all_any_and_choose_agree_with_the_vectors() -> None:
    vectors = np.load(DATA / "logicals.npz")
    checked = 0
    for row, truth in enumerate(vectors["truth"]):
        parts = [finding("T" if t else "F") for t in truth]
        for k in range(6):
            # all and any take no K; a K above the number of parts is refused before any decision.
            assert (counted(parts, 4, 4).truth is Truth.TRUE) == vectors[f"all_{k}"][row]
            assert (counted(parts, 1, 4).truth is Truth.TRUE) == vectors[f"any_{k}"][row]
            if k <= 4:
                assert (counted(parts, k, k).truth is Truth.TRUE) == vectors[f"choose_{k}"][row]
                checked += 1
        assert not vectors["choose_5"][row]
    assert checked == 64 * 5
    with pytest.raises(ValueError, match="K: is 5; with 4 parts write 0 to 4"):
        choose(5, [read(GRABBED)] * 4)


def read(text: str, **named: str) -> Expression:
    definitions = Definitions(BUILDER)
    faults: list[str] = []
    definitions.read([ConditionSpec(name, expression=value) for name, value in named.items()], faults)
    assert not faults
    return definitions.make("", "", text or " ", 0.0).expression


@pytest.mark.parametrize(
    "text",
    [
        GRABBED,
        f"not {GRABBED}",
        f"{GRABBED} and not {IN_BIN}",
        f"({GRABBED} or {IN_BIN}) and not ({GRABBED} and {IN_BIN})",
        f"choose(1, {GRABBED}, {IN_BIN}, gripper_open())",
        f"at_least(2, {GRABBED}, not {IN_BIN}, gripper_open())",
        f"not not {GRABBED}",
        'object_grabbed(object="not")',
        'object_grabbed(object="my/cube 2", min_force=0.25)',
        "object_grabbed(object=cube, fingers=[left, right])",
    ],
)
def test_the_key_of_an_expression_is_its_text_and_reads_back_the_same(text: str) -> None:
    found = read(text)
    assert found.key == text
    assert read(found.key) == found


def test_lists_stand_for_one_part_each() -> None:
    one, two = (f"object_in_container(object={name}, container=bin)" for name in "ab")
    call = "object_in_container(object=[a, b], container=bin)"
    assert read(f"any({call})").key == f"{one} or {two}"
    assert read(f"all({call}, gripper_open())").key == f"{one} and {two} and gripper_open()"
    assert read(f"choose(1, {call})") == choose(1, [read(one), read(two)])
    assert read(f"at_least(2, {call})") == at_least(2, [read(one), read(two)])
    assert isinstance(read(f"not any({call})"), Not)
    assert read("all(gripper_open())").key == "gripper_open()"


def test_names_stand_for_other_conditions() -> None:
    found = read("not in_bin and held", in_bin=IN_BIN, held=f"{GRABBED} and gripper_open()")
    assert found.key == "not in_bin and held"
    assert [leaf.name for leaf in found.leaves()] == ["object_in_container", "object_grabbed", "gripper_open"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty"]),
        ("object_grabbed(object=cube", ["column 15", "never closed"]),
        ("object_grabed(object=cube)", ["column 1", "'object_grabed'", "did you mean 'object_grabbed'"]),
        (f"{GRABBED} and nothing", ["column 33", "'nothing'"]),
        (f"{GRABBED} and object_grabbed(objct=cube)", ["column 33", "objct", "unknown key"]),
        ("object_grabbed(cube)", ["column 16", "name every argument"]),
        ("object_grabbed(**cube)", ["column 18", "**"]),
        ("object_grabbed(object=cube, min_force=soft)", ["min_force", "'soft'", "a number"]),
        ("object_grabbed(object=cube, min_force=1e999)", ["min_force", "finite"]),
        ("object_grabbed(object=cube, min_force=2*3)", ["column 39", "'2*3' is no value"]),
        ("choose(3, gripper_open(), gripper_open())", ["K: is 3", "2 parts"]),
        ("choose(-1, gripper_open())", ["K:", "whole number"]),
        ("choose(gripper_open())", ["K:", "whole number"]),
        ("choose(True, gripper_open())", ["K:", "whole number"]),
        ("choose(1)", ["no parts"]),
        ("any()", ["no parts"]),
        ("any(K=1)", ["conditions only"]),
        ("object_above(object=[], reference_object=b)", [" object: "]),
        ("object_above(object=a, reference_object=[])", [" reference_object: "]),
        ("gripper_open", ["needs brackets", "gripper_open(...)"]),
        ("any", ["needs brackets"]),
        ("3 < 4", ["column 1", "Compare is no condition"]),
        ("gripper_open() if 1 else 2", ["IfExp is no condition"]),
        ("(lambda: 1)()", ["calls no plain name"]),
        ("__import__('os').system('x')", ["calls no plain name"]),
        ("__import__(name='os')", ["no predicate '__import__'"]),
        ("gripper_open() and (x := 1)", ["NamedExpr is no condition"]),
        ("(" * 41 + "gripper_open()" + ")" * 41, ["too deep"]),
        ("not " * 60 + "gripper_open()", ["nested deeper"]),
        ("gripper_open() and " * 500 + "gripper_open()", ["too long"]),
        ("gripper_open(\x00)", ["expression:"]),
        ("pick_and_place(object=[a], container=b)", ["composite", "write it in a subtask"]),
    ],
)
def test_every_fault_names_its_place_and_its_remedy(text: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "expression: expression:" not in str(caught.value)


def test_all_faults_of_an_expression_are_reported_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        read("nothing and object_grabbed(thing=a) or choose(7, gripper_open())")
    assert [fault.split(":")[1] for fault in caught.value.faults] == [
        " column 1",
        " column 13",
        " column 13",
        " column 40",
    ]


def test_conditions_of_a_file_may_speak_of_each_other_in_any_order_but_not_in_circles() -> None:
    faults: list[str] = []
    specs = [
        ConditionSpec("a", expression="not b"),
        ConditionSpec("b", expression="gripper_open()"),
        ConditionSpec("c", expression="d"),
        ConditionSpec("d", expression="e or b"),
        ConditionSpec("e", expression="not c"),
        ConditionSpec("b", expression="gripper_open()"),
        ConditionSpec("gripper_open", expression="b"),
        ConditionSpec("f", expression="f"),
    ]
    made = Definitions(BUILDER).read(specs, faults)
    assert [condition.key for condition in made][:2] == ["a", "b"]
    reported = "\n".join(faults)
    assert "c -> d -> e -> c" in reported
    assert "f -> f" in reported
    assert "conditions[5].name: 'b' occurs twice" in reported
    assert "conditions[6].name: 'gripper_open' cannot be a name" in reported


def test_a_name_in_a_request_must_be_free_and_must_not_speak_of_itself() -> None:
    definitions = Definitions(BUILDER)
    made = definitions.make("ready", "", "gripper_open()", 0.5)
    definitions.keep(made)
    assert (made.key, made.hold_s) == ("ready", 0.5)
    assert definitions.make("ready", "", "", 0.0) is made
    definitions.keep(definitions.make("ready", "", "gripper_open()", 0.0))
    for expression, word in (
        (GRABBED, "means gripper_open() already"),
        ("not ready", "cyclic: ready -> ready"),
    ):
        with pytest.raises(ConfigError, match=word.replace("(", r"\(").replace(")", r"\)")):
            definitions.keep(definitions.make("ready", "", expression, 0.0))
    with pytest.raises(ConfigError, match="hold_s: is -1"):
        definitions.make("x", "", "gripper_open()", -1.0)
    with pytest.raises(ConfigError, match="args: belong to a predicate"):
        definitions.make("x", "{a: 1}", "gripper_open()", 0.0)


def test_unknown_frames_are_refused_once_the_world_is_known() -> None:

    known: list[str] | None = None
    builder = Builder(BUILDER._robot, lambda: known)
    if "object_left_of" not in builder.kinds:
        pytest.skip("no predicate has a frame")
    args = {"object": "a", "reference_object": "b", "frame_of_reference": "moon"}
    assert builder.build("object_left_of", args)
    known = ["a", "b", "mug"]
    with pytest.raises(ConfigError, match="frame_of_reference: no frame 'moon'"):
        builder.build("object_left_of", args)
    assert builder.build("object_left_of", {**args, "frame_of_reference": "mug"})


def test_single_parts_are_themselves() -> None:
    (leaf,) = read(GRABBED).leaves()
    assert isinstance(leaf, Leaf)
    assert all_true([leaf]) is leaf
    assert any_true([leaf]) is leaf
    assert isinstance(any_true([leaf, leaf]), Count)
