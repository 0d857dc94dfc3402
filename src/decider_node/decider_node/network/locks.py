"""The locks of deciders, with their beginning and their longest duration."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeldLock:
    """A lock since ``since_s`` that must be released within ``limit_s``."""

    since_s: float
    limit_s: float


class Locks:
    """Locks of one path, by decider."""

    def __init__(self) -> None:
        self._held: dict[object, HeldLock] = {}

    def take(self, decider: object, now_s: float, limit_s: float) -> None:
        """Lock a decider; one that has the lock keeps its first time.

        Args:
            decider: The decider.
            now_s: Time of the tick, s.
            limit_s: Time within which it must be released, more than 0, s.

        Raises:
            ValueError: The limit is not more than 0.
        """
        if limit_s <= 0.0:
            raise ValueError(f"lock limit {limit_s} s: must be more than 0")
        self._held.setdefault(decider, HeldLock(now_s, limit_s))

    def release(self, decider: object) -> None:
        """Unlock a decider; without a lock nothing happens.

        Args:
            decider: The decider.
        """
        self._held.pop(decider, None)

    def clear(self) -> None:
        """Unlock all deciders."""
        self._held.clear()

    def __contains__(self, decider: object) -> bool:
        return decider in self._held

    def held(self, decider: object) -> HeldLock | None:
        """Return the lock of a decider.

        Args:
            decider: The decider.

        Returns:
            Its lock; None without one.
        """
        return self._held.get(decider)
