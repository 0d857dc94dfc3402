"""Agreement of judges with the labelled situations, and the command that prints it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from benchmarks.situations.draw import PICTURES, arranged, file_of
from benchmarks.situations.page import PAGES, pages
from benchmarks.situations.views import ENOUGH, asked, seen_shares

from conditionals_node.expressions.build import Builder
from conditionals_node.scoring import (
    Scored,
    load_judge,
    load_situations,
    original_judge,
    own_judge,
    score_judges,
)
from conditionals_node.scoring.judges import OriginalBuilder
from handiwork_cli.cli import main
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.predicate import Finding, Truth
from handiwork_core.robot_files.loader import load_robot
from handiwork_viz.film.solids import link_solids
from support.paths import ROBOTS, ROOT

pytestmark = pytest.mark.slow
LEAST = 0.98
"""Share of the questions on which Handiwork must agree with the labels."""
EXAMPLE = f"{ROOT / 'examples' / 'box_judge.py'}:judge"


@pytest.fixture(scope="module")
def scored() -> Scored:
    robot = load_robot(ROBOTS / "fr3")
    judges = {"own": own_judge(robot), "original": original_judge(robot), "example": load_judge(EXAMPLE)}
    return score_judges(load_situations(), judges)


def test_handiwork_agrees_and_every_disagreement_is_explained(scored: Scored) -> None:
    right, asked, _, _ = scored.counts("own")
    assert right >= LEAST * asked
    wrong = {(one.situation.key, one.question.expression) for one in scored.disagreements("own")}
    explained = {
        (one.key, question.expression)
        for one in scored.situations
        for question in one.questions
        if question.known_disagreement
    }
    assert wrong - explained == set(), "explain these, or correct the conditions"
    assert explained - wrong == set(), "these agree now; take their explanation away"


def test_the_original_rules_answer_every_question_and_agree_less(scored: Scored) -> None:
    own, original = scored.counts("own"), scored.counts("original")
    assert own[1:2] == original[1:2]
    assert original[0] < own[0]
    assert all(answer.truth is not None for row in scored.answers["original"] for answer in row)


def test_counts_of_categories_add_up(scored: Scored) -> None:
    parts = [scored.counts("example", category) for category in scored.categories()]
    assert tuple(map(sum, zip(*parts, strict=True))) == scored.counts("example")


@pytest.mark.parametrize(
    ("question", "original"),
    [
        (
            "object_grabbed(object=cube)",
            "object_in_contact(object1=cube, object2=fr3/fr3_leftfinger, weight_share=0.0)",
        ),
        (
            "object_outside_of(object=cube, container=bin)",
            "not object_in_hull(object=cube, container=bin, point=vertex_mean)",
        ),
        (
            "object_enclosed(object=cube, container=bin, min_share=0.7)",
            "object_in_hull(object=cube, container=bin, point=vertex_mean, closed=True)",
        ),
        (
            "object_in_container(object=cube, container=bin, require_stationary=True)",
            "object_in_hull(object=cube, container=bin, point=vertex_mean) and "
            "object_stationary(object=cube, linear_threshold=0.05, check_angular=False)",
        ),
        (
            "object_on_top(object=cube, reference_object=table)",
            "object_on_top(object=cube, reference_object=table, weight_share=0.0, support_share=0.0, extent=box)",
        ),
    ],
)
def test_questions_become_those_of_the_original(question: str, original: str) -> None:
    robot = load_robot(ROBOTS / "fr3")
    translated = OriginalBuilder(robot).build_expression("", question, lambda name: pytest.fail(name))
    wanted = Builder(robot).build_expression("", original, lambda name: pytest.fail(name))
    assert translated.expression.key == wanted.expression.key


def test_a_judge_that_fails_disagrees_and_says_why() -> None:
    def broken(*_: object) -> bool:
        raise RuntimeError("no idea")

    situations = load_situations()[:3]
    found = score_judges(situations, {"broken": broken, "shy": lambda *_: None, "odd": lambda *_: "perhaps"})
    assert found.counts("broken")[0] == 0
    assert found.disagreements("broken")[0].answer.reason == "RuntimeError: no idea"
    assert {answer.truth for row in found.answers["shy"] for answer in row} == {Truth.UNKNOWN}
    assert "is no verdict" in found.answers["odd"][0][0].reason


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("judge", "names no function"),
        ("missing.py:judge", "cannot be imported"),
        ("no_such_module:judge", "cannot be imported"),
        ("json:judge", "has no function"),
    ],
)
def test_a_wrong_name_of_a_judge_is_refused(name: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        load_judge(name)


def test_a_judge_that_exits_or_finds_nonsense_is_scored() -> None:
    def leaves(*_: object) -> object:
        raise SystemExit(3)

    def loose(*_: object) -> Finding:
        return Finding(True, 0.1, 0.5)  # type: ignore[arg-type]

    situations = load_situations()[:3]
    found = score_judges(situations, {"leaves": leaves, "loose": loose})
    assert set(found.errors("leaves")) == {"SystemExit: 3"}
    assert {answer.truth for row in found.answers["loose"] for answer in row} == {Truth.TRUE}
    assert found.answers["loose"][0][0].reason == "0.5"


@pytest.mark.parametrize("text", ["def judge(:", "raise RuntimeError('no')", "raise SystemExit(3)"])
def test_a_file_that_cannot_be_imported_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong_judge.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="when it is imported"):
        load_judge(f"{path}:judge")


def test_a_module_of_the_current_folder_is_a_judge_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_rules_of_this_test.py").write_text("def judge(*_): return True\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [item for item in sys.path if item])
    assert load_judge("own_rules_of_this_test:judge")(load_situations()[0], None) is True  # type: ignore[arg-type]


def test_what_a_judge_prints_is_not_between_the_json(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "loud_judge.py"
    path.write_text("def judge(*_):\n    print('hm')\n    raise ValueError('why')\n", encoding="utf-8")
    words = ["score-judge", "--category", "nested", "--json", "--judge", f"{path}:judge"]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert "questions" in json.loads(printed.out)
    assert "errors, the first is ValueError: why" in printed.err
    assert main([*words, "--out", str(tmp_path / "none" / "a.json")]) != 0
    assert "cannot be written" in capsys.readouterr().err


def test_the_command_prints_a_table_and_the_reasons(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "answers.json"
    assert main(["score-judge", "--judge", EXAMPLE, "--list", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    head, *rows = text.splitlines()
    assert head.split() == ["category", "situations", "questions", "handiwork", "original", EXAMPLE]
    assert next(row for row in rows if row.startswith("all")).split()[1] == str(len(load_situations()))
    assert "a person: TRUE. The ball lies within the wall of the pipe" in text
    data = json.loads(out.read_text(encoding="utf-8"))
    assert data["agreement"]["handiwork"]["all"]["questions"] == len(data["questions"])
    assert set(data["questions"][0]["answers"]) == {"handiwork", "original", EXAMPLE}


def test_the_command_fails_below_the_least_agreement(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["score-judge", "--category", "nested", "--json", "--least", "99"]
    assert main(words) == 0
    assert set(json.loads(capsys.readouterr().out)["agreement"]["original"]) == {"all", "nested"}
    assert main([*words, "--judge", EXAMPLE]) == 1


def test_the_judge_of_the_how_to_runs(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "how-to" / "score-a-judge.md").read_text(encoding="utf-8")
    function, program = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, object] = {}
    exec(function + program, names)
    right, asked = names["right"], names["asked"]
    assert isinstance(right, int) and isinstance(asked, int)
    assert 0 < right < asked


def test_the_pages_are_those_of_the_data() -> None:
    for name, text in pages(load_robot(ROBOTS / "fr3")).items():
        assert (PAGES / name).read_text(encoding="utf-8") == text, "run python -m benchmarks.situations page"


def test_each_picture_shows_the_things_that_are_asked_about() -> None:
    robot = load_robot(ROBOTS / "fr3")
    links = link_solids(robot, ROBOTS / "fr3")
    shares = {}
    for situation in load_situations():
        bodies, camera = arranged(robot, links, situation)
        shares[situation.key] = min(seen_shares(bodies, asked(situation), camera), default=1.0)
    assert {key: share for key, share in shares.items() if share < ENOUGH} == {}
    assert {file_of(situation) for situation in load_situations()} == {
        path.name for path in PICTURES.iterdir()
    }
