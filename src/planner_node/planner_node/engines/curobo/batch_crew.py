"""Readers of a batch: one in this process, or one in each of several processes; messages lie in shared memory.

Reading and judging a problem takes 1.5 ms of Python, longer than the GPU needs for it, and holds Python's lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from multiprocessing.synchronize import Event
from typing import Protocol

from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.model.geometry import Pose
from handiwork_core.robot.robot import Robot
from handiwork_planning.worker_process import WorkerProcess, worker_context

from .batch_reader import Answer, BatchReader, Work

POLL_S = 0.01
"""Period at which a stop is polled while processes work, s."""
AHEAD = 3
"""Messages under way to each process: what it judges, what it reads next, and one that is written meanwhile."""


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
        context = worker_context(__name__)
        self.count, self._stop = count, context.Event()
        arguments = (robot, world_T_root, self._stop)
        self._crew: list[WorkerProcess[Work, list[Answer]]] = [
            WorkerProcess(context, _Reading, arguments, AHEAD) for _ in range(count)
        ]

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


class _Reading:
    """Reads and judges problems in a process of the crew.

    Args:
        robot: The robot of all problems.
        world_T_root: The robot's root in the world.
        stop: Set when planning must end.
    """

    def __init__(self, robot: Robot, world_T_root: Pose, stop: Event) -> None:
        self._reader, self._stop = BatchReader(robot, world_T_root), stop

    def answer(self, message: Work) -> list[Answer]:
        """Do a part of the work.

        Args:
            message: The part.
        """
        return self._reader.do(message, self._stop.is_set)

    def forget(self) -> None:
        """Forget the problems that were read and not judged."""
        self._reader.forget()

    def close(self) -> None:
        """The reader holds nothing but memory."""
