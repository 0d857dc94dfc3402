"""An executor for nodes with many services, whose requests take several waits each."""

from __future__ import annotations

import time
from typing import Any

from rclpy.event_handler import EventHandler

from .node_executor import LateWakingExecutor

EVENTS_S = 0.5
"""The period in which QoS events are waited for, s of steady time."""


class ServiceExecutor(LateWakingExecutor):
    """Waits for QoS events twice a second only, and waits less often.

    rclpy collects all entities again for each wait. For ``move_group`` with its 45 QoS events and 70 other entities a
    wait without the events takes 0.6 ms of processor time instead of 1.3 ms.

    Args:
        options: Options of ``NodeExecutor``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._events_s = float("-inf")
        self._has_events = True

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Serve one callback; see rclpy.

        Args:
            timeout_sec: Longest wait, s; None: without a limit.
        """
        now_s = time.monotonic()
        self._has_events = now_s >= self._events_s
        if self._has_events:
            self._events_s = now_s + EVENTS_S
        super().spin_once(timeout_sec)

    def can_execute(self, entity: Any) -> bool:
        """Return whether an entity is waited for now.

        Args:
            entity: The entity.
        """
        if not self._has_events and isinstance(entity, EventHandler):
            return False
        return bool(super().can_execute(entity))
