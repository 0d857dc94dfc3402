"""The predicate contract: a pure function of one world snapshot with three values and its evidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import IntEnum
from typing import ClassVar, NamedTuple

from handiwork_core.model.world import World


class Truth(IntEnum):
    """Numbers equal those in ``handiwork_msgs/msg/Condition``."""

    UNKNOWN = 0
    FALSE = 1
    TRUE = 2

    @classmethod
    def of(cls, value: bool) -> Truth:
        """TRUE or FALSE."""
        return cls.TRUE if value else cls.FALSE


class Evidence(NamedTuple):
    """One number that decided: name, value, unit ("m", "N", "rad", "" for none), and what it was measured on."""

    name: str
    value: float
    unit: str = ""
    subject: str = ""


class Finding(NamedTuple):
    """A verdict.

    Value, the margin to the boundary in the predicate's own unit (> 0 exactly when TRUE, nan when UNKNOWN), a
    sentence with numbers, and the evidence.
    """

    truth: Truth
    margin: float
    reason: str
    evidence: tuple[Evidence, ...] = ()

    @classmethod
    def unknown(cls, reason: str) -> Finding:
        """What cannot be known, and why."""
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
        """Names of all objects whose pose this predicate reads: it is decided anew when one of them has moved."""

    @property
    def needs_contacts(self) -> bool:
        """True when it reads contacts."""
        return False

    @property
    def needs_joints(self) -> bool:
        """True when it reads joints: by default those without objects."""
        return not self.subjects()

    def frames(self) -> tuple[str, ...]:
        """Names of the objects whose frame is only a point of view; not "world", not "robot"."""
        return ()

    @abstractmethod
    def evaluate(self, world: World) -> Finding:
        """Decide for one snapshot."""


class LatchedPredicate(Predicate):
    """A condition that also depends on what was before. It stays pure: whoever watches it keeps its memory."""

    @abstractmethod
    def advance(self, memory: object | None, world: World) -> tuple[Finding, object]:
        """Decide for a snapshot after those that made ``memory``; None is the beginning, as after a reset."""
