"""The page of all predicates is complete and up to date."""

from __future__ import annotations

import textwrap

import pytest

from conditionals_node.batch import Worlds, evaluate
from conditionals_node.predicates import BUILTIN
from conditionals_node.predicates.counting import Logical
from conditionals_node.reference import text
from handiwork_core.contracts.predicate import Truth
from support.paths import ROOT
from support.records.pictured import CUBE, TABLE, at, world

PAGE = ROOT / "docs" / "reference" / "conditions.md"


def test_the_page_says_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == text(), "run python -m conditionals_node.reference > that page"


def test_every_predicate_has_its_line() -> None:
    lines = [line for line in text().splitlines() if line.startswith("| `") and line.count("|") == 5]
    assert [line.split("`")[1] for line in lines] == sorted(kind.name for kind in BUILTIN)
    assert all(len(line.split("|")[4]) > 20 for line in lines)


def test_the_example_of_the_how_to_works() -> None:
    page = PAGE.parents[1] / "how-to" / "add-a-predicate.md"
    example = page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    names: dict[str, object] = {"__name__": __name__}
    exec(textwrap.dedent(example), names)
    kind = names["ObjectHigh"]
    assert isinstance(kind, type)
    scene = world((CUBE, at(0.0, 0.0, 0.5)), (TABLE, at(0.0, 0.0, 0.0)))
    assert kind("cube").evaluate(scene).margin == pytest.approx(0.2)
    assert kind(("cube", "table"), logical=Logical.ANY).evaluate(scene).truth is Truth.TRUE
    assert evaluate(kind("table"), Worlds.of([scene, scene])).truth.tolist() == [Truth.FALSE] * 2
