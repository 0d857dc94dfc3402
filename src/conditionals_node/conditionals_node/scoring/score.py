"""The agreement of judges with the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handiwork_core.contracts.predicate import Finding, Truth

from .judges import Judge
from .situations import CATEGORIES, Question, Situation, truth_of


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a judge; ``reason`` is empty where it gives none. None: the judge raised an error."""

    truth: Truth | None
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Disagreement:
    """A question that a judge answers otherwise than the label."""

    situation: Situation
    question: Question
    answer: Answer


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The answers of all judges.

    Attributes:
        situations: The situations that were asked about.
        answers: The answers of each judge, by its name: one row for each situation, one answer for each question.
    """

    situations: tuple[Situation, ...]
    answers: Mapping[str, tuple[tuple[Answer, ...], ...]]

    def counts(self, judge: str, category: str = "") -> tuple[int, int, int, int]:
        """Return the numbers of questions that a judge answers as labelled, of all questions, and of situations.

        Args:
            judge: Name of the judge.
            category: Only this category; empty: all.

        Returns:
            Right answers, questions, situations without a wrong answer, situations.
        """
        rows = [
            [answer.truth is question.label for answer, question in zip(row, one.questions, strict=True)]
            for one, row in zip(self.situations, self.answers[judge], strict=True)
            if category in ("", one.category)
        ]
        return sum(map(sum, rows)), sum(map(len, rows)), sum(map(all, rows)), len(rows)

    def disagreements(self, judge: str) -> list[Disagreement]:
        """Return the questions that a judge answers otherwise than the labels.

        Args:
            judge: Name of the judge.
        """
        return [
            Disagreement(one, question, answer)
            for one, row in zip(self.situations, self.answers[judge], strict=True)
            for question, answer in zip(one.questions, row, strict=True)
            if answer.truth is not question.label
        ]

    def errors(self, judge: str) -> list[str]:
        """Return the messages of the errors that a judge raised.

        Args:
            judge: Name of the judge.
        """
        return [answer.reason for row in self.answers[judge] for answer in row if answer.truth is None]

    def categories(self) -> list[str]:
        """Return the categories that occur, in their order."""
        present = {one.category for one in self.situations}
        return [category for category in CATEGORIES if category in present]


def score_judges(situations: Sequence[Situation], judges: Mapping[str, Judge]) -> Scored:
    """Ask every judge every question.

    Args:
        situations: The situations.
        judges: The judges by name.

    Returns:
        The answers. A judge that raises an error has not agreed; its message is the reason.
    """
    answers = {
        name: tuple(tuple(ask(judge, one, question) for question in one.questions) for one in situations)
        for name, judge in judges.items()
    }
    return Scored(tuple(situations), answers)


def ask(judge: Judge, situation: Situation, question: Question) -> Answer:
    """Return the answer of a judge to one question.

    Args:
        judge: The judge.
        situation: The situation.
        question: The question.
    """
    try:
        found = judge(situation, question)
        if isinstance(found, Finding):
            return Answer(truth_of(found.truth), str(found.reason))
        return Answer(truth_of(found))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a judge may raise anything, the others are still scored
        return Answer(None, f"{type(error).__name__}: {error}")
