"""The network: monitors first, then the decision; and its behaviour after an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol

from .decider import C, Decider
from .errors import DeciderFailed, MonitorFailed, NetworkError, NetworkStopped
from .traversal import Descent, Rules


class Monitor(Protocol[C]):  # type: ignore[misc] # C is shared with classes in which it must not vary
    """Brings a part of the context up to date, before each decision."""

    @property
    def name(self) -> str:
        """The monitor's name in errors."""

    def update(self, context: C, now_s: float) -> None:
        """Read the world and write the context.

        Args:
            context: The logical state.
            now_s: Time of the tick, s.
        """


@dataclass(frozen=True, eq=False)
class FunctionMonitor(Generic[C]):
    """A monitor made of one function.

    Attributes:
        name: Its name in errors.
        function: Takes the context and the time of the tick, s.
    """

    name: str
    function: Callable[[C, float], None]

    def update(self, context: C, now_s: float) -> None:
        """Call the function.

        Args:
            context: The logical state.
            now_s: Time of the tick, s.
        """
        self.function(context, now_s)


def _nothing() -> None:
    """Do nothing: there is no arm to stop."""


class Network(Generic[C]):
    """Monitors and deciders on one context.

    After an error all deciders that were on the path have left it, ``stop`` was called, and every tick is refused
    until ``reset``.

    Args:
        root: The first decider of every path.
        context: Given to all monitors and deciders.
        monitors: Run in this order at every tick, before the decision.
        stop: Brings the arm to rest.
        renew: Brings the context back to its beginning, at a reset.
        rules: The rules for entering and leaving.
    """

    def __init__(
        self,
        root: Decider[C],
        context: C,
        monitors: Sequence[Monitor[C]] = (),
        *,
        stop: Callable[[], None] = _nothing,
        renew: Callable[[], None] = _nothing,
        rules: Rules = Rules.STRICT,
    ) -> None:
        self.context, self.monitors = context, tuple(monitors)
        self.descent = Descent(root, rules)
        self._stop, self._renew = stop, renew
        self.error: NetworkError | None = None
        self._now_s = 0.0

    def tick(self, now_s: float) -> None:
        """Run the monitors and decide.

        Args:
            now_s: Time of the tick, s.

        Raises:
            NetworkError: A monitor or a decider failed, or an earlier tick did; the arm was stopped.
        """
        if self.error is not None:
            raise NetworkStopped(self.error)
        self._now_s = now_s
        try:
            for monitor in self.monitors:
                self._run(monitor, now_s)
            self.descent.step(self.context, now_s)
        except NetworkError as error:
            self._fail(error)
            raise

    def reset(self) -> None:
        """Begin again: the path is left, locks are released, the context is renewed, an error is forgotten."""
        if self.descent.rules is Rules.CORTEX:
            self.descent.drop()
        else:
            self._leave()
        self.error = None
        self._renew()

    def _run(self, monitor: Monitor[C], now_s: float) -> None:
        try:
            monitor.update(self.context, now_s)
        except Exception as error:
            raise MonitorFailed(monitor.name, error) from error

    def _fail(self, error: NetworkError) -> None:
        """Stop the arm first: leaving the path runs code of the application."""
        self.error = error
        self._stop()
        self._leave()

    def _leave(self) -> None:
        try:
            self.descent.leave(self.context, self._now_s)
        except DeciderFailed as error:
            self.error = self.error or error
