"""Generates episodes on a Ray cluster. Its machines compute; this process alone writes, so nothing is written twice."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

from handiwork_data.episodes.episode import decode, digest_of, encode, write_atomically
from handiwork_data.episodes.run import EpisodeSetup, run_episode

from .folder import About, DatasetFolder, Row, row_of
from .generate import Sources, about, exempt_loaded, make_setup
from .ray_cluster import RayCluster, check_files

Made = tuple[int, bytes, float]
"""The number of an episode, the bytes of its file, and the time that it took, s."""


class EpisodeMaker:
    """A process of the cluster, with its engine kept warm.

    Args:
        sources: The files, at the same paths on every machine.
        wanted: What the data set is of.
    """

    def __init__(self, sources: Sources, wanted: About) -> None:
        self._sources, self._wanted = sources, wanted
        self._setup: EpisodeSetup | None = None

    def prepare(self) -> int:
        """Load everything; return the number of the process.

        Raises:
            ConfigError: This machine has other files or another version.
        """
        check_files(self._sources, self._wanted)
        self._setup = make_setup(self._sources)
        exempt_loaded()
        return os.getpid()

    def make(self, item: int) -> Made:
        """Run an episode.

        Args:
            item: Its number.

        Returns:
            The number, the bytes of its file, and the time that it took, s.
        """
        assert self._setup is not None
        begun_s = time.monotonic()
        data = encode(run_episode(self._setup, item))
        return item, data, time.monotonic() - begun_s


class RayRun:
    """One run on a cluster.

    Args:
        address: Address of the cluster; empty: one of its own on this machine.
        workers: Number of processes; 0: one for each core of the cluster.
        maker: What each process runs.
    """

    def __init__(self, address: str, workers: int, maker: type[EpisodeMaker] = EpisodeMaker) -> None:
        self._cluster = RayCluster[int, Made](address, workers, lambda number: f"episode {number}")
        self._maker = maker

    def __call__(self, sources: Sources, folder: DatasetFolder, numbers: Sequence[int]) -> Iterator[Row]:
        """Generate episodes; see ``generate``.

        Args:
            sources: The files.
            folder: Where they go; only this process writes there.
            numbers: Their numbers.

        Yields:
            The index line of each episode once its file is complete.

        Raises:
            ConfigError: A machine has other files or another version.
            EpisodeError: The cluster cannot be reached, or is lost, or the folder cannot be written.
        """
        for number, data, wall_s in self._cluster.deal(self._maker, (sources, about(sources)), numbers):
            path = folder.file_of(number)
            write_atomically(path, data)
            yield row_of(decode(data, str(path)), digest_of(data), wall_s)
