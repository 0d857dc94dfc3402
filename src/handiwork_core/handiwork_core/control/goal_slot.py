"""Hands goals to one controller: the newest wins, after the one before it has come to rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from handiwork_core.control.trajectory_controller import Ending

G = TypeVar("G")
R = TypeVar("R")
G_contra = TypeVar("G_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)


class Goal(Generic[G, R]):
    """One goal with its callbacks.

    Args:
        value: The goal itself.
        done: Called once, with the result.
        progressed: Called repeatedly before ``done``.
    """

    def __init__(
        self, value: G, done: Callable[[R], None], progressed: Callable[[], None] | None = None
    ) -> None:
        self.value, self.done, self.progressed = value, done, progressed
        self.canceled = False


class Driver(Protocol[G_contra, R_co]):
    """The interface of a controller that a slot needs."""

    def refusal(self, goal: G_contra) -> R_co | None:
        """Return the result of a goal that cannot begin, regardless of the place where the running goal ends.

        Args:
            goal: The goal.

        Returns:
            The result that reports the refusal; None for any other goal.
        """
        ...

    def begin(self, goal: G_contra) -> R_co | None:
        """Start a goal.

        Args:
            goal: The goal.

        Returns:
            None when the goal has started; else the result that reports the refusal.
        """
        ...

    def stop(self, ending: Ending, message: str) -> None:
        """Bring the running goal to an end soon.

        Args:
            ending: Ending of the goal.
            message: The reason in words.
        """
        ...

    def take(self) -> R_co | None:
        """Return the result of the goal that has just ended, once; None before."""
        ...

    def unstarted(self, ending: Ending, message: str) -> R_co:
        """Return the result of a goal that never started.

        Args:
            ending: Ending of the goal.
            message: The reason in words.
        """
        ...


class GoalSlot(Generic[G, R]):
    """The goal of one controller, and at most one that waits. It belongs to the thread of the plant.

    Args:
        driver: The controller.
    """

    def __init__(self, driver: Driver[G, R]) -> None:
        self.driver = driver
        self.active: Goal[G, R] | None = None
        self._waiting: Goal[G, R] | None = None
        self._ending: tuple[Ending, str] | None = None
        self._settles = False

    @property
    def busy(self) -> bool:
        """True while a goal has no result yet."""
        return self.active is not None or self._waiting is not None

    def submit(self, goal: Goal[G, R]) -> None:
        """Accept a goal; stop a running goal first and drop a waiting one. A refused goal changes nothing.

        Args:
            goal: The goal.
        """
        refusal = self.driver.refusal(goal.value) if self.busy else None
        if refusal is not None:
            goal.done(refusal)
            return
        message = "a newer goal took over"
        if self._waiting is not None:
            self._drop(Ending.ABORTED, message)
        self._waiting = goal
        if self.active is not None:
            self._stop(Ending.ABORTED, message)
        self.poll()

    def cancel(self, goal: Goal[G, R]) -> None:
        """End a goal because its client asked for it.

        Args:
            goal: The goal; one that has ended is ignored.
        """
        message = "canceled by the client"
        if goal is self.active:
            self._stop(Ending.CANCELED, message)
        elif goal is self._waiting:
            self._drop(Ending.CANCELED, message)
        self.poll()

    def abort(self, message: str) -> None:
        """End the running and the waiting goal.

        Args:
            message: The reason in words.
        """
        if self._waiting is not None:
            self._drop(Ending.ABORTED, message)
        if self.active is not None:
            self._stop(Ending.ABORTED, message)
        self.poll()

    def release(self) -> None:
        """End a goal that is being stopped while the world is paused; the brake continues when time does."""
        if self.active is not None and self._ending is not None:
            ending, message = self._ending
            self._settles = True
            self._finish(self.driver.unstarted(ending, f"{message}; the world is paused"))

    def poll(self) -> None:
        """Pass on a result, and start the goal that waits."""
        if self.active is not None or self._settles:
            result = self.driver.take()
            if result is None:
                return
            self._settles = False
            self._finish(result)
        if self._waiting is not None:
            goal, self._waiting = self._waiting, None
            refusal = self.driver.begin(goal.value)
            if refusal is not None:
                goal.done(refusal)
            else:
                self.active = goal

    def _stop(self, ending: Ending, message: str) -> None:
        self._ending = self._ending or (ending, message)
        self.driver.stop(ending, message)

    def _finish(self, result: R) -> None:
        goal, self.active, self._ending = self.active, None, None
        if goal is not None:
            goal.done(result)

    def _drop(self, ending: Ending, message: str) -> None:
        goal, self._waiting = self._waiting, None
        assert goal is not None
        goal.done(self.driver.unstarted(ending, message))
