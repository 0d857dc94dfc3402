"""The claim of a node to be the only one of its full name. Without ROS."""

from __future__ import annotations

from enum import Enum

from handiwork_ros.liveness.bond_events import Sample
from handiwork_ros.rclpy_support.silence_limits import SILENCE_S, silence_limit_s

DISCOVERY_S = 0.5
"""The time in which a node of the same name is discovered and its message arrives, on a machine without delay, s."""

GREATEST_DISCOVERY_S = 2.0
"""The longest wait for the first message of a writer that was discovered, s."""

YIELD_S = 10.0
"""The time after its search in which a node ends itself if an older one of its name appears, s.

Discovery was too slow in that case.
"""

SAME_AGE_S = 0.1
"""The largest difference between the ages of two nodes that found the name free together, s."""


class Claim(Enum):
    """The states of a claim."""

    LOOKING = "looking"
    SOLE = "sole"
    REFUSED = "refused"


class NameClaim:
    """Decides whether a node may start, and names another node of its name that appears later."""

    def __init__(self, full_name: str, gid: bytes, now_s: float) -> None:
        """Begin the search.

        Args:
            full_name: Name of the node, with its namespace.
            gid: GID of the node's own bond writer.
            now_s: Steady time, s.
        """
        self._full_name, self._gid, self._begun_s = full_name, gid, now_s
        self.state = Claim.LOOKING
        self.refusal = ""
        """The reason why the node may not start; empty while it may."""
        self._sole_s = float("-inf")
        self._others: dict[bytes, tuple[float, str]] = {}

    def settle(self, now_s: float = float("-inf")) -> None:
        """Consider the name as free.

        Args:
            now_s: Steady time at the end of the search, s, which may prove to have been too short; -inf for no search.
        """
        self.state, self._sole_s = Claim.SOLE, now_s

    def sole_for_s(self, now_s: float) -> float:
        """Return the time since the name was found free, s; 0 during the search.

        The time of a process that is stopped counts as well, so that the first of two stays the older one.

        Args:
            now_s: Steady time, s.
        """
        return now_s - max(self._sole_s, self._begun_s) if self.state is Claim.SOLE else 0.0

    def receive(self, sample: Sample, now_s: float) -> str:
        """Process a message of the bond's topic.

        A node that has found its name free stays, unless it receives within ``YIELD_S`` a message of a node that did so
        before. Of two nodes that did so together the one with the lower GID stays. A message that comes late makes its
        node look younger: the two may both stay until the next message, but never both yield.

        Args:
            sample: The message.
            now_s: Steady time, s.

        Returns:
            A sentence at the first message of another node of this name, otherwise an empty text.
        """
        if sample.gid == self._gid or sample.is_leaving:
            self._others.pop(sample.gid, None)
            return ""
        is_new = sample.gid not in self._others
        text = f"pid {sample.pid} on {sample.host or 'an unnamed host'}"
        self._others[sample.gid] = (now_s, text)
        if self._is_to_yield(sample, now_s):
            self.state = Claim.REFUSED
            self.refusal = (
                f"{self._full_name} runs already in this DDS domain as {text}; end that process, "
                "or start this one with another ROS_DOMAIN_ID or namespace"
            )
        return f"another {self._full_name} runs as {text}; end one of them" if is_new else ""

    def look(self, now_s: float, delay_s: float, unknown: int) -> None:
        """Settle the claim once no further node of this name can be expected.

        Args:
            now_s: Steady time, s.
            delay_s: Scheduling delay of this process, by which discovery takes longer, s.
            unknown: Number of other writers of the topic that the graph lists and from which no message came yet.
        """
        waited_s = now_s - self._begun_s
        limit_s = GREATEST_DISCOVERY_S if unknown > 0 else silence_limit_s(DISCOVERY_S, delay_s)
        if self.state is Claim.LOOKING and waited_s >= limit_s:
            self.settle(now_s)

    def known_gids(self) -> frozenset[bytes]:
        """Return the GIDs of the other writers from which messages came."""
        return frozenset(self._others)

    def warning(self, now_s: float) -> str:
        """Return the other nodes of this name from which messages came recently, for the node's status.

        Args:
            now_s: Steady time, s.

        Returns:
            A sentence; empty if there is no other node.
        """
        texts = [text for heard_s, text in self._others.values() if now_s - heard_s <= 2.0 * SILENCE_S]
        return f"another {self._full_name} runs as {' and as '.join(texts)}" if texts else ""

    def _is_to_yield(self, sample: Sample, now_s: float) -> bool:
        if self.state is Claim.LOOKING:
            return sample.is_sole or sample.gid < self._gid
        if self.state is Claim.REFUSED or not sample.is_sole or now_s - self._sole_s > YIELD_S:
            return False
        older_s = sample.sole_for_s - self.sole_for_s(now_s)
        return sample.gid < self._gid if abs(older_s) <= SAME_AGE_S else older_s > 0.0
