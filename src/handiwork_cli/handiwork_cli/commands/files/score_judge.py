"""``handiwork score-judge`` asks judges about labelled situations, and compares their answers with a person's."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

from conditionals_node.scoring import (
    CATEGORIES,
    Answer,
    Judge,
    Scored,
    load_judge,
    load_situations,
    original_judge,
    own_judge,
    score_judges,
)
from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot

OWN, ORIGINAL = "handiwork", "original"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command.

    Args:
        commands: Subparsers of ``handiwork``.
    """
    parser = commands.add_parser(
        "score-judge", help="compare conditions, RoboLab's rules and your own judge with labelled situations"
    )
    parser.add_argument(
        "--judge",
        action="append",
        default=[],
        metavar="NAME",
        help="your judge: module:function or file.py:function; may be repeated",
    )
    parser.add_argument("--category", choices=CATEGORIES, help="only the situations of one category")
    parser.add_argument("--least", type=float, default=0.0, help="exit with 1 if a judge agrees less [%%]")
    parser.add_argument("--list", action="store_true", help="list the disagreements of every judge")
    parser.add_argument("--json", action="store_true", help="print all answers as JSON")
    parser.add_argument("--out", type=Path, help="write the JSON there, beside the table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Ask all judges, and print the table.

    Args:
        options: Parsed command line.

    Returns:
        Exit code: 0, or 1 where the judge of the user (without one, that of Handiwork) agrees less than ``--least``.

    Raises:
        ConfigError: A judge cannot be loaded, or the file cannot be written.
    """
    situations = [one for one in load_situations() if options.category in (None, one.category)]
    robot = load_robot(robot_folder("fr3"))
    judges: dict[str, Judge] = {OWN: own_judge(robot), ORIGINAL: original_judge(robot)}
    with redirect_stdout(sys.stderr):  # a judge may print, but not between the lines of the JSON
        judges.update({name: load_judge(name) for name in options.judge})
        scored = score_judges(situations, judges)
    for name in judges:
        if errors := scored.errors(name):
            print(f"{name}: {len(errors)} errors, the first is {errors[0]}", file=sys.stderr)
    text = json.dumps(as_json(scored), indent=1)
    if options.out is not None:
        try:
            options.out.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise ConfigError("--out", [f"{options.out} cannot be written: {error.strerror}"]) from error
    print(text if options.json else table(scored))
    if options.list and not options.json:
        print("\n".join(listed(scored)))
    asked = options.judge or [OWN]
    return 0 if all(percent(scored, name) >= options.least for name in asked) else 1


def percent(scored: Scored, judge: str, category: str = "") -> float:
    """Return the agreement of a judge, %.

    Args:
        scored: The answers.
        judge: Name of the judge.
        category: Only this category; empty: all.
    """
    right, asked, _, _ = scored.counts(judge, category)
    return 100.0 * right / asked


def table(scored: Scored) -> str:
    """Return the agreement by category, one column for each judge.

    Args:
        scored: The answers.
    """
    names = list(scored.answers)
    widths = [max(len(name), 8) + 2 for name in names]
    head = f"{'category':<16}{'situations':>11}{'questions':>11}"
    lines = [head + "".join(f"{name:>{width}}" for name, width in zip(names, widths, strict=True))]
    for category in [*scored.categories(), ""]:
        _, asked, _, situations = scored.counts(names[0], category)
        cells = [
            f"{percent(scored, name, category):>{width - 2}.1f} %"
            for name, width in zip(names, widths, strict=True)
        ]
        lines.append(f"{category or 'all':<16}{situations:>11}{asked:>11}{''.join(cells)}")
    return "\n".join(lines)


def listed(scored: Scored) -> list[str]:
    """Return one line for each disagreement, with the reasons of both sides.

    Args:
        scored: The answers.
    """
    lines = []
    for name in scored.answers:
        lines.append(f"\n{name}:")
        for one in scored.disagreements(name):
            question, answer = one.question, one.answer
            said = answer.truth.name if answer.truth is not None else "an error"
            lines.append(f"  {one.situation.key} ({one.situation.category}): {question.expression}")
            lines.append(f"    a person: {question.label.name}. {question.why}")
            lines.append(f"    {name}: {said}. {answer.reason}".rstrip())
            if name == OWN and question.known_disagreement:
                lines.append(f"    known: {question.known_disagreement}")
    return lines


def as_json(scored: Scored) -> dict[str, object]:
    """Return everything as values of JSON.

    Args:
        scored: The answers.
    """
    agreement = {
        name: {category or "all": _counts(scored, name, category) for category in ["", *scored.categories()]}
        for name in scored.answers
    }
    rows = []
    for i, one in enumerate(scored.situations):
        for j, question in enumerate(one.questions):
            answers = {name: _answer(answered[i][j]) for name, answered in scored.answers.items()}
            row = {"situation": one.key, "category": one.category, "question": question.expression}
            row |= {"label": question.label.name, "why": question.why}
            rows.append({**row, "known_disagreement": question.known_disagreement, "answers": answers})
    return {"agreement": agreement, "questions": rows}


def _counts(scored: Scored, judge: str, category: str) -> dict[str, int]:
    keys = ("agreeing_questions", "questions", "agreeing_situations", "situations")
    return dict(zip(keys, scored.counts(judge, category), strict=True))


def _answer(answer: Answer) -> dict[str, str]:
    verdict = answer.truth.name if answer.truth is not None else "ERROR"
    return {"verdict": verdict, "reason": answer.reason}
