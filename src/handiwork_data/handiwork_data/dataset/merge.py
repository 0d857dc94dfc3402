"""Joins folders of episodes into one, without doubles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.episodes.episode import (
    EpisodeError,
    decode,
    digest_of,
    write_atomically,
)

from .folder import DatasetFolder, differences, row_of

SHARD = "merged"


@dataclass(frozen=True)
class Merged:
    """What a merge did.

    Attributes:
        added: Number of episodes that were added.
        doubles: Number of episodes that were there already, with the same bytes.
    """

    added: int
    doubles: int


def merge(
    out: DatasetFolder, sources: Sequence[DatasetFolder], tick: Callable[[], None] = lambda: None
) -> Merged:
    """Copy the episodes of folders into one; all of them are checked before the first is written.

    Args:
        out: The folder that takes them.
        sources: The folders.
        tick: Called for each episode.

    Returns:
        The numbers of episodes.

    Raises:
        ConfigError: The folders are of different tasks, robots, scenes or versions.
        EpisodeError: An episode is damaged, differs between two folders, or cannot be written.
    """
    about = sources[0].about() if sources else None
    if about is None:
        where = str(sources[0].path) if sources else "merge"
        raise ConfigError(where, ["is no data set; give folders that `handiwork generate` wrote"])
    for one in (*sources[1:], out):
        there = one.about()
        if there is None and one is not out:
            raise ConfigError(str(one.path), ["is no data set; give folders that `handiwork generate` wrote"])
        if there is not None and there != about:
            text = "; ".join(differences(there, about))
            raise ConfigError(str(one.path), [f"differs from {sources[0].path}: {text}; merge equals only"])
    found = {number: digest_of(out.file_of(number).read_bytes()) for number in out.episodes()}
    _check(out, sources, dict(found))
    out.begin(about, sources[0].task_file.read_text(encoding="utf-8"))
    added = doubles = 0
    with out.locked(SHARD):
        for folder in sources:
            rows = folder.rows()
            for number in folder.episodes():
                tick()
                if number in found:
                    doubles += 1
                    continue
                data = folder.file_of(number).read_bytes()
                write_atomically(out.file_of(number), data)
                found[number] = digest_of(data)
                episode = decode(data, str(folder.file_of(number)))
                wall_s = rows[number].wall_s if number in rows else 0.0
                out.append(SHARD, row_of(episode, found[number], wall_s))
                added += 1
    return Merged(added, doubles)


def _check(out: DatasetFolder, sources: Sequence[DatasetFolder], found: dict[int, str]) -> None:
    """Read every episode, and compare those that occur twice."""
    places = dict.fromkeys(found, out)
    for folder in sources:
        for number in folder.episodes():
            path = folder.file_of(number)
            data = path.read_bytes()
            decode(data, str(path))
            digest = digest_of(data)
            if found.setdefault(number, digest) != digest:
                text = f"episode {number} differs between {places[number].path} and {folder.path}"
                raise EpisodeError(f"{text}; delete one of its files, and generate it again")
            places.setdefault(number, folder)
