"""Arms at the same time: bodies in threads, and the barriers at which they meet."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from handiwork_core.contracts.skill import Token
from handiwork_core.model.outcome import Code

from .conditions import SHOW_S
from .model import Barrier, TaskStep
from .task_paths import Starts

POLL_S = 0.02


@dataclass
class _BarrierState:
    missing: int
    all_there: threading.Event


class Barriers:
    """The barriers of one step.

    Args:
        counts: Number of arms that come to each barrier.
    """

    def __init__(self, counts: dict[str, int]) -> None:
        self._lock = threading.Lock()
        self._by_name = {name: _BarrierState(count, threading.Event()) for name, count in counts.items()}

    @classmethod
    def of(cls, step: TaskStep, at: Starts) -> Barriers:
        """Return the barriers of a step.

        Args:
            step: The step.
            at: Where each arm begins; one that begins after a barrier has passed it.
        """
        counts: dict[str, int] = {}
        for arm, block in step.arms.items():
            place = at.get(arm)
            first = len(block) if place is None else int(place[0]) - 1 if place else 0
            for node in block[first:]:
                if isinstance(node, Barrier):
                    counts[node.name] = counts.get(node.name, 0) + 1
        return cls(counts)

    def wait(self, name: str, token: Token, show: Callable[[], None]) -> bool:
        """Wait until all arms are at a barrier.

        Args:
            name: Name of the barrier.
            token: Ends the wait when it is set.
            show: Reports that the arm waits; called at the beginning and every ``SHOW_S``.

        Returns:
            True once all are there; False when the token was set.
        """
        meeting, shown_s = self._by_name[name], time.monotonic()
        show()
        with self._lock:
            meeting.missing -= 1
            if meeting.missing <= 0:
                meeting.all_there.set()
        while not meeting.all_there.wait(POLL_S):
            if token.is_set():
                return False
            if time.monotonic() - shown_s >= SHOW_S:
                shown_s = time.monotonic()
                show()
        return True


def together(bodies: Sequence[Callable[[], None]], token: Token) -> None:
    """Run bodies at the same time and wait for all; raise what the first of them raised, which also ends the others.

    In daemons, so that a skill which never returns cannot keep the process from ending.

    Args:
        bodies: The bodies; a single one runs on the calling thread.
        token: Token of the bodies, set when one raises.
    """
    if len(bodies) == 1:
        bodies[0]()
        return
    errors: list[Exception] = []

    def run(body: Callable[[], None]) -> None:
        try:
            body()
        except Exception as error:  # noqa: BLE001 - handed to the thread that waits
            errors.append(error)
            token.set(Code.CANCELED)

    threads = [
        threading.Thread(target=run, args=(body,), name=f"task-arm-{i}", daemon=True)
        for i, body in enumerate(bodies)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
