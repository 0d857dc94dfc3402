"""The actions, the parameters and the reference pages of Pick and Place name the same fields with the same defaults."""

from __future__ import annotations

import ast
import dataclasses
import re
from typing import Any

import pytest

from skill_server.skills.pick_place.pick import PickParams
from skill_server.skills.pick_place.place import PlaceParams
from support.paths import ROOT

FIELD = re.compile(r"^([\w/\[\]]+)\s+(\w+)(?:\s+(.+))?$")
ROW = re.compile(r"^\| `(\w+)` \| (\S+) \| (?:`(.+?)`|-) \|", re.MULTILINE)
OF_THE_SERVER = (
    "plan_only",
    "when_busy",
    "time_allowance",
)
"""Read before a skill sees the goal."""
SKILLS = [("Pick", PickParams), ("Place", PlaceParams)]


def fields_of(action: str) -> dict[str, tuple[str, str]]:
    """Return type and default, as written, of every goal field."""
    text = (ROOT / f"src/handiwork_msgs/action/{action}.action").read_text(encoding="utf-8")
    lines = [line for line in text.split("\n---")[0].splitlines() if line and not line.startswith("#")]
    found = [FIELD.match(line) for line in lines]
    assert all(found), lines
    return {m[2]: (m[1].replace("geometry_msgs/", ""), m[3] or "") for m in found if m}


def value(kind: str, written: str) -> Any:
    if not written:
        return () if kind.endswith("[]") else ""
    if kind == "bool":
        return written == "true"
    read = ast.literal_eval(written)
    return tuple(read) if isinstance(read, list) else read


@pytest.mark.parametrize(("action", "params_type"), SKILLS)
def test_parameters_have_the_fields_and_defaults_of_the_action(action: str, params_type: Any) -> None:
    wanted = {
        name: value(*written) for name, written in fields_of(action).items() if name not in OF_THE_SERVER
    }
    # A field without a default in the dataclass has an empty one in the action: it must be given. So has one that
    # holds the parameters of another skill, which are a text in the action.
    given = {
        f.name: "" if f.default is dataclasses.MISSING or f.default is None else f.default
        for f in dataclasses.fields(params_type)
    }
    assert given == wanted


@pytest.mark.parametrize(("action", "_params_type"), SKILLS)
def test_the_reference_page_has_every_field(action: str, _params_type: Any) -> None:
    page = (ROOT / f"docs/reference/{action.lower()}.md").read_text(encoding="utf-8")
    assert {m[1]: (m[2], m[3] or "") for m in ROW.finditer(page)} == fields_of(action)
