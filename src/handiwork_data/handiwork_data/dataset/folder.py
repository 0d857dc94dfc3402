"""The folder of a data set: what it is of, one file for each episode, and an index of what was written."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TypeVar

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.episodes.episode import (
    ENDING,
    Episode,
    EpisodeError,
    digest_of,
    encode,
    read_episode,
    write_atomically,
)

A = TypeVar("A")
ABOUT, TASK, INDEX = "dataset.json", "task.yaml", "index"
PER_FOLDER = 1000
"""Episodes in one sub-folder: file systems of clusters are slow with more."""


@dataclass(frozen=True)
class About:
    """What all episodes of a folder have in common.

    Attributes:
        task_digest: SHA-256 of the task file.
        robot: Name of the robot.
        robot_digest: SHA-256 of the robot's files.
        scene: Name of the scene.
        scene_digest: SHA-256 of the scene's file.
        version: Version of Handiwork.
    """

    task_digest: str
    robot: str
    robot_digest: str
    scene: str
    scene_digest: str
    version: str


@dataclass(frozen=True)
class Row:
    """One line of the index.

    Attributes:
        episode: Number of the episode.
        digest: SHA-256 of its file.
        success: See ``EpisodeMeta``.
        code: See ``EpisodeMeta``.
        failed_stage: See ``EpisodeMeta``.
        reason: See ``EpisodeMeta``.
        duration_s: See ``EpisodeMeta``.
        wall_s: Time that the episode took here, s of steady time.
    """

    episode: int
    digest: str
    success: bool
    code: str
    failed_stage: str
    reason: str
    duration_s: float
    wall_s: float


def row_of(episode: Episode, digest: str, wall_s: float) -> Row:
    """Return the line of an episode.

    Args:
        episode: The episode.
        digest: SHA-256 of its file.
        wall_s: Time that it took, s of steady time.
    """
    meta = episode.meta
    return Row(
        meta.episode,
        digest,
        meta.success,
        meta.code,
        meta.failed_stage,
        meta.reason,
        meta.duration_s,
        wall_s,
    )


class DatasetFolder:
    """A folder of episodes.

    Args:
        path: The folder; it is made with the first file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, about: About, task: str) -> None:
        """Note what the folder is of, or check that it is of the same.

        Args:
            about: What its episodes have in common.
            task: Text of the task file, which is kept beside the episodes.

        Raises:
            ConfigError: The folder holds episodes of something else; names what differs.
            EpisodeError: The folder cannot be written.
        """
        there = self.about()
        if there is None:
            write_atomically(self.task_file, task.encode())
            write_atomically(self.path / ABOUT, (json.dumps(asdict(about), indent=1) + "\n").encode())
        elif there != about:
            text = "; ".join(differences(there, about))
            raise ConfigError(str(self.path), [f"holds other episodes: {text}; give another folder"])

    @property
    def task_file(self) -> Path:
        """The copy of the task file."""
        return self.path / TASK

    def about(self) -> About | None:
        """Return what the folder is of; None for a folder that is new.

        Raises:
            ConfigError: Its file is damaged.
        """
        return read_about(self.path / ABOUT, About)

    @contextmanager
    def locked(self, shard: str) -> Iterator[None]:
        """Keep a second run of a shard out of the folder.

        Args:
            shard: Name of the shard.

        Raises:
            ConfigError: Another process writes the shard.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / f".{shard}.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                text = f"another process writes shard {shard} there; wait for its end, or give another folder"
                raise ConfigError(str(self.path), [text]) from error
            yield

    def file_of(self, episode: int) -> Path:
        """Return the path of an episode.

        Args:
            episode: Its number.
        """
        return self.path / f"{episode // PER_FOLDER:06d}" / f"episode_{episode:09d}{ENDING}"

    def episodes(self) -> list[int]:
        """Return the numbers of the episodes that are there, in order."""
        return sorted(int(path.stem.split("_")[1]) for path in self.path.glob(f"*/episode_*{ENDING}"))

    def has(self, episode: int) -> bool:
        """Return True when an episode is there.

        Args:
            episode: Its number.
        """
        return self.file_of(episode).exists()

    def write(self, episode: Episode) -> str:
        """Write an episode; return the SHA-256 of its file.

        Args:
            episode: The episode.

        Raises:
            EpisodeError: The disk is full, or the folder cannot be written.
        """
        data = encode(episode)
        write_atomically(self.file_of(episode.meta.episode), data)
        return digest_of(data)

    def read(self, episode: int) -> Episode:
        """Read an episode.

        Args:
            episode: Its number.

        Raises:
            EpisodeError: It is not there, or damaged.
        """
        return read_episode(self.file_of(episode))

    def append(self, shard: str, row: Row) -> None:
        """Add a line to the index of a shard.

        Args:
            shard: Name of the shard.
            row: The line.

        Raises:
            EpisodeError: The file cannot be written.
        """
        try:
            with (self.path / f"{INDEX}-{shard}.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(row)) + "\n")
        except OSError as error:
            raise EpisodeError(f"{self.path}: {error.strerror}; make room, then run it again") from error

    def rows(self) -> Mapping[int, Row]:
        """Return the newest line of each episode whose file is there; a line that was cut is left out."""
        found: dict[int, Row] = {}
        for path in sorted(self.path.glob(f"{INDEX}-*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                row = _row(line)
                if row is not None and self.has(row.episode):
                    found[row.episode] = row
        return found


def read_about(file: Path, kind: type[A]) -> A | None:
    """Return what a folder is of, from the file that says it.

    Args:
        file: The file.
        kind: The dataclass whose fields it has.

    Returns:
        The value; None for a folder that is new.

    Raises:
        ConfigError: The file is damaged.
    """
    if not file.exists():
        return None
    try:
        return kind(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(str(file), [f"cannot be read: {error}; give another folder"]) from error


def differences(there: About, wanted: About) -> list[str]:
    """Return in words what differs between two data sets.

    Args:
        there: What the folder is of.
        wanted: What it should be of.
    """
    pairs = ((one.name, getattr(there, one.name), getattr(wanted, one.name)) for one in fields(About))
    return [f"{name} is {old[:16]!r} there and {new[:16]!r} here" for name, old, new in pairs if old != new]


def _row(line: str) -> Row | None:
    try:
        return Row(**json.loads(line))
    except (ValueError, TypeError):
        return None
