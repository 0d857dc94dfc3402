"""Any text of a person or a program ends in a condition or in one error with named faults."""

from __future__ import annotations

import string
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from conditionals_node.conditions_file import load_conditions
from conditionals_node.expressions.build import Builder
from conditionals_node.expressions.definitions import ConditionSpec, Definitions
from conditionals_node.subtasks.task import read_task
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.predicate import Finding, Truth
from handiwork_core.model.world import World
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

BUILDER = Builder(load_robot(ROBOTS / "fr3"), lambda: ["cube", "bin"])
FAST = settings(max_examples=150, deadline=None)
WORDS = [
    "object",
    "container",
    "reference_object",
    "logical",
    "K",
    "tolerance",
    "point",
    "fingers",
    "nonsense",
]
PIECES = [
    *BUILDER.kinds, *WORDS, "cube", "bin", "ready", "and", "or", "not", "any", "all", "choose", "at_least",
    "(", ")", "[", "]", "{", "}", ",", "=", ":", ".", "1", "-1", "2.5", "1e999", "'", '"', "lambda", "if", "else",
    "**", "*", "#", "\\", "\n", "True", "None", "ü", "\x00", "object_grabbed(object=cube)", "object=[cube, can]",
]  # fmt: skip

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["cube", "bin", "all"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(st.sampled_from(WORDS), values, max_size=4)
pieces = st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join)
texts = st.text(alphabet=string.printable, max_size=60) | st.text(max_size=40) | pieces


def definitions() -> Definitions:
    made = Definitions(BUILDER)
    made.read([ConditionSpec("ready", expression="gripper_open()")], [])
    return made


def ends_well(action: Callable[[], Any]) -> Any:
    """Return the result of the action; None where it is refused, with faults that name something."""
    try:
        return action()
    except ConfigError as error:
        faults = error.faults
    assert faults
    assert all(len(fault) > 12 for fault in faults), faults
    return None


def decides(condition: Any) -> None:
    """Check that an accepted condition decides an empty world without an exception, and reads back from its key."""
    if condition is None:
        return
    found = condition.expression.decide(lambda leaf: leaf.predicate.evaluate(World(0.0)))
    assert isinstance(found, Finding)
    assert isinstance(found.truth, Truth)
    assert (
        definitions().make("", "", condition.expression.key, 0.0).expression.key == condition.expression.key
    )


@FAST
@given(texts)
def test_any_text_as_an_expression(text: str) -> None:
    decides(ends_well(lambda: definitions().make("", "", text or " ", 0.0)))


@FAST
@given(st.sampled_from(sorted(BUILDER.kinds)), arguments)
def test_any_arguments_of_any_predicate(name: str, args: dict[str, Any]) -> None:
    decides(ends_well(lambda: BUILDER.build(name, args)))


@FAST
@given(texts, texts, st.floats())
def test_any_request(name: str, args: str, hold_s: float) -> None:
    decides(ends_well(lambda: definitions().make(name, args, "", hold_s)))
    decides(ends_well(lambda: definitions().make(name, "", args, hold_s)))


@FAST
@given(texts | values.map(yaml.safe_dump))
def test_any_text_as_a_task(text: str) -> None:
    ends_well(lambda: read_task(text, definitions()))


fields = st.sampled_from(["name", "args", "expression", "hold_s", "extra"])
entries = st.dictionaries(fields, values | pieces, max_size=4)
steps = st.fixed_dictionaries({"expression": pieces}, optional={"score": values, "releases": values})
composites = st.fixed_dictionaries({"object": values, "container": values})
subtasks = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b"])},
    optional={
        "groups": st.dictionaries(st.sampled_from(["g", "h"]), st.lists(steps, max_size=2), max_size=2),
        "pick_and_place": composites,
        "logical": values,
        "K": values,
        "score": values,
    },
)
tasks = st.fixed_dictionaries(
    {"name": values, "subtasks": st.lists(subtasks, max_size=2)}, optional={"events": arguments}
)


@FAST
@given(st.lists(entries, max_size=3), tasks)
def test_any_file(conditions: list[dict[str, Any]], task: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conditions.yaml"
        path.write_text(yaml.safe_dump({"conditions": conditions, "task": task}), encoding="utf-8")
        made = ends_well(lambda: load_conditions(path, Definitions(BUILDER)))
    assert made is None or len(made[0]) == len(conditions)


@FAST
@given(
    st.binary(max_size=80)
    | st.sampled_from([40, 400, 3000]).map(lambda depth: b"[" * depth)
    | texts.map(str.encode)
)
def test_any_bytes_as_a_file(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conditions.yaml"
        path.write_bytes(data)
        ends_well(lambda: load_conditions(path, Definitions(BUILDER)))


def refers(names: list[str], targets: list[list[int]]) -> list[ConditionSpec]:
    texts = [" or ".join(names[i] for i in row) or "gripper_open()" for row in targets]
    return [ConditionSpec(name, expression=text) for name, text in zip(names, texts, strict=True)]


@FAST
@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=3), min_size=n, max_size=n)
    )
)
def test_references_are_refused_exactly_when_they_lead_back(targets: list[list[int]]) -> None:
    names = [f"c{i}" for i in range(len(targets))]
    faults: list[str] = []
    made = Definitions(BUILDER).read(refers(names, targets), faults)

    def leads_to_itself(i: int, path: tuple[int, ...]) -> bool:
        return i in path or any(leads_to_itself(j, (*path, i)) for j in targets[i])

    bad = [leads_to_itself(i, ()) for i in range(len(targets))]
    assert bool(faults) == any(bad)
    assert {condition.key for condition in made} == {
        name for name, is_bad in zip(names, bad, strict=True) if not is_bad
    }
