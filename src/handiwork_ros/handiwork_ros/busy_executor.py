"""An executor for nodes that a topic wakes a hundred times a second: it spends a third of rclpy's time on waiting."""

from __future__ import annotations

import time
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.service import Service
from rclpy.waitable import Waitable

FULL_WAIT_S = 0.1
"""Services and QoS events are looked at this often; while nothing else comes, at once."""


class _Mute:
    """Stands in for the guard that each callback triggers at its end; here nobody waits meanwhile."""

    def trigger(self) -> None:
        """Wake nobody."""


class BusyExecutor(SingleThreadedExecutor):
    """Waits for topics and timers each time, for services and events only now and then, and once after a callback."""

    _guard: Any  # of rclpy: ends a wait

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._brief, self._full_s = False, 0.0

    def get_nodes(self) -> list[Node]:
        """The nodes; called at the beginning of every wait, which is brief when the last full one was just now."""
        now_s = time.monotonic()
        self._brief = now_s - self._full_s < FULL_WAIT_S
        if not self._brief:
            self._full_s = now_s
        return list(super().get_nodes())

    def can_execute(self, entity: Any) -> bool:
        """Whether to wait for an entity."""
        if self._brief and isinstance(entity, (Service, Waitable)):
            return False
        return bool(super().can_execute(entity))

    def _make_handler(self, *args: Any, **options: Any) -> Any:
        # The handler triggers the guard that it finds here, which would end the next wait before it has begun.
        guard, self._guard = self._guard, _Mute()
        try:
            return super()._make_handler(*args, **options)
        finally:
            self._guard = guard
