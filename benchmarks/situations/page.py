"""The pages that show all situations: ``docs/situations``."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path

from conditionals_node.scoring import (
    CATEGORIES,
    Answer,
    Question,
    Scored,
    Situation,
    load_situations,
    original_judge,
    own_judge,
    score_judges,
)
from handiwork_cli.commands.files.score_judge import ORIGINAL, OWN, percent
from handiwork_core.robot.robot import Robot

from .draw import ROOT, file_of

PAGES = ROOT / "docs" / "situations"
WORDS = {
    "hollow": "Hollow things: bins, mugs, bowls, shelves, tables with legs",
    "turned": "Turned and tilted things",
    "tall": "Tall things",
    "light": "Light things, 2 g to 5 g",
    "stacked": "Stacked things",
    "leaning": "Leaning things",
    "nested": "Containers in containers",
    "held": "Things in the hand and beside it",
    "moving": "Things that move",
    "upside_down": "Things upside down",
    "two_supporters": "Two supporters",
    "deformable": "Stand-ins for soft things, rigid in the shape that they have taken",
    "occluded": "Hidden things, and missing senses",
    "places": "Places beside, between and over other things",
}
CUT = "Walls are cut open where hardly anything would be seen of a thing that is asked about."
MADE = "This page is written by `python -m benchmarks.situations page`."


def answered(robot: Robot) -> Scored:
    """Return the answers of Handiwork and of the original to all questions.

    Args:
        robot: The robot beside the table.
    """
    return score_judges(load_situations(), {OWN: own_judge(robot), ORIGINAL: original_judge(robot)})


def pages(robot: Robot) -> dict[str, str]:
    """Return the text of each page by its file name.

    Args:
        robot: The robot beside the table.
    """
    scored = answered(robot)
    found = {"index.md": index(scored)}
    for category in CATEGORIES:
        found[f"{category}.md"] = category_page(scored, category)
    return found


def write_page(robot: Robot) -> Path:
    """Write all pages.

    Args:
        robot: The robot beside the table.

    Returns:
        Their folder.
    """
    PAGES.mkdir(exist_ok=True)
    for name, text in pages(robot).items():
        (PAGES / name).write_text(text, encoding="utf-8")
    return PAGES


def index(scored: Scored) -> str:
    """Return the page with the agreement by category and the disagreements of Handiwork.

    Args:
        scored: The answers.
    """
    rows = []
    for category in [*CATEGORIES, ""]:
        _, asked, _, count = scored.counts(OWN, category)
        name = f"[{WORDS[category]}]({category}.md)" if category else "**all**"
        own, original = (f"{percent(scored, judge, category):.1f} %" for judge in (OWN, ORIGINAL))
        rows.append(f"| {name} | {count} | {asked} | {own} | {original} |")
    known = [
        f"- [{one.situation.key}]({one.situation.category}.md): `{one.question.expression}` is "
        f"{one.question.label.name} for a person and {said(one.answer)} here. {one.question.known_disagreement}"
        for one in scored.disagreements(OWN)
    ]
    right, asked, _, count = scored.counts(OWN)
    return "\n".join(
        [
            "# Labelled situations",
            "",
            f"{count} situations with {asked} questions, each with the answer of a person and the reason. Any judge",
            "can be scored with them: [score your own judge](../how-to/score-a-judge.md). The table is that of",
            f"`handiwork score-judge`. {MADE}",
            "",
            "| category | situations | questions | Handiwork | RoboLab's rules |",
            "|---|---|---|---|---|",
            *rows,
            "",
            "Each state was settled in MuJoCo and recorded: poses, velocities, contact forces and joints. A label is",
            "written before the conditions are asked, from geometry and physics. All labels have one source; no",
            "second referee has judged the pictures. RoboLab's rules are those of RoboLab 0.2.1 by the options of [the",
            "conditions](../reference/conditions.md). They know no UNKNOWN, which is that of Handiwork here, and",
            "`wrong_object_grabbed` looks at both fingers.",
            "",
            f"## The {asked - right} disagreements",
            "",
            "A test fails for a disagreement that is not in this list, and for one in it that has gone.",
            "",
            *known,
            "",
        ]
    )


def category_page(scored: Scored, category: str) -> str:
    """Return the page of one category: pictures, questions, labels and verdicts of each family.

    Args:
        scored: The answers.
        category: The category.
    """
    rows = [i for i, one in enumerate(scored.situations) if one.category == category]
    lines = [
        f"# {WORDS[category]}",
        "",
        f"{MADE} White things are hidden from the judges. {CUT}",
        "",
    ]
    for family, group in groupby(rows, key=lambda i: scored.situations[i].family):
        members = list(group)
        situations = [scored.situations[i] for i in members]
        lines += [f"## {family}", "", " ".join(image(one) for one in situations), ""]
        lines += ["| question | a person | why | Handiwork | RoboLab's rules |", "|---|---|---|---|---|"]
        for j, question in enumerate(situations[0].questions):
            own, original = (
                verdicts(question, [scored.answers[judge][i][j] for i in members])
                for judge in (OWN, ORIGINAL)
            )
            lines.append(
                f"| `{question.expression}` | {question.label.name} | {question.why} | {own} | {original} |"
            )
        lines.append("")
    return "\n".join(lines)


def image(situation: Situation) -> str:
    """Return the picture of a situation in Markdown.

    Args:
        situation: The situation.
    """
    return f"![{situation.key}](../../test/data/situations/pictures/{file_of(situation)}){{ width=160 loading=lazy }}"


def verdicts(question: Question, answers: list[Answer]) -> str:
    """Return the verdicts of a judge on one question in all situations of a family; wrong ones are bold.

    Args:
        question: The question.
        answers: One answer for each situation.
    """
    counts = Counter(map(said, answers))
    words = []
    for verdict, count in counts.items():
        text = verdict if len(counts) == 1 else f"{verdict} ({count} of {len(answers)})"
        words.append(text if verdict == question.label.name else f"**{text}**")
    return ", ".join(words)


def said(answer: Answer) -> str:
    """Return the verdict of an answer.

    Args:
        answer: The answer.
    """
    return answer.truth.name if answer.truth is not None else "an error"
