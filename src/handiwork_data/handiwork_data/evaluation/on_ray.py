"""Evaluates on a Ray cluster. Its machines run the episodes and ask the policy; this process alone writes."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping

from handiwork_data.dataset.folder import About
from handiwork_data.dataset.generate import about, exempt_loaded
from handiwork_data.dataset.ray_cluster import RayCluster, check_files
from handiwork_data.episodes.episode import encode, write_atomically
from handiwork_policy.protocol.errors import PolicyError

from .folder import ResultFolder
from .rows import EpisodeRow
from .run import EvaluationOrder, Evaluator, Missing, connect

CONNECT_S = 10.0
"""Longest wait for the policy server at the start of a process, s."""
Made = tuple[EpisodeRow, bytes | None]
"""The row of an episode, and the bytes of its recording where that is kept."""


class EvaluationMaker:
    """A process of the cluster, with robots and scenes kept loaded.

    Args:
        order: What is evaluated; its files are at the same paths on every machine.
        wanted: What the files of each task are where the command runs.
    """

    def __init__(self, order: EvaluationOrder, wanted: Mapping[str, About]) -> None:
        self._order, self._wanted = order, wanted
        self._evaluator = Evaluator(order)

    def prepare(self) -> None:
        """Load everything.

        Raises:
            ConfigError: This machine has other files or another version.
            PolicyError: It does not reach the policy server.
        """
        for name, sources in self._order.tasks.items():
            check_files(sources, self._wanted[name])
            self._evaluator.setup(name)
        try:
            connect(self._order.address, CONNECT_S)
        except PolicyError as error:
            here = f"machine {socket.gethostname()}: {error}"
            raise PolicyError(f"{here}; give --policy an address that every machine reaches") from error
        exempt_loaded()

    def make(self, item: tuple[str, int]) -> Made:
        """Run an episode.

        Args:
            item: The name of its task, and its number.

        Returns:
            Its row, and the bytes of its recording where that is kept.

        Raises:
            PolicyError: The server is not there or does not fit; the episode does not count.
        """
        row, recording = self._evaluator.made(*item)
        return row, None if recording is None else encode(recording)


class RayEvaluation:
    """One evaluation on a cluster; see ``evaluate``.

    Args:
        address: Address of the cluster; empty: one of its own on this machine.
        workers: Number of processes; 0: one for each core of the cluster.
    """

    def __init__(self, address: str, workers: int) -> None:
        self._cluster = RayCluster[tuple[str, int], Made](
            address, workers, lambda item: f"episode {item[1]} of {item[0]}", (PolicyError,)
        )

    def __call__(self, order: EvaluationOrder, here: Evaluator, missing: Missing) -> Iterator[EpisodeRow]:
        """Run episodes.

        Args:
            order: What is evaluated; only this process writes its folder.
            here: Not needed: every process has one of its own.
            missing: The episodes.

        Yields:
            The row of each episode.

        Raises:
            ConfigError: A machine has other files or another version.
            PolicyError: The server is not there, is lost, or does not fit.
            EpisodeError: The cluster cannot be reached, or is lost.
        """
        del here
        wanted = {name: about(sources) for name, sources in order.tasks.items()}
        folder = ResultFolder(order.folder)
        for row, data in self._cluster.deal(EvaluationMaker, (order, wanted), missing):
            if data is not None:
                write_atomically(folder.task(row.env_name).file_of(row.episode), data)
            yield row
