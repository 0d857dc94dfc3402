"""Subscriptions that wake up nobody: they are read when somebody looks."""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import CallbackGroup


class PolledGroup(CallbackGroup):
    """Subscriptions that the executor does not wait for."""

    def can_execute(self, entity: Any) -> bool:
        """Never."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Never."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """Nothing has begun."""
