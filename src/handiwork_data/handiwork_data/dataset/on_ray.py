"""Generates episodes on a Ray cluster. Its machines compute; this process alone writes, so nothing is written twice."""

from __future__ import annotations

import os
import socket
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.episodes.episode import EpisodeError, decode, digest_of, encode, write_atomically
from handiwork_data.episodes.run import EpisodeSetup, run_episode

from .folder import About, DatasetFolder, Row, differences, row_of
from .generate import Sources, about, exempt_loaded, make_setup
from .pool import AHEAD

LOOK_S = 5.0
"""Longest wait for a result before the cluster is looked at again, s."""
PATIENCE_S = 600.0
"""Longest time without any process of the cluster at work, s of steady time."""
CONNECT_S = 5.0
"""Longest wait for an answer at the address of a cluster, s."""
TRIES = 5
"""Processes that may end at one episode before it is the episode's fault."""


def need_ray() -> Any:  # noqa: ANN401 - it may be missing
    """Return the module ``ray``.

    Raises:
        EpisodeError: It is missing.
    """
    try:
        import ray
    except ImportError as error:
        raise EpisodeError("ray is missing; install requirements/ray.txt") from error
    return ray


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
        here = f"machine {socket.gethostname()}"
        try:
            there = about(self._sources)
        except OSError as error:
            text = f"cannot read {error.filename}: {error.strerror}"
            raise ConfigError(
                here, [f"{text}; give every machine the same files at the same paths"]
            ) from error
        if faults := differences(self._wanted, there):
            text = f"differs from where the command runs: {'; '.join(faults)}"
            raise ConfigError(here, [f"{text}; install the same version and files on all machines"])
        self._setup = make_setup(self._sources)
        exempt_loaded()
        return os.getpid()

    def make(self, number: int) -> tuple[int, bytes, float]:
        """Run an episode.

        Args:
            number: Its number.

        Returns:
            The number, the bytes of its file, and the time that it took, s.
        """
        assert self._setup is not None
        begun_s = time.monotonic()
        data = encode(run_episode(self._setup, number))
        return number, data, time.monotonic() - begun_s


@dataclass(eq=False)
class _Process:
    """A process of the cluster: its handle, whether it is ready, and the calls that it works on."""

    handle: Any
    is_ready: bool = False
    calls: dict[Any, int | None] = field(default_factory=dict)


def _check_reachable(address: str) -> None:
    """Raise an EpisodeError where nobody answers at an address: Ray itself would try for many minutes."""
    if address in ("", "auto"):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise EpisodeError(f"--address is {address!r}; give HOST:PORT, ray://HOST:PORT or auto")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise EpisodeError(f"no Ray cluster {address}: {error}; start one, or check --address") from error


class RayRun:
    """One run on a cluster: deals episodes to its processes, and deals them again when a process or machine is lost.

    Args:
        address: Address of the cluster; empty: one of its own on this machine.
        workers: Number of processes; 0: one for each core of the cluster.
        maker: What each process runs.
    """

    def __init__(self, address: str, workers: int, maker: type[EpisodeMaker] = EpisodeMaker) -> None:
        self._ray, self._address, self._workers = need_ray(), address, workers
        self._maker = maker
        self._processes: list[_Process] = []
        self._left: deque[int] = deque()
        self._ended: Counter[int] = Counter()

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
        if not numbers:
            return
        is_ours = self._connect()
        try:
            maker = self._ray.remote(self._maker)
            self._left.extend(numbers)
            yield from self._deal(maker, sources, about(sources), folder, len(numbers))
        except self._ray.exceptions.RayError as error:
            text = str(error).strip().splitlines()[0]
            raise EpisodeError(f"Ray ended: {text}; run the same command again") from error
        finally:
            for one in self._processes:
                self._ray.kill(one.handle)
            if is_ours:
                self._ray.shutdown()

    def _connect(self) -> bool:
        """Connect with the cluster; return False where this process was connected already."""
        if self._ray.is_initialized():
            return False
        _check_reachable(self._address)
        place = {"address": self._address} if self._address else {"include_dashboard": False}
        try:
            self._ray.init(**place, log_to_driver=False)
        except Exception as error:  # Ray raises plain exceptions here
            where = self._address or "on this machine"
            text = str(error).strip().splitlines()[0]
            raise EpisodeError(f"no Ray cluster {where}: {text}; start one, or check --address") from error
        return True

    def _deal(
        self,
        maker: Any,  # noqa: ANN401 - Ray has no types here
        sources: Sources,
        wanted: About,
        folder: DatasetFolder,
        count: int,
    ) -> Iterator[Row]:
        done, heard_s = 0, time.monotonic()
        while done < count:
            self._start(maker, sources, wanted, count - done)
            calls = {call: one for one in self._processes for call in one.calls}
            ready, _ = self._ray.wait(list(calls), num_returns=1, timeout=LOOK_S)
            for call in ready:
                result = self._result(calls[call], call)
                if result is None:
                    continue
                heard_s = time.monotonic()
                if isinstance(result, tuple):
                    yield _write(folder, *result)
                    done += 1
            if time.monotonic() - heard_s > PATIENCE_S:
                text = f"no process of the cluster has answered for {PATIENCE_S:g} s"
                raise EpisodeError(f"{text}; look at `ray status`, then run the same command again")

    def _start(self, maker: Any, sources: Sources, wanted: About, left: int) -> None:  # noqa: ANN401
        """Replace lost processes, and give work to those that are ready."""
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        while len(self._processes) < min(self._workers or max(cores, 1), left):
            placed = maker.options(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")
            made = _Process(placed.remote(sources, wanted))
            made.calls[made.handle.prepare.remote()] = None
            self._processes.append(made)
        for one in self._processes:
            while one.is_ready and self._left and len(one.calls) < AHEAD:
                number = self._left.popleft()
                one.calls[one.handle.make.remote(number)] = number

    def _result(self, one: _Process, call: Any) -> tuple[int, bytes, float] | int | None:  # noqa: ANN401
        """Return what a call brought; None where its process or its result was lost: the episode is dealt again."""
        errors = self._ray.exceptions
        if call not in one.calls:
            return None  # of a process that was found lost a moment ago
        try:
            result: tuple[int, bytes, float] | int = self._ray.get(call)
        except errors.RayTaskError as error:
            # Ray wraps what a process raised.
            if isinstance(error.cause, (ConfigError, EpisodeError)):
                raise error.cause from None
            raise
        except (errors.RayActorError, errors.ObjectLostError, errors.WorkerCrashedError):
            self._forget(one)
            return None
        one.is_ready = True
        del one.calls[call]
        return result

    def _forget(self, one: _Process) -> None:
        """Deal the episodes of a lost process again."""
        self._processes.remove(one)
        self._ray.kill(one.handle)
        numbers = [number for number in one.calls.values() if number is not None]
        one.calls.clear()
        for number in reversed(numbers):
            self._ended[number] += 1
            if self._ended[number] >= TRIES:
                text = f"{TRIES} processes ended while episode {number} was at work"
                raise EpisodeError(
                    f"{text}, perhaps for want of memory; give fewer --workers, or run it again"
                )
            self._left.appendleft(number)


def _write(folder: DatasetFolder, number: int, data: bytes, wall_s: float) -> Row:
    path = folder.file_of(number)
    write_atomically(path, data)
    return row_of(decode(data, str(path)), digest_of(data), wall_s)
