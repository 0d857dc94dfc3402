"""Keys of the SimBox format: translated where they have a meaning here, else refused with the key to write instead."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from handiwork_core.config.dataclass_loader import ConfigError
from skill_server.params.simbox_keys import LEFT_OUT, NULLS, RENAMED
from support.paths import ROOT

from .test_parameters import CATALOG, read

PAGE = ROOT / "docs/how-to/run-tasks.md"
REFUSED = [(skill, key, why) for skill, keys in LEFT_OUT.items() for key, why in keys.items()]


@pytest.mark.parametrize(
    ("skill", "words", "field", "value"),
    [
        ("pick", "{object: a, constraints: [z, 0.2, 1.0]}", "constraint_axis", "z"),
        ("pick", "{object: a, constraints: [z, 0.2, 1.0]}", "constraint_ratio_range", (0.2, 1.0)),
        ("pick", "{object: a, constraints: [1, 0, 0.5]}", "constraint_axis", "y"),
        ("place", "{objects: [a, b], align_obj_tol: 15}", "align_obj_tol_deg", 15.0),
        ("flip", "{objects: [a, b], open_wait_steps: 20}", "gripper_change_steps", 20),
        ("goto_pose", "{position: [0, 0, 0], test_mode: ik}", "test_mode", "ik"),
        ("pour", "{container: b, container_up: [[b, z, 0.9]]}", "container_up", (("b", "z", 0.9),)),
    ],
)
def test_keys_with_a_meaning_are_read(skill: str, words: str, field: str, value: Any) -> None:
    assert getattr(read(skill, words), field) == value


@pytest.mark.parametrize(
    "words",
    [
        "[w, 0, 1]",
        "[z, 0]",
        "z",
        "[true, 0, 1]",
        "[[z], 0, 1]",
        "[z, low, 1]",
        "[z, 0, 1], constraint_axis: x",
    ],
)
def test_a_slice_that_is_none_is_told(words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read("pick", f"{{object: a, constraints: {words}}}")
    assert caught.value.faults[0].startswith("constrain")


@pytest.mark.parametrize(("skill", "key", "why"), REFUSED)
def test_keys_without_a_meaning_say_what_to_write(skill: str, key: str, why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(skill, yaml.safe_dump({key: 1}))
    assert f"{key}: has no meaning here: {why}" in caught.value.faults
    assert ";" in why or why.startswith("write ")
    assert f"`{key}`" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("skill", "key", "field"), [(s, k, f) for s, ks in RENAMED.items() for k, f in ks.items()]
)
def test_both_names_at_once_are_one_too_many(skill: str, key: str, field: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(skill, yaml.safe_dump({key: 1, field: 1}))
    assert any(fault.startswith(f"{key}: is given beside {field}") for fault in caught.value.faults)


@pytest.mark.parametrize("skill", sorted(CATALOG.skills))
def test_null_is_as_if_nothing_was_written(skill: str) -> None:
    fields = CATALOG.find(skill).params_type.__dataclass_fields__
    known = {*fields, *RENAMED.get(skill, {}), *(("constraints",) if "constraint_axis" in fields else ())}

    def faults(text: str) -> tuple[str, ...]:
        try:
            read(skill, text)
        except ConfigError as error:
            return error.faults
        return ()

    assert faults(yaml.safe_dump({key: None for key in sorted(NULLS & known)})) == faults("")


def test_a_key_that_is_null_without_such_a_default_is_told() -> None:
    with pytest.raises(ConfigError, match="lift_th: is None"):
        read("pick", "{object: a, lift_th: null}")
