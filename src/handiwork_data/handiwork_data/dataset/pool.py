"""Deals work to processes of this machine; few items wait at a time, so that an interrupt ends soon."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from handiwork_data.episodes.episode import EpisodeError

AHEAD = 2
"""Items that wait for each process, so that none is idle."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def deal(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    workers: int,
    begin: Callable[..., None],
    arguments: tuple[Any, ...],
) -> Iterator[Result]:
    """Work on items in processes of their own.

    Args:
        work: Function of a module that works on one item.
        items: The items.
        workers: Number of processes.
        begin: Function of a module that each process calls first.
        arguments: Its arguments.

    Yields:
        The results as they come.

    Raises:
        EpisodeError: A process was ended from outside.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, _begin, (begin, arguments)) as pool:
        left, running = iter(items), set[Future[Result]]()
        try:
            while True:
                for item in left:
                    running.add(pool.submit(work, item))
                    if len(running) >= AHEAD * workers:
                        break
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for one in done:
                    yield one.result()
        except BrokenProcessPool as error:
            text = "a process ended before its episode, perhaps for want of memory"
            raise EpisodeError(f"{text}; give fewer --workers, or run the same command again") from error
        finally:
            for one in running:
                one.cancel()


def _begin(begin: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    # The episode under way is written, then the parent ends the pool.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    begin(*arguments)


def _end_with_parent() -> None:
    """End this process when its parent was killed: nobody would take the result, or give it more work."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
