"""Deals work to the processes of a Ray cluster, and deals it again when a process or a machine is lost."""

from __future__ import annotations

import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.episodes.episode import EpisodeError

from .folder import About, differences
from .generate import Sources, about
from .pool import AHEAD

LOOK_S = 5.0
"""Longest wait for a result before the cluster is looked at again, s."""
PATIENCE_S = 600.0
"""Longest time without any process of the cluster at work, s of steady time."""
CONNECT_S = 5.0
"""Longest wait for an answer at the address of a cluster, s."""
TRIES = 5
"""Processes that may end at one item before it is the item's fault."""

Item = TypeVar("Item")
Result = TypeVar("Result")
ItemOf = TypeVar("ItemOf", contravariant=True)
ResultOf = TypeVar("ResultOf", covariant=True)


class Maker(Protocol[ItemOf, ResultOf]):
    """What each process of the cluster runs."""

    def prepare(self) -> object:
        """Load everything, and check that this machine fits."""

    def make(self, item: ItemOf) -> ResultOf:
        """Work on one item.

        Args:
            item: The item.
        """


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


def check_files(sources: Sources, wanted: About) -> None:
    """Check that this machine has the same files and version as the one where the command runs.

    Args:
        sources: The files, at the same paths on every machine.
        wanted: What they are there.

    Raises:
        ConfigError: They differ, or cannot be read; names the machine.
    """
    here = f"machine {socket.gethostname()}"
    try:
        there = about(sources)
    except OSError as error:
        text = f"cannot read {error.filename}: {error.strerror}"
        raise ConfigError(here, [f"{text}; give every machine the same files at the same paths"]) from error
    if faults := differences(wanted, there):
        text = f"differs from where the command runs: {'; '.join(faults)}"
        raise ConfigError(here, [f"{text}; install the same version and files on all machines"])


@dataclass(eq=False)
class _Process(Generic[Item]):
    """A process of the cluster: its handle, whether it is ready, and the calls that it works on."""

    handle: Any
    is_ready: bool = False
    calls: dict[Any, Item | None] = field(default_factory=dict)


class RayCluster(Generic[Item, Result]):
    """The processes of a cluster for one run.

    Args:
        address: Address of the cluster; empty: one of its own on this machine.
        workers: Number of processes; 0: one for each core of the cluster.
        text_of: Returns an item in words, such as ``episode 3``.
        raised: Exceptions of the work that end the run as they are, beside ``ConfigError`` and ``EpisodeError``.
    """

    def __init__(
        self,
        address: str,
        workers: int,
        text_of: Callable[[Item], str],
        raised: tuple[type[Exception], ...] = (),
    ) -> None:
        self._ray, self._address, self._workers = need_ray(), address, workers
        self._text_of = text_of
        self._raised: tuple[type[Exception], ...] = (ConfigError, EpisodeError, *raised)
        self._processes: list[_Process[Item]] = []
        self._left: deque[Item] = deque()
        self._ended: Counter[Item] = Counter()

    def deal(
        self, maker: Callable[..., Maker[Item, Result]], arguments: tuple[Any, ...], items: Sequence[Item]
    ) -> Iterator[Result]:
        """Work on all items.

        Args:
            maker: Class of what each process runs.
            arguments: What it is made with.
            items: The items.

        Yields:
            The results as they come.

        Raises:
            ConfigError: A machine does not fit.
            EpisodeError: The cluster cannot be reached, or is lost.
        """
        if not items:
            return
        is_ours = self._connect()
        try:
            self._left.extend(items)
            yield from self._dealt(self._ray.remote(maker), arguments, len(items))
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

    def _dealt(
        self,
        maker: Any,  # noqa: ANN401 - Ray has no types here
        arguments: tuple[Any, ...],
        count: int,
    ) -> Iterator[Result]:
        done, heard_s = 0, time.monotonic()
        while done < count:
            self._start(maker, arguments, count - done)
            calls = {call: one for one in self._processes for call in one.calls}
            ready, _ = self._ray.wait(list(calls), num_returns=1, timeout=LOOK_S)
            for call in ready:
                for result, is_work in self._results(calls[call], call):
                    heard_s = time.monotonic()
                    if is_work:
                        yield result
                        done += 1
            if time.monotonic() - heard_s > PATIENCE_S:
                text = f"no process of the cluster has answered for {PATIENCE_S:g} s"
                raise EpisodeError(f"{text}; look at `ray status`, then run the same command again")

    def _start(self, maker: Any, arguments: tuple[Any, ...], left: int) -> None:  # noqa: ANN401
        """Replace lost processes, and give work to those that are ready."""
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        while len(self._processes) < min(self._workers or max(cores, 1), left):
            placed = maker.options(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")
            made = _Process[Item](placed.remote(*arguments))
            made.calls[made.handle.prepare.remote()] = None
            self._processes.append(made)
        for one in self._processes:
            while one.is_ready and self._left and len(one.calls) < AHEAD:
                item = self._left.popleft()
                one.calls[one.handle.make.remote(item)] = item

    def _results(self, one: _Process[Item], call: Any) -> Iterator[tuple[Any, bool]]:  # noqa: ANN401
        """Yield what a call brought, and whether it was work; nothing where its process or its result was lost."""
        errors = self._ray.exceptions
        if call not in one.calls:
            return  # of a process that was found lost a moment ago
        try:
            result = self._ray.get(call)
        except errors.RayTaskError as error:
            # Ray wraps what a process raised.
            cause: object = error.cause
            if isinstance(cause, self._raised):
                raise cause from None
            raise
        except (errors.RayActorError, errors.ObjectLostError, errors.WorkerCrashedError):
            self._forget(one)
            return
        one.is_ready = True
        yield result, one.calls.pop(call) is not None

    def _forget(self, one: _Process[Item]) -> None:
        """Deal the items of a lost process again."""
        self._processes.remove(one)
        self._ray.kill(one.handle)
        items = [item for item in one.calls.values() if item is not None]
        one.calls.clear()
        for item in reversed(items):
            self._ended[item] += 1
            if self._ended[item] >= TRIES:
                text = f"{TRIES} processes ended while {self._text_of(item)} was at work"
                raise EpisodeError(
                    f"{text}, perhaps for want of memory; give fewer --workers, or run it again"
                )
            self._left.appendleft(item)


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
