"""Which deciders hold a lock, since when, and for how long at most."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Held:
    """A lock since ``since_s`` that must be released within ``limit_s``."""

    since_s: float
    limit_s: float


class Locks:
    """Locks of one path, by decider."""

    def __init__(self) -> None:
        self._held: dict[object, Held] = {}

    def take(self, decider: object, now_s: float, limit_s: float) -> None:
        """Locks a decider; one that has the lock keeps its first time."""
        if limit_s <= 0.0:
            raise ValueError(f"lock limit {limit_s} s: must be more than 0")
        self._held.setdefault(decider, Held(now_s, limit_s))

    def release(self, decider: object) -> None:
        """Unlocks a decider; without a lock nothing happens."""
        self._held.pop(decider, None)

    def clear(self) -> None:
        """Unlocks all."""
        self._held.clear()

    def __contains__(self, decider: object) -> bool:
        return decider in self._held

    def held(self, decider: object) -> Held | None:
        """Returns the lock of a decider, if it has one."""
        return self._held.get(decider)
