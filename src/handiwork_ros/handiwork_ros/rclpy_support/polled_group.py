"""A callback group for subscriptions that do not wake the executor and are polled."""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import CallbackGroup


class PolledGroup(CallbackGroup):
    """A group of subscriptions that the executor does not wait for; they are read by ``topic_intake.taken``."""

    def can_execute(self, entity: Any) -> bool:
        """Return False: the executor never executes an entity of the group.

        Args:
            entity: The entity.
        """
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Return False: the executor never executes an entity of the group.

        Args:
            entity: The entity.
        """
        return False

    def ending_execution(self, entity: Any) -> None:
        """Do nothing, because no execution has begun.

        Args:
            entity: The entity.
        """
