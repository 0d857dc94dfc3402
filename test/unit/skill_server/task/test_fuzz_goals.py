"""Malformed parameters and task files: the answer is always a named error, or values of the right types."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.skill import Skill
from handiwork_core.intake.limits import TASK_RUNS
from handiwork_core.model.outcome import Outcome
from skill_server.params.parsing import parameters_from, parameters_from_yaml
from skill_server.task.budget import budget_of
from skill_server.task.reading.entries import Site
from skill_server.task.reading.read import read_task

from .flow_support import Facts, steps
from .test_task_file import CATALOG, GOOD, two_armed, world

ROBOT, WORLD = two_armed(), world()
PICK = "{left: [{name: pick, object: $what}]}"
FLOW = "variables: {what: cube, n: 2}\n" + steps(
    f"repeat: {{times: $n, steps: [{PICK}]}}",
    f"repeat: {{until: on($what), max: 3, steps: [{{retry: {{times: 2, steps: [{PICK}]}}}}]}}",
    "for_each: {object_where: on($x), among: [cube], as: x, max: 1, steps: [{left: [{name: pick, object: $x}]}]}",
    f"if: {{condition: {{expression: on(cube), within_s: 1.0}}, then: [{PICK}], else: [{PICK}]}}",
    f"try: [[{PICK}], [{{condition: always}}]]",
    "left: [{name: pick, object: cube}, {barrier: b}]\n    right: [{barrier: b}]",
)
SKILLS = sorted(CATALOG.skills)
NUMBERS = st.one_of(
    st.floats(), st.integers(), st.sampled_from([0, -1, 1e308, 2**63, -(2**70), float("nan"), float("inf")])
)
NAMES = st.sampled_from(["cube", "ball", "tray", "cub", "", "left", "x", "+x", "forward", "null", "é"])
LEAVES = st.one_of(NUMBERS, NAMES, st.none(), st.booleans(), st.text(max_size=12))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=7), st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def fields_of(skill: Skill[Any]) -> list[str]:
    extra = ["objects", "filter_x_dir", "filter_z_dir", "nonsense", "arm"]
    return [*skill.params_type.__dataclass_fields__, *extra]


def like(default: object) -> st.SearchStrategy[Any]:
    """Make values of the type of a field's default, as extreme as they may be."""
    if isinstance(default, bool):
        return st.booleans()
    if isinstance(default, int):
        return st.integers(-(2**66), 2**66)
    if isinstance(default, float):
        return st.floats()
    if isinstance(default, tuple) and default and all(isinstance(item, float) for item in default):
        return st.lists(st.floats(), min_size=len(default), max_size=len(default))
    return st.one_of(NAMES, st.lists(st.floats(-10.0, 10.0), max_size=7))


@st.composite
def malformed(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Make a skill, and a mapping of some of its fields to any values, with mostly valid names of objects."""
    name = draw(st.sampled_from(SKILLS))
    keys = draw(st.lists(st.sampled_from(fields_of(CATALOG.find(name))), max_size=6, unique=True))
    defaults = {f.name: f.default for f in dataclasses.fields(CATALOG.find(name).params_type)}
    data = {key: draw(st.one_of(VALUES, like(defaults.get(key)))) for key in keys}
    if draw(st.booleans()):
        data |= {
            key: draw(st.sampled_from(["cube", "tray"]))
            for key in ("object", "container", "target")
            if key in fields_of(CATALOG.find(name))
        }
    return name, data


def check_faults(error: ConfigError, source: str = "") -> None:
    """Check that every fault is a sentence that begins with its key."""
    assert error.faults
    assert error.source.startswith(source)
    for fault in error.faults:
        assert fault.strip()
        assert len(fault) < 3000
        assert ":" in fault or ";" in fault, fault


@settings(max_examples=300, deadline=None, derandomize=True)
@given(malformed())
def test_any_parameters_end_in_a_named_error_or_are_judged_by_the_skill(
    case: tuple[str, dict[str, Any]],
) -> None:
    name, data = case
    skill = CATALOG.find(name)
    try:
        params = parameters_from(skill, data, "", "fuzz")
    except ConfigError as error:
        check_faults(error)
        return
    with np.errstate(all="ignore"):
        verdict = skill.is_feasible(params, ROBOT, ROBOT.arms["left_arm"], WORLD)
    assert isinstance(verdict, Outcome)
    assert verdict.ok or (verdict.message and verdict.code.name)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sampled_from(SKILLS), st.text(max_size=200))
def test_any_text_of_parameters_ends_in_a_named_error_or_in_values(name: str, text: str) -> None:
    try:
        parameters_from_yaml(CATALOG.find(name), text, "", "fuzz")
    except ConfigError as error:
        check_faults(error)


@st.composite
def broken_task(draw: st.DrawFn) -> str:
    """Make a valid file with a few of its nodes replaced by any values, or its text with a few characters changed."""
    good = draw(st.sampled_from([GOOD, FLOW]))
    if draw(st.booleans()):
        text = list(good)
        for _ in range(draw(st.integers(1, 8))):
            at = draw(st.integers(0, len(text) - 1))
            text[at] = draw(st.sampled_from(list("{}[]:,&*!|>'\"%@`#-?0e\n\t é")))
        return "".join(text)
    data: Any = copy.deepcopy(yaml.safe_load(good))
    for _ in range(draw(st.integers(1, 3))):
        node, key = data, draw(st.sampled_from(list(data)))
        while draw(st.booleans()) and isinstance(node[key], (dict, list)) and node[key]:
            node = node[key]
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = draw(st.sampled_from(keys))
        node[key] = draw(VALUES)
    return str(yaml.safe_dump(data, allow_unicode=True))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(broken_task())
def test_any_task_file_ends_in_named_errors_or_is_a_task(text: str) -> None:
    try:
        with np.errstate(all="ignore"):
            task = read_task(text, "fuzz.yaml", Site(CATALOG, ROBOT, WORLD, conditions=Facts()))
        assert task.entries
        assert budget_of(*task.steps).most <= TASK_RUNS
    except ConfigError as error:
        check_faults(error, "fuzz.yaml")


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_without_parameters_says_what_is_missing_or_runs(name: str) -> None:
    faults: tuple[str, ...] = ()
    try:
        parameters_from_yaml(CATALOG.find(name), "", "", "none")
    except ConfigError as error:
        faults = error.faults
    assert all("missing; add it" in fault for fault in faults)
