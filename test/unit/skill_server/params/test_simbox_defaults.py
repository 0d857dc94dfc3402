"""A file that is read as SimBox has the format's defaults; ours hold elsewhere; one table of the pages shows both."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
import yaml

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.testing.gantry import gantry
from skill_server.params.simbox_defaults import DEFAULTS
from skill_server.skills.pick_place.place import PlaceParams
from skill_server.task.model import Task
from skill_server.task.reading.entries import Site
from skill_server.task.reading.read import read_task
from support.paths import ROOT

from .test_parameters import CATALOG

PAGE = ROOT / "docs/reference/skills.md"
ROW = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \| `(\w+)` \| `(.+?)` \| (?:`(.+?)`|-) \|$", re.MULTILINE)


def task_of(entry: str, *, below_tasks: bool, meant: str = "") -> Task:
    """Read a task with one entry, written as the format does or flat."""
    body = f"{{{meant and f'format: {meant}, '}skills: [{{gantry: [{{arm: [{entry}]}}]}}]}}"
    return read_task(f"tasks: [{body}]" if below_tasks else body, "file", Site(CATALOG, gantry()))


def params_of(entry: str, *, below_tasks: bool, meant: str = "") -> Any:
    return next(iter(task_of(entry, below_tasks=below_tasks, meant=meant).entries)).params


PLACE = "{name: place, objects: [a, b]}"
FORMAT = {
    "position_constraint": "gripper",
    "heights_from": "container_top",
    "pre_place_z_offset": 0.2,
    "place_z_offset": 0.1,
    "success_mode": "3diou",
    "t_eps": 0.001,
    "o_eps": 0.005,
    "gripper_change_steps": 10,
    "post_place_vector": (0.0, 0.0, 0.0),
}


@pytest.mark.parametrize(
    ("below_tasks", "meant", "is_simbox"),
    [(True, "", True), (False, "simbox", True), (False, "", False), (True, "handiwork", False)],
)
def test_whose_defaults_hold_follows_from_the_file(below_tasks: bool, meant: str, is_simbox: bool) -> None:
    ours = {f.name: f.default for f in dataclasses.fields(PlaceParams)}
    wanted = FORMAT if is_simbox else {key: ours[key] for key in FORMAT}
    found = params_of(PLACE, below_tasks=below_tasks, meant=meant)
    assert {key: getattr(found, key) for key in FORMAT} == wanted
    notes = task_of(PLACE, below_tasks=below_tasks, meant=meant).notes
    assert any("read as SimBox" in note for note in notes) is is_simbox


def test_a_null_retreat_is_none_in_a_simbox_file_and_the_default_elsewhere() -> None:
    entry = "{name: place, objects: [a, b], post_place_vector: null}"
    assert not params_of(entry, below_tasks=True).retreats
    assert params_of(entry, below_tasks=False).retreats


def test_what_an_entry_says_has_precedence() -> None:
    entry = (
        "{name: place, objects: [a, b], success_mode: left, t_eps: 0.01, post_place_vector: [0, 0, -0.05]}"
    )
    found = params_of(entry, below_tasks=True)
    assert (found.success_mode, found.t_eps, found.post_place_vector) == ("left", 0.01, (0.0, 0.0, -0.05))
    assert (
        params_of("{name: flip, objects: [a, b], open_wait_steps: 5}", below_tasks=True).gripper_change_steps
        == 5
    )


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        task_of(PLACE, below_tasks=False, meant="other")
    assert caught.value.faults == ("format: is 'other'; write handiwork or simbox",)


def test_the_table_shows_the_defaults_of_both() -> None:
    shown = {}
    for skills, field, theirs, ours in ROW.findall(PAGE.read_text(encoding="utf-8")):
        for skill in re.findall(r"\w+", skills):
            shown[skill, field] = (yaml.safe_load(theirs), yaml.safe_load(ours) if ours else ())
    wanted = {}
    for skill, fields in DEFAULTS.items():
        ours = {f.name: f.default for f in dataclasses.fields(CATALOG.find(skill).params_type)}
        wanted |= {(skill, field): (value, ours[field]) for field, value in fields.items()}
    assert shown == wanted
    assert all(theirs != ours for theirs, ours in wanted.values())
