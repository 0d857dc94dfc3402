"""Readers of a batch: one in this process, or one in each of several processes; messages lie in shared memory.

Reading and judging a problem takes 1.5 ms of Python, longer than the GPU needs for it, and holds Python's lock.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections import deque
from collections.abc import Sequence
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.synchronize import Event
from typing import Protocol

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_planning.packed_problems import packed, unpacked
from handiwork_planning.shared_block import BlockReader, SharedBlock

from .batch_reader import Answer, BatchReader, Work

POLL_S = 0.01
"""Period at which a stop is polled while processes work, s."""
AHEAD = 3
"""Messages under way to each process: what it judges, what it reads next, and one that is written meanwhile."""
CLOSE_S = 10.0
"""The longest time that a process is given to end, s of steady time."""


class Readers(Protocol):
    """One or several readers. Every problem has to be read and judged by the same one."""

    count: int

    def begin(self, parts: Sequence[Work], should_stop: ShouldStop) -> None:
        """Give each reader its part of the work.

        Args:
            parts: One part for each reader.
            should_stop: Returns True when planning must end.
        """

    def end(self, should_stop: ShouldStop) -> list[Answer]:
        """Wait for the answers to the oldest work that was begun and not yet ended.

        Args:
            should_stop: Returns True when planning must end.
        """

    def forget(self) -> None:
        """Wait for all work that was begun, and forget it."""

    def close(self) -> None:
        """End the readers."""


class LocalReader:
    """A reader in this process and thread.

    Args:
        robot: The robot of all problems.
        world_T_root: The robot's root in the world.
    """

    count = 1

    def __init__(self, robot: Robot, world_T_root: Pose) -> None:
        self._reader = BatchReader(robot, world_T_root)
        self._answers: deque[list[Answer]] = deque()

    def begin(self, parts: Sequence[Work], should_stop: ShouldStop) -> None:
        """See ``Readers.begin``. The work is done at once.

        Args:
            parts: One part.
            should_stop: Returns True when planning must end.
        """
        self._answers.append(self._reader.do(parts[0], should_stop))

    def end(self, should_stop: ShouldStop) -> list[Answer]:
        """See ``Readers.end``.

        Args:
            should_stop: Returns True when planning must end.
        """
        del should_stop
        return self._answers.popleft()

    def forget(self) -> None:
        """See ``Readers.forget``."""
        self._answers.clear()
        self._reader.forget()

    def close(self) -> None:
        """See ``Readers.close``."""


class ReaderCrew:
    """Processes with a reader each, which live until ``close``.

    Args:
        robot: The robot of all problems.
        world_T_root: The robot's root in the world.
        count: Number of processes.
    """

    def __init__(self, robot: Robot, world_T_root: Pose, count: int) -> None:
        # Workers need its kernels: this process compiles them once, or every worker would at the same time.
        BatchReader(robot, world_T_root)
        # A fork of this process would copy locks that its threads hold; the fork server has no threads.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, "handiwork_planning.warm_up"])
        self.count, self._stop = count, context.Event()
        self._crew = [_Worker(context, robot, world_T_root, self._stop) for _ in range(count)]

    def begin(self, parts: Sequence[Work], should_stop: ShouldStop) -> None:
        """See ``Readers.begin``.

        Args:
            parts: One part for each process.
            should_stop: Returns True when planning must end.
        """
        self._poll(should_stop)
        for worker, part in zip(self._crew, parts, strict=True):
            worker.send(part)

    def end(self, should_stop: ShouldStop) -> list[Answer]:
        """See ``Readers.end``.

        Args:
            should_stop: Returns True when planning must end.

        Raises:
            RuntimeError: A process ended; the readers are then of no use.
        """
        found: list[Answer] = []
        for worker in self._crew:
            while not worker.has_answer(POLL_S):
                self._poll(should_stop)
            found += worker.receive()
        return found

    def forget(self) -> None:
        """See ``Readers.forget``."""
        self._stop.set()
        for worker in self._crew:
            worker.discard()
        self._stop.clear()

    def close(self) -> None:
        """See ``Readers.close``."""
        for worker in self._crew:
            worker.dismiss()
        for worker in self._crew:
            worker.close()
        self._crew.clear()

    def _poll(self, should_stop: ShouldStop) -> None:
        if should_stop():
            self._stop.set()
        else:
            self._stop.clear()


class _Worker:
    """One process as the crew sees it."""

    def __init__(self, context: ForkServerContext, robot: Robot, world_T_root: Pose, stop: Event) -> None:
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, robot, world_T_root, stop), daemon=True)
        self._process.start()
        theirs.close()
        self._blocks = deque(SharedBlock() for _ in range(AHEAD))
        self._reader, self._under_way = BlockReader(), 0

    def send(self, work: Work) -> None:
        self._blocks.rotate(-1)
        note = self._blocks[-1].write(packed(work))
        try:
            self._pipe.send(note)
        except OSError as error:
            raise self._lost() from error
        self._under_way += 1

    def has_answer(self, timeout_s: float) -> bool:
        try:
            return self._pipe.poll(timeout_s)
        except OSError as error:
            raise self._lost() from error

    def receive(self) -> list[Answer]:
        try:
            note = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise self._lost() from error
        self._under_way -= 1
        answer = unpacked(self._reader.read(note))
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    def discard(self) -> None:
        """Wait for the work that is under way, and for the process to forget what it has read."""
        with contextlib.suppress(RuntimeError):
            while self._under_way:
                with contextlib.suppress(Exception):
                    self.receive()
            self._pipe.send(())

    def dismiss(self) -> None:
        with contextlib.suppress(OSError):
            self._pipe.send(None)

    def close(self) -> None:
        self._process.join(CLOSE_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._reader.close()
        for block in self._blocks:
            block.close()
        self._pipe.close()

    def _lost(self) -> RuntimeError:
        self._under_way = 0
        self._process.join(1.0)
        return RuntimeError(
            f"process {self._process.pid} of the batch has ended with exit code {self._process.exitcode}; "
            "make a new pool, with fewer workers if memory ran out"
        )


def _serve(pipe: Connection, robot: Robot, world_T_root: Pose, stop: Event) -> None:
    """Work until None comes or the pool's process has ended; an empty message forgets what was read.

    Answers lie in turns in one block more than messages are under way, so that none is written before it was read.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes: the pool ends its workers
    mine = BatchReader(robot, world_T_root)
    reader, blocks = BlockReader(), deque(SharedBlock() for _ in range(AHEAD + 1))
    try:
        while (note := pipe.recv()) is not None:
            if not note:
                mine.forget()
                continue
            answer: list[Answer] | Exception
            try:
                answer = mine.do(unpacked(reader.read(note)), stop.is_set)
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
