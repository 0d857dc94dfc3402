"""The newest transform to each frame, for a bounded number of frames. Without ROS; its owner holds a lock."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from handiwork_core.intake.limits import FRAME_LIFETIME_S, FRAMES, NAME_CHARACTERS

T = TypeVar("T")

PRUNE_PERIOD_S = 1.0
"""The period in which old frames are removed, s."""


class FrameTable(Generic[T]):
    """Transforms by the name of their frame.

    Args:
        forgets: Remove a frame without a message for ``FRAME_LIFETIME_S`` while messages of other frames came.
    """

    def __init__(self, *, forgets: bool) -> None:
        self.links: dict[str, T] = {}
        self._forgets = forgets
        self._heard_s: dict[str, float] = {}
        self._pruned_s = float("-inf")

    def keep(self, items: Iterable[tuple[str, T]], now_s: float) -> int:
        """Store the transforms for which there is space, and remove old ones.

        Args:
            items: Names and transforms of one message.
            now_s: Steady time, s.

        Returns:
            The number of refused transforms: those with names that are too long, and new ones beyond the limit.
        """
        refused = 0
        for name, transform in items:
            if len(name) > NAME_CHARACTERS or (name not in self.links and len(self.links) >= FRAMES):
                refused += 1
                continue
            self.links[name] = transform
            if self._forgets:
                self._heard_s[name] = now_s
        if self._forgets and now_s - self._pruned_s > PRUNE_PERIOD_S:
            self._prune(now_s)
        return refused

    def clear(self) -> None:
        """Remove all frames."""
        self.links, self._heard_s = {}, {}

    def _prune(self, now_s: float) -> None:
        if now_s - self._pruned_s > FRAME_LIFETIME_S:
            # No message came for this long, as in a paused world, so no frame has aged.
            self._heard_s = dict.fromkeys(self.links, now_s)
        for name in [name for name, heard_s in self._heard_s.items() if now_s - heard_s > FRAME_LIFETIME_S]:
            del self.links[name], self._heard_s[name]
        self._pruned_s = now_s
