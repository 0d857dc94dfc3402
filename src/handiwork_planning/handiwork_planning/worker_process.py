"""A process that answers messages in order.

Messages and answers lie in shared memory; the pipe carries only where.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from typing import Any, Generic, Protocol, TypeVar

from .packed_problems import packed, unpacked
from .shared_block import BlockReader, SharedBlock

CLOSE_S = 10.0
"""The longest time that a process is given to end, s of steady time."""


Asked = TypeVar("Asked")
Answered = TypeVar("Answered")
AskedOf = TypeVar("AskedOf", contravariant=True)
AnsweredBy = TypeVar("AnsweredBy", covariant=True)


class Answerer(Protocol[AskedOf, AnsweredBy]):
    """What works in the process."""

    def answer(self, message: AskedOf) -> AnsweredBy:
        """Answer one message. An exception is raised again in ``WorkerProcess.receive``.

        Args:
            message: What ``WorkerProcess.send`` was given.
        """

    def forget(self) -> None:
        """Forget what earlier messages left behind."""

    def close(self) -> None:
        """Free what the work needs."""


def worker_context(module: str) -> ForkServerContext:
    """Return what starts processes: a fork of this process would copy locks that its threads hold.

    Args:
        module: Module of the ``Answerer``; the fork server, which has no threads, imports it once for all processes.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([module, "handiwork_planning.warm_up"])
    return context


class WorkerProcess(Generic[Asked, Answered]):
    """One process as the process that made it sees it: the messages under way to it, and where they are written.

    Args:
        context: What ``worker_context`` returned.
        make: Makes the ``Answerer`` in the process: a class or function of a module.
        arguments: What ``make`` is given.
        ahead: The most messages that are under way at once.
    """

    def __init__(
        self,
        context: ForkServerContext,
        make: Callable[..., Answerer[Any, Any]],
        arguments: tuple[Any, ...],
        ahead: int,
    ) -> None:
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make, arguments, ahead), daemon=True)
        self._process.start()
        theirs.close()
        self._blocks = deque(SharedBlock() for _ in range(ahead))
        self._reader = BlockReader()
        self.under_way = 0

    def send(self, message: Asked) -> None:
        """Send a message; fewer than ``ahead`` may be under way.

        Args:
            message: Anything that ``packed_problems.packed`` takes.

        Raises:
            RuntimeError: The process has ended.
        """
        # The process answers in order: the block of the oldest message is the one that it has read.
        self._blocks.rotate(-1)
        note = self._blocks[-1].write(packed(message))
        try:
            self.pipe.send(note)
        except OSError as error:
            raise self._lost() from error
        self.under_way += 1

    def has_answer(self, timeout_s: float) -> bool:
        """Wait for an answer.

        Args:
            timeout_s: The longest time to wait, s of steady time.

        Raises:
            RuntimeError: The process has ended.
        """
        try:
            return self.pipe.poll(timeout_s)
        except OSError as error:
            raise self._lost() from error

    def receive(self) -> Answered:
        """Wait for the answer to the oldest message, and return it.

        Raises:
            RuntimeError: The process has ended.
            Exception: What the answer raised.
        """
        try:
            note = self.pipe.recv()
        except (EOFError, OSError) as error:
            raise self._lost() from error
        self.under_way -= 1
        answer: Answered | Exception = unpacked(self._reader.read(note))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def discard(self) -> None:
        """Wait for the messages under way, drop their answers, and let the process forget what they left behind."""
        while self.under_way:
            with contextlib.suppress(Exception):
                self.receive()
        with contextlib.suppress(OSError):
            self.pipe.send(())

    def dismiss(self) -> None:
        """Ask the process to end."""
        with contextlib.suppress(OSError):
            self.pipe.send(None)

    def close(self) -> None:
        """Wait for the end of the process, and free its memory."""
        self._process.join(CLOSE_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._reader.close()
        for block in self._blocks:
            block.close()
        self.pipe.close()

    def _lost(self) -> RuntimeError:
        self.under_way = 0
        self._process.join(1.0)
        return RuntimeError(
            f"process {self._process.pid} of the pool has ended with exit code {self._process.exitcode}; "
            "make a new pool, with fewer workers if memory ran out"
        )


def _serve(
    pipe: Connection, make: Callable[..., Answerer[Any, Any]], arguments: tuple[Any, ...], ahead: int
) -> None:
    """Answer until None comes or the other process has ended; an empty message forgets what earlier ones left behind.

    Answers lie in turns in one block more than messages are under way, so that none is written before it was read.
    """
    # Ctrl-C goes to all processes: the pool ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker = make(*arguments)
    reader, blocks = BlockReader(), deque(SharedBlock() for _ in range(ahead + 1))
    try:
        while (note := pipe.recv()) is not None:
            if not note:
                worker.forget()
                continue
            try:
                answer = worker.answer(unpacked(reader.read(note)))
            except Exception as error:  # noqa: BLE001 - it is raised again in the pool's process
                answer = error
            blocks.rotate(-1)
            pipe.send(blocks[-1].write(packed(answer)))
    except (EOFError, OSError):
        pass
    finally:
        for block in blocks:
            block.close()
        reader.close()
        worker.close()
