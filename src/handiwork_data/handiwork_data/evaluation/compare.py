"""Compares two policies in the same episodes of the same tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.dataset.folder import differences

from .folder import EvaluationAbout, ResultFolder, read_folder
from .rows import EpisodeRow
from .statistics import Paired, difference, mcnemar, wilson
from .tables import ALL, interval, markdown, percent

SAME_SETTINGS = {"time_limit": None}
"""Settings that must be the same, as they change what is measured; their values where they are not given."""
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Comparison:
    """Two policies in the same episodes.

    Attributes:
        a: The first policy.
        b: The second policy.
        tasks: The common episodes, by task.
    """

    a: str
    b: str
    tasks: Mapping[str, Paired]

    @property
    def all(self) -> Paired:
        """The common episodes of all tasks."""
        return sum(self.tasks.values(), Paired(0, 0, 0, 0))

    def verdict(self) -> str:
        """Return what the numbers say, in one sentence."""
        paired, p = self.all, mcnemar(self.all)
        gap, low, high = difference(paired)
        better, worse = (self.b, self.a) if gap > 0.0 else (self.a, self.b)
        numbers = (
            f"{percent(gap)} points from {self.a} to {self.b}, 95 % interval {percent(low)} to {percent(high)}, "
            f"McNemar's exact p = {p:.3g}, {paired.total} common episodes"
        )
        if p < SIGNIFICANT:
            return f"{better} succeeds more often than {worse}: {numbers}"
        return f"no significant difference between {self.a} and {self.b}: {numbers}"

    def table(self) -> str:
        """Return one line for each task, and one for all."""
        lines = [(name, paired) for name, paired in self.tasks.items()]
        if len(lines) > 1:
            lines.append((ALL, self.all))
        columns = (
            "task", "episodes", "A %", "A 95 %", "B %", "B 95 %", "B - A", "95 % interval", "only A", "only B", "p",
        )  # fmt: skip
        return markdown(columns, [[name, *_cells(paired)] for name, paired in lines])


def _cells(paired: Paired) -> list[str]:
    a = wilson(paired.both + paired.only_a, paired.total)
    b = wilson(paired.both + paired.only_b, paired.total)
    gap, low, high = difference(paired)
    return [
        str(paired.total),
        percent(a.value),
        interval(a),
        percent(b.value),
        interval(b),
        percent(gap),
        f"{percent(low)} to {percent(high)}",
        str(paired.only_a),
        str(paired.only_b),
        f"{mcnemar(paired):.3g}",
    ]


def compare(first: Path, second: Path) -> Comparison:
    """Compare the results of two folders.

    Args:
        first: Folder of the first policy.
        second: Folder of the second policy.

    Raises:
        ConfigError: A folder has no results, the tasks or what is measured differ, or no episode is in both.
    """
    (a, about_a), (b, about_b) = read_folder(first), read_folder(second)
    pair = f"{first} and {second}"
    _check_same(pair, a, b, about_a, about_b)
    tasks = {name: paired for name in a.tasks() if (paired := _paired(a.rows(name), b.rows(name))).total}
    if not tasks:
        text = "have no episode in common; evaluate both with the same --episodes"
        raise ConfigError(pair, [text])
    names = _names(about_a, about_b, first, second)
    return Comparison(*names, tasks)


def _names(a: EvaluationAbout, b: EvaluationAbout, first: Path, second: Path) -> tuple[str, str]:
    return (a.policy, b.policy) if a.policy != b.policy else (first.name, second.name)


def _check_same(
    pair: str, a: ResultFolder, b: ResultFolder, about_a: EvaluationAbout, about_b: EvaluationAbout
) -> None:
    faults = list[str]()
    if a.tasks() != b.tasks():
        only = [
            f"{name} only in {one.path}" for one, other in ((a, b), (b, a)) for name in _beyond(one, other)
        ]
        faults.append(f"have different tasks: {', '.join(only)}; evaluate both with the same ones")
    for name in sorted({*a.tasks()} & {*b.tasks()}):
        there, here = a.task(name).about(), b.task(name).about()
        if there is not None and here is not None and there != here:
            text = "; ".join(differences(there, here))
            faults.append(
                f"have another task under the name {name}: {text}; evaluate both with the same files"
            )
    for key, default in SAME_SETTINGS.items():
        old, new = about_a.settings.get(key, default), about_b.settings.get(key, default)
        if old != new:
            faults.append(
                f"have another {key}: {old!r} there and {new!r} here; evaluate both with the same one"
            )
    if faults:
        raise ConfigError(pair, faults)


def _beyond(one: ResultFolder, other: ResultFolder) -> Sequence[str]:
    return sorted({*one.tasks()} - {*other.tasks()})


def _paired(a: Mapping[int, EpisodeRow], b: Mapping[int, EpisodeRow]) -> Paired:
    pairs = [(a[number].success, b[number].success) for number in sorted({*a} & {*b})]
    return Paired(
        pairs.count((True, True)),
        pairs.count((True, False)),
        pairs.count((False, True)),
        pairs.count((False, False)),
    )
