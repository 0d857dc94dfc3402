"""The predicate contract: a pure function of one world snapshot with three values and its evidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import IntEnum
from typing import ClassVar, NamedTuple

from handiwork_core.model.world import World


class Truth(IntEnum):
    """The three values of a condition. Numbers equal those in ``handiwork_msgs/msg/Condition``."""

    UNKNOWN = 0
    FALSE = 1
    TRUE = 2

    @classmethod
    def of(cls, value: bool) -> Truth:
        """Return TRUE or FALSE.

        Args:
            value: The boolean.
        """
        return cls.TRUE if value else cls.FALSE


class Evidence(NamedTuple):
    """One number that decided.

    Attributes:
        name: Name of the quantity.
        value: Its value.
        unit: "m", "N", "rad", "" for none.
        subject: The object or pair that was measured.
    """

    name: str
    value: float
    unit: str = ""
    subject: str = ""


class Finding(NamedTuple):
    """A verdict.

    Attributes:
        truth: The value.
        margin: Margin to the boundary in the predicate's own unit, > 0 exactly when TRUE, nan when UNKNOWN.
        reason: A sentence with numbers.
        evidence: The numbers that decided.
        flip_probability: Probability that the noise of measured poses turns the value, 0 to 1; 0 where they are exact,
            and where it is UNKNOWN for another reason.
    """

    truth: Truth
    margin: float
    reason: str
    evidence: tuple[Evidence, ...] = ()
    flip_probability: float = 0.0

    @property
    def is_in_doubt(self) -> bool:
        """True when it is UNKNOWN because noise would turn it too probably."""
        return self.truth is Truth.UNKNOWN and self.flip_probability > 0.0

    @classmethod
    def unknown(cls, reason: str) -> Finding:
        """Return a verdict UNKNOWN.

        Args:
            reason: A sentence that says why the value cannot be known.
        """
        return cls(Truth.UNKNOWN, float("nan"), reason)


class Predicate(ABC):
    """A configured condition: a frozen dataclass whose fields are its arguments and limits.

    No time and no memory: staleness, hold time and ``since`` are done once, by the monitor. Unknown objects
    give UNKNOWN, never an exception. Add one: copy a class in ``conditionals_node/predicates/``, list it in
    that folder's ``__init__``.
    """

    name: ClassVar[str]

    @abstractmethod
    def subjects(self) -> tuple[str, ...]:
        """Return the names of all objects whose pose this predicate reads.

        It is evaluated again when one of them has moved.
        """

    @property
    def needs_contacts(self) -> bool:
        """True when the predicate reads contacts."""
        return False

    @property
    def needs_joints(self) -> bool:
        """True when the predicate reads joints: by default if it reads no objects."""
        return not self.subjects()

    def frames(self) -> tuple[str, ...]:
        """Return the names of the objects that only give a frame of reference, without "world" and "robot"."""
        return ()

    @abstractmethod
    def evaluate(self, world: World) -> Finding:
        """Evaluate the predicate on one snapshot.

        Args:
            world: The snapshot.

        Returns:
            The verdict; UNKNOWN if an object is missing.
        """


class LatchedPredicate(Predicate):
    """A condition that also depends on earlier snapshots. It stays pure: its caller keeps the memory."""

    @abstractmethod
    def advance(self, memory: object | None, world: World) -> tuple[Finding, object]:
        """Evaluate the predicate on a snapshot and on its predecessors.

        Args:
            memory: The value that the last call returned; None at the beginning, and after a reset.
            world: The snapshot.

        Returns:
            The verdict, and the memory for the next call.
        """
