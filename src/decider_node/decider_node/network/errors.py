"""The errors of a network; each names the place and the remedy."""

from __future__ import annotations

from collections.abc import Iterable


class NetworkError(Exception):
    """The network has stopped; ``Network.reset`` makes it begin again."""


class MissingChild(NetworkError):
    """A decision names a child that its decider does not have."""

    def __init__(self, decider: str, child: str, children: Iterable[str]) -> None:
        known = ", ".join(sorted(children)) or "none"
        super().__init__(
            f"decider {decider!r} decided for child {child!r}; it has {known}: add it, or correct decide()"
        )


class CycleFound(NetworkError):
    """A decider is its own descendant, so that a tick could not end."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(f"the network has a cycle: {' > '.join(names)}; remove one of these children")


class LockNotReleased(NetworkError):
    """A decider held its lock for longer than its limit."""

    def __init__(self, decider: str, held_s: float, limit_s: float) -> None:
        super().__init__(
            f"decider {decider!r} holds its lock for {held_s:.2f} s, its limit is {limit_s:.2f} s: "
            "let the locked sequence end, or give it a longer limit"
        )


class MonitorFailed(NetworkError):
    """A monitor raised."""

    def __init__(self, monitor: str, error: Exception) -> None:
        super().__init__(f"monitor {monitor!r} raised {type(error).__name__}: {error}")


class DeciderFailed(NetworkError):
    """A decider or one of its states raised."""

    def __init__(self, decider: str, method: str, error: Exception) -> None:
        super().__init__(f"{method} of decider {decider!r} raised {type(error).__name__}: {error}")


class NetworkStopped(NetworkError):
    """A tick was requested after an error and before a reset."""

    def __init__(self, error: NetworkError) -> None:
        super().__init__(f"the network has stopped, reset it first; it stopped because: {error}")
