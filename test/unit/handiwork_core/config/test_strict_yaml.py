"""YAML by libyaml and by Python alone: the same values, and the same faults at the same places."""

from __future__ import annotations

import contextlib
import importlib.util
import math
import time
from types import ModuleType

import pytest
import yaml

from handiwork_core.config import strict_yaml
from handiwork_core.config.dataclass_loader import ConfigError, mapping_from_yaml
from handiwork_core.intake.limits import (
    FILE_YAML,
    GOAL_YAML,
    TASK_YAML,
    YamlLimits,
)
from support.paths import ROOT


@pytest.fixture(scope="module")
def plain() -> ModuleType:
    """Return the module as it is if PyYAML has no libyaml."""
    spec = importlib.util.spec_from_file_location("plain_yaml", strict_yaml.__file__)
    assert spec is not None
    assert spec.loader is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml, "__with_libyaml__", False)
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("name", ["tabletop", "bin_stacking"])
def test_shipped_files_read_the_same(plain: ModuleType, name: str) -> None:
    text = (ROOT / f"config/scenes/{name}.yaml").read_text(encoding="utf-8")
    assert strict_yaml.value_of(text) == plain.value_of(text) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: &x 1\nb: *x", 1),
        ("a: 1\nb: 2\na: 3", 2),
        ("a: 1\nb: 'x", 1),
        ("a: 1\nb: @", 1),
        ("a: 1\n? [1, 2]\n: 3", 1),
        ("a: 1\n---\nb: 2", 1),
    ],
)
def test_faults_are_found_at_the_same_place(plain: ModuleType, text: str, line: int) -> None:
    for module in (strict_yaml, plain):
        with pytest.raises(yaml.MarkedYAMLError) as caught:
            module.value_of(text)
        assert caught.value.problem_mark is not None
        assert caught.value.problem_mark.line == line
    with pytest.raises(ConfigError, match=rf"sent: line {line + 1}, column \d+: .*correct the YAML there"):
        mapping_from_yaml(text, "sent")


def test_numbers_without_a_dot_are_numbers(plain: ModuleType) -> None:
    assert (
        strict_yaml.value_of("[1e-3, -2E5, 1e]") == plain.value_of("[1e-3, -2E5, 1e]") == [1e-3, -2e5, "1e"]
    )


def test_scalars_follow_the_core_schema(plain: ModuleType) -> None:
    text = (
        "[1:30, 1:30.5, 2001-12-14, 1_000, 010, 0o10, 0xFF, 0b1, .5, 1., +3, .inf, -.INF, yes, ~, <<, =, '1']"
    )
    expected = ["1:30", "1:30.5", "2001-12-14", "1_000", 10, 8, 255, "0b1", 0.5, 1.0, 3, math.inf, -math.inf]
    expected += [True, None, "<<", "=", "1"]
    assert strict_yaml.value_of(text) == plain.value_of(text) == expected
    assert math.isnan(strict_yaml.value_of("a: .nan")["a"])  # type: ignore[index]


SECONDS = 1.0
"""Each of the documents below took minutes before, or would without a limit; now milliseconds."""

ENDLESS = {
    "sexagesimal": "a: 1" + ":1" * 300_000,
    "tagged sexagesimal": 'a: !!int "1' + ":1" * 40_000 + '"',
    "tagged sexagesimal float": 'a: !!float "1' + ":1" * 40_000 + '.5"',
    "decimal digits": "a: " + "9" * 90_000,
    "hexadecimal digits": "a: 0x" + "9" * 90_000,
    "fraction": "a: 0." + "9" * 90_000,
    "binary": "a: !!binary " + "QUJD" * 20_000,
    "timestamp": "a: !!timestamp 2001-12-14t21:59:43." + "1" * 90_000,
    "keys of one hash": "\n".join(f"{i * (2**61 - 1)}: 1" for i in range(4_000)),
    "keys that are lists": "\n".join(f"[{i}]: 1" for i in range(400)),
    "%TAG directives": "\n".join(f"%TAG !a{i}! b" for i in range(20_000)) + "\n--- a: 1",
    "open lists": "[" * 90_000,
    "nested lists in lines": "- " * 40_000,
    "many values": "[" + "1," * 40_000 + "]",
    "merge keys": "<<: {a: 1, <<: {b: 1}}\n!!merge x: 1",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_no_text_of_a_goal_takes_long(name: str) -> None:
    begin = time.process_time()
    with contextlib.suppress(ConfigError):
        value = mapping_from_yaml(ENDLESS[name], "sent", GOAL_YAML)
        assert all(type(one) is str for one in value.values())
    assert time.process_time() - begin < SECONDS


@pytest.mark.parametrize("limits", [GOAL_YAML, TASK_YAML, FILE_YAML])
def test_the_largest_allowed_text_is_read_within_a_second(limits: YamlLimits) -> None:
    half = limits.values // 2 - 2
    texts = [
        "{" + ", ".join(f"k{i}: {i}.5" for i in range(half)) + "}",
        "[" + "1.5," * (limits.values - 2) + "]",
        "a: " + "x" * (limits.characters - 3),
    ]
    for text in texts:
        # The least of several: other processes take a core's caches and clock, and raise the time of one.
        assert min(processor_s(text, limits) for _ in range(3)) < SECONDS


def processor_s(text: str, limits: YamlLimits) -> float:
    """Return the processor time of reading a text, s."""
    begin_s = time.process_time()
    assert strict_yaml.value_of(text, limits)
    return time.process_time() - begin_s


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("9" * 30 + ": 1", "key 999999999999999999999999999999 is too long a number; quote it"),
        ("a: " + "9" * 200, "a number has 200 characters; write at most 100, or quote it"),
        ("a: !!binary QUJD", "tag 'tag:yaml.org,2002:binary' is not understood; leave it out"),
        ("a: !!int x", "'x' is not a whole number; leave the tag out"),
        ("a: " + "[" * 50, "values are nested more than 40 deep; flatten them"),
        ("a: [" + "1," * 11_000 + "]", "there are more than 10000 values; split the document"),
        ("%TAG ! x\n--- a", "directive %TAG is not understood; leave it out"),
        ("a" * 200_000, "is 200000 characters long; keep it within 100000"),
        ("{a: 1}: 2", "a key is a list or a mapping; write a word"),
    ],
)
def test_a_limit_is_named_in_one_sentence(plain: ModuleType, text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        mapping_from_yaml(text, "sent", GOAL_YAML)
    assert words in str(caught.value)
    if len(text) <= GOAL_YAML.characters:
        with pytest.raises(yaml.YAMLError, match=r"."):
            plain.value_of(text, GOAL_YAML)
