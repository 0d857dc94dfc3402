"""What a search has tried, and what was in the way: the words of a clear failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from handiwork_core.model.outcome import BodyPair

MOST_CAUSES = 3


@dataclass(slots=True)
class Attempts:
    """Ways of one kind that were judged.

    Attributes:
        tried: Their number.
        good: Number of those that can be done.
        causes: Number of the others by cause.
    """

    tried: int = 0
    good: int = 0
    causes: Counter[str] = field(default_factory=Counter)

    def add(self, causes: Iterable[str]) -> None:
        """Add judged ways.

        Args:
            causes: Cause for which each cannot be done; empty for one that can.
        """
        for cause in causes:
            self.tried += 1
            self.good += not cause
            if cause:
                self.causes[cause] += 1

    def words(self, what: str) -> str:
        """Return a clause such as ``grasps: 3 of 40 possible (20 NO_IK at grasp)``.

        Args:
            what: Name of the ways.
        """
        most = ", ".join(f"{n} {cause}" for cause, n in self.causes.most_common(MOST_CAUSES))
        return f"{what}: {self.good} of {self.tried} possible" + (f" ({most})" if most else "")


@dataclass(slots=True)
class Tally:
    """All that a search has tried.

    Attributes:
        grasps: Grasps at placements.
        put_downs: Releases at placements on the way.
        places: Grasps by whether the object can be brought to its place with them.
        reached: Number of placements that were reached.
        blocking: The bodies that were last in the way.
    """

    grasps: Attempts = field(default_factory=Attempts)
    put_downs: Attempts = field(default_factory=Attempts)
    places: Attempts = field(default_factory=Attempts)
    reached: int = 0
    blocking: BodyPair | None = None

    @property
    def words(self) -> str:
        """All in one sentence without a stop."""
        kinds = {
            "grasps": self.grasps,
            "put down": self.put_downs,
            "grasps that serve the place": self.places,
        }
        return "; ".join(one.words(what) for what, one in kinds.items() if one.tried)
