"""The page of all predicates is complete and up to date."""

from __future__ import annotations

from pathlib import Path

from conditionals_node.predicates import BUILTIN
from conditionals_node.reference import text

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "conditions.md"


def test_the_page_says_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == text(), "run python -m conditionals_node.reference > that page"


def test_every_predicate_has_its_line() -> None:
    lines = [line for line in text().splitlines() if line.startswith("| `") and line.count("|") == 5]
    assert [line.split("`")[1] for line in lines] == sorted(kind.name for kind in BUILTIN)
    assert all(len(line.split("|")[4]) > 20 for line in lines)
