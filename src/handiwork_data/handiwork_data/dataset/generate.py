"""Generates the episodes of a shard, on one process or several; what is there already is skipped."""

from __future__ import annotations

import gc
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.episodes.run import EpisodeSetup, run_episode
from handiwork_data.episodes.settings import LARGEST_EPISODE, TaskFile, read_task_file
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.params.registry import load_catalog
from skill_server.skills import BUILTIN

from .folder import About, DatasetFolder, Row, differences, row_of
from .pool import deal


@dataclass(frozen=True)
class Sources:
    """The files that episodes are made from.

    Attributes:
        task: Task file.
        scene: Scene file.
        robot: Folder of the robot.
    """

    task: Path
    scene: Path
    robot: Path


@dataclass(frozen=True)
class Shard:
    """One of several equal parts of the episodes, dealt in turn.

    Attributes:
        number: Its number, from 0.
        count: Number of shards.
    """

    number: int = 0
    count: int = 1

    def __post_init__(self) -> None:
        if self.count < 1 or not 0 <= self.number < self.count:
            raise ConfigError(
                "shard", [f"is {self.number} of {self.count}; give --shard-id from 0 to --num-shards less 1"]
            )

    @property
    def name(self) -> str:
        """Name for files."""
        return f"{self.number:05d}-of-{self.count:05d}"

    def part(self, begin: int, end: int) -> range:
        """Return the episodes of the shard.

        Args:
            begin: First episode of all.
            end: The one behind the last.
        """
        return range(begin + self.number, end, self.count)


def read_range(text: str) -> tuple[int, int]:
    """Read ``BEGIN:END``, or ``COUNT``.

    Args:
        text: The text.

    Returns:
        The first episode, and the one behind the last.

    Raises:
        ConfigError: It is no range.
    """
    first, _, second = text.partition(":")
    try:
        begin, end = (int(first), int(second)) if second else (0, int(first))
    except ValueError:
        begin, end = 0, 0
    if not 0 <= begin < end <= LARGEST_EPISODE:
        raise ConfigError("episodes", [f"is {text!r}; write BEGIN:END, as in 0:1000, or a count above 0"])
    return begin, end


def about(sources: Sources) -> About:
    """Return what a data set of these files is of.

    Args:
        sources: The files.

    Raises:
        ConfigError: The task file is wrong.
    """
    return about_files(read_task_file(sources.task).digest, sources.robot, sources.scene)


def about_files(task_digest: str, robot: Path, scene: Path) -> About:
    """Return what episodes of these files have in common.

    Args:
        task_digest: SHA-256 of the task file, or of what the episodes are read from.
        robot: Folder of the robot.
        scene: Scene file.
    """
    files = sorted(path for path in robot.rglob("*") if path.suffix in (".yaml", ".urdf", ".xrdf"))
    version = metadata.version("handiwork_core")
    return About(task_digest, robot.name, _digest(files), scene.stem, _digest([scene]), version)


def check_same(folder: DatasetFolder, sources: Sources) -> None:
    """Check that a data set was made from these files, by this version.

    Args:
        folder: The data set.
        sources: The files.

    Raises:
        ConfigError: It is no data set, or was made otherwise; names what differs.
    """
    there = folder.about()
    if there is None:
        raise ConfigError(str(folder.path), ["is no data set; give a folder that `handiwork generate` wrote"])
    if faults := differences(there, about(sources)):
        text = f"was made otherwise: {'; '.join(faults)}; use it with what it was made with"
        raise ConfigError(str(folder.path), [text])


def _digest(files: Sequence[Path]) -> str:
    whole = hashlib.sha256()
    for path in files:
        whole.update(path.name.encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()


def make_setup(
    sources: Sources, report: Callable[[float, str], None] = lambda _done, _text: None
) -> EpisodeSetup:
    """Load everything that stays the same from episode to episode.

    Args:
        sources: The files.
        report: Takes the progress of the engine's start, 0 to 1, and a text.

    Raises:
        ConfigError: A file is wrong.
    """
    task: TaskFile = read_task_file(sources.task)
    robot, scene = load_robot(sources.robot), load_scene(sources.scene)
    engine = CpuEngine(robot, scene.world_T_base, report)
    version = metadata.version("handiwork_core")
    return EpisodeSetup(task, robot, scene, engine, load_catalog(BUILTIN), version)


Spread = Callable[[Sources, DatasetFolder, Sequence[int]], Iterator[Row]]
"""Generates episodes somewhere, and yields the index line of each once its file is complete."""


def generate(
    sources: Sources, folder: DatasetFolder, numbers: Sequence[int], shard: Shard, spread: Spread
) -> Iterator[Row]:
    """Generate episodes that are not there yet.

    Args:
        sources: The files.
        folder: Where they go; another process may fill it with other shards.
        numbers: Numbers of the episodes.
        shard: Shard for the index.
        spread: Where they are generated, such as ``processes(4)``.

    Yields:
        The index line of each episode once its file is complete.

    Raises:
        ConfigError: A file is wrong, or the folder holds other episodes.
        EpisodeError: The folder cannot be written, or a process was ended.
    """
    folder.begin(about(sources), read_task_file(sources.task).text)
    with folder.locked(shard.name):
        missing = [one for one in numbers if not folder.has(one)]
        for row in spread(sources, folder, missing):
            folder.append(shard.name, row)
            yield row


def processes(count: int) -> Spread:
    """Return the way to generate in processes of this machine.

    Args:
        count: Number of processes; 1: this one.
    """

    def beside(sources: Sources, folder: DatasetFolder, numbers: Sequence[int]) -> Iterator[Row]:
        return deal(_work, numbers, count, _begin_worker, (sources, folder.path))

    return _here if count == 1 else beside


def _here(sources: Sources, folder: DatasetFolder, numbers: Sequence[int]) -> Iterator[Row]:
    if not numbers:
        return
    setup = make_setup(sources)
    exempt_loaded()
    try:
        for number in numbers:
            yield _one(setup, folder, number)
    finally:
        gc.unfreeze()


def exempt_loaded() -> None:
    """Exempt all present objects from garbage collection: to look through them took a tenth of an episode's time."""
    gc.collect()
    gc.freeze()
    gc.collect()  # the next full collection is due after a quarter of what this one leaves


def _one(setup: EpisodeSetup, folder: DatasetFolder, number: int) -> Row:
    begun_s = time.monotonic()
    episode = run_episode(setup, number)
    digest = folder.write(episode)
    return row_of(episode, digest, time.monotonic() - begun_s)


class _Worker:
    """What a process of the pool keeps."""

    setup: EpisodeSetup
    folder: DatasetFolder


def _begin_worker(sources: Sources, path: Path) -> None:
    _Worker.setup, _Worker.folder = make_setup(sources), DatasetFolder(path)
    exempt_loaded()


def _work(number: int) -> Row:
    return _one(_Worker.setup, _Worker.folder, number)
