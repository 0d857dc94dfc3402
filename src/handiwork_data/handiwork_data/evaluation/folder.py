"""A folder of results: what they are of, and for each task a folder with a file of lines for each shard."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.dataset.folder import DatasetFolder, read_about
from handiwork_data.episodes.episode import EpisodeError, write_atomically

from .rows import EpisodeRow, line_of, read_line

ABOUT, RESULTS = "evaluation.json", "episode_results"
SHOWN = 60
"""Letters of a value that a message shows."""


@dataclass(frozen=True)
class EvaluationAbout:
    """What all results of a folder have in common beside their tasks.

    Attributes:
        policy: Name of the policy.
        metadata: What its server says about it.
        settings: How it is run.
        arm: Name of the arm; empty: the robot's only one.
        delay_steps: Steps of the loop between a question and its answer.
        version: Version of Handiwork.
        over_ros: True: a running stack ran the episodes; False: the simulation in lock-step.
    """

    policy: str
    metadata: Mapping[str, Any]
    settings: Mapping[str, Any]
    arm: str
    delay_steps: int
    version: str
    over_ros: bool = False


def plain(value: object) -> Any:  # noqa: ANN401 - what JSON can hold
    """Return a value as JSON can hold it: arrays as lists, bytes as hexadecimal digits, anything else as text.

    Args:
        value: The value.
    """

    def other(one: object) -> object:
        if isinstance(one, bytes):
            return one.hex()
        return one.tolist() if hasattr(one, "tolist") else str(one)

    try:
        return json.loads(json.dumps(value, default=other, sort_keys=True))
    except (TypeError, ValueError):
        return str(value)


class ResultFolder:
    """A folder of results.

    Args:
        path: The folder; it is made with the first file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def about(self) -> EvaluationAbout | None:
        """Return what the results are of; None for a folder that is new.

        Raises:
            ConfigError: Its file is damaged.
        """
        return read_about(self.path / ABOUT, EvaluationAbout)

    def begin(self, about: EvaluationAbout) -> None:
        """Note what the results are of, or check that it is the same.

        Args:
            about: What they are of.

        Raises:
            ConfigError: The folder has results of another policy; names what differs.
            EpisodeError: The folder cannot be written.
        """
        there = self.about()
        if there is None:
            text = json.dumps(asdict(about), indent=1, sort_keys=True) + "\n"
            write_atomically(self.path / ABOUT, text.encode())
        elif differing := differences(there, about):
            text = f"has results of another evaluation: {'; '.join(differing)}"
            raise ConfigError(str(self.path), [f"{text}; give another --out"])

    def tasks(self) -> list[str]:
        """Return the names of the tasks that are there, in order."""
        found = (path.parent.name for path in self.path.glob("*/dataset.json"))
        return sorted(found)

    def task(self, name: str) -> DatasetFolder:
        """Return the folder of a task.

        Args:
            name: Its name.
        """
        return DatasetFolder(self.path / name)

    def rows(self, name: str) -> dict[int, EpisodeRow]:
        """Return the newest row of each episode of a task, of all shards; lines that were cut are left out.

        Args:
            name: Name of the task.
        """
        found: dict[int, EpisodeRow] = {}
        for path in sorted((self.path / name).glob(f"{RESULTS}-*.jsonl")):
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                if (row := read_line(line)) is not None:
                    found[row.episode] = row
        return dict(sorted(found.items()))

    def drop_cut_line(self, name: str, shard: str) -> None:
        """Take away the end of a line that a killed run has left, so that the next line begins alone.

        Args:
            name: Name of the task.
            shard: Name of the shard; no other process writes it.

        Raises:
            EpisodeError: The file cannot be written.
        """
        path = self._file(name, shard)
        if not path.exists():
            return
        try:
            data = path.read_bytes()
            if data and not data.endswith(b"\n"):
                write_atomically(path, data[: data.rfind(b"\n") + 1])
        except OSError as error:
            raise EpisodeError(f"{path}: {error.strerror}; make it readable, then run it again") from error

    def append(self, shard: str, row: EpisodeRow) -> None:
        """Add a row.

        Args:
            shard: Name of the shard.
            row: The row.

        Raises:
            EpisodeError: The file cannot be written.
        """
        try:
            with self._file(row.env_name, shard).open("a", encoding="utf-8") as file:
                file.write(line_of(row))
        except OSError as error:
            raise EpisodeError(f"{self.path}: {error.strerror}; make room, then run it again") from error

    def _file(self, name: str, shard: str) -> Path:
        return self.path / name / f"{RESULTS}-{shard}.jsonl"


def read_folder(path: Path) -> tuple[ResultFolder, EvaluationAbout]:
    """Return a folder of results, with what it is of.

    Args:
        path: The folder.

    Raises:
        ConfigError: It is no such folder.
    """
    folder = ResultFolder(path)
    about = folder.about()
    if about is None:
        raise ConfigError(str(path), ["has no results; give a folder that `handiwork evaluate --out` wrote"])
    return folder, about


def differences(there: EvaluationAbout, here: EvaluationAbout) -> list[str]:
    """Return in words what differs between two evaluations.

    Args:
        there: What the folder is of.
        here: What it should be of.
    """
    found = list[str]()
    for field in fields(EvaluationAbout):
        old, new = getattr(there, field.name), getattr(here, field.name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            keys = [key for key in sorted({*old, *new}) if old.get(key) != new.get(key)]
            found += [_differs(f"{field.name} {key!r}", old.get(key), new.get(key)) for key in keys]
        elif old != new:
            found.append(_differs(field.name, old, new))
    return found


def _differs(name: str, old: object, new: object) -> str:
    return f"{name} is {repr(old)[:SHOWN]} there and {repr(new)[:SHOWN]} here"


def task_name(path: Path) -> str:
    """Return the name of a task in a folder of results: of its file and the folder around it.

    Args:
        path: The task file.
    """
    return re.sub(r"[^A-Za-z0-9_.-]", "_", f"{path.resolve().parent.name}-{path.stem}")
