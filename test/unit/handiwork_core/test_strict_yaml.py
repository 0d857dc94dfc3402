"""YAML by libyaml and by Python alone: the same values, and the same faults at the same places."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from handiwork_core import strict_yaml
from handiwork_core.config import ConfigError, mapping_from_yaml

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def plain() -> ModuleType:
    """The module as it is where PyYAML has no libyaml."""
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
    with pytest.raises(ConfigError, match=rf"sent: line {line + 1}, column \d+: .*mend the YAML there"):
        mapping_from_yaml(text, "sent")


def test_numbers_without_a_dot_are_numbers(plain: ModuleType) -> None:
    assert (
        strict_yaml.value_of("[1e-3, -2E5, 1e]") == plain.value_of("[1e-3, -2E5, 1e]") == [1e-3, -2e5, "1e"]
    )
