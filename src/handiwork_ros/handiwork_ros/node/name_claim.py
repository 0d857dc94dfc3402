"""The claim of a node to be the only one of its full name. Knows no ROS."""

from __future__ import annotations

from enum import Enum

from handiwork_ros.liveness.bond import Sample
from handiwork_ros.rclpy_support.silence_limits import SILENCE_S, silence_limit_s

DISCOVERY_S = 0.5
"""Time in which a node of the same name is discovered and heard, on a machine without delay [s]."""

GREATEST_DISCOVERY_S = 2.0
"""A writer that was discovered, and not heard yet, is waited for until then [s]."""

YIELD_S = 10.0
"""A node that hears an older one of its name this soon after its search ends itself: discovery came too late [s]."""

SAME_AGE = 2
"""Nodes whose writers have sent numbers of messages that differ by no more began together."""


class Claim(Enum):
    """How far a claim is."""

    LOOKING = "looking"
    SOLE = "sole"
    REFUSED = "refused"


class NameClaim:
    """Decides whether a node may start, and names another node of its name that appears later."""

    def __init__(self, full_name: str, gid: bytes, now_s: float) -> None:
        """Begin to look.

        Args:
            full_name: of the node, with its namespace.
            gid: of the node's own bond writer.
            now_s: steady time [s].
        """
        self._full_name, self._gid, self._begun_s = full_name, gid, now_s
        self.state = Claim.LOOKING
        self.refusal = ""
        """Why the node may not start."""
        self._sole_s = float("-inf")
        self._others: dict[bytes, tuple[float, str]] = {}

    def settle(self, now_s: float = float("-inf")) -> None:
        """Hold the name for free; a search that ended at ``now_s`` may prove to have been too short."""
        self.state, self._sole_s = Claim.SOLE, now_s

    def hear(self, sample: Sample, now_s: float, sent: int = 0) -> str:
        """Take a message of the bond's topic.

        A node that has found its name free stays, unless it hears within ``YIELD_S`` that an older one did before. Of
        two that began together the one with the lower GID stays.

        Args:
            sample: the message, with the number that DDS gave it.
            now_s: steady time [s].
            sent: how many messages the own writer has sent.

        Returns:
            A sentence when another node of this name is heard for the first time, else an empty text.
        """
        if sample.gid == self._gid or sample.is_leaving:
            self._others.pop(sample.gid, None)
            return ""
        is_new = sample.gid not in self._others
        text = f"pid {sample.pid} on {sample.host or 'an unnamed host'}"
        self._others[sample.gid] = (now_s, text)
        if self._is_to_yield(sample, now_s, sent):
            self.state = Claim.REFUSED
            self.refusal = (
                f"{self._full_name} runs already in this DDS domain as {text}; end that process, "
                "or start this one with another ROS_DOMAIN_ID or namespace"
            )
        return f"another {self._full_name} runs as {text}; end one of them" if is_new else ""

    def look(self, now_s: float, delay_s: float, unheard: int) -> None:
        """Settle the claim once nobody can be expected any more.

        Args:
            now_s: steady time [s].
            delay_s: scheduling delay of this process, by which discovery takes longer [s].
            unheard: how many other writers of the topic the graph lists that were not heard yet.
        """
        waited_s = now_s - self._begun_s
        limit_s = GREATEST_DISCOVERY_S if unheard > 0 else silence_limit_s(DISCOVERY_S, delay_s)
        if self.state is Claim.LOOKING and waited_s >= limit_s:
            self.settle(now_s)

    def heard(self) -> frozenset[bytes]:
        """Return the GIDs of the other writers that were heard."""
        return frozenset(self._others)

    def warning(self, now_s: float) -> str:
        """Return who else of this name was heard lately, for the node's status; empty for nobody."""
        texts = [text for heard_s, text in self._others.values() if now_s - heard_s <= 2.0 * SILENCE_S]
        return f"another {self._full_name} runs as {' and as '.join(texts)}" if texts else ""

    def _is_to_yield(self, sample: Sample, now_s: float, sent: int) -> bool:
        if self.state is Claim.LOOKING:
            return sample.is_sole or sample.gid < self._gid
        if self.state is Claim.REFUSED or not sample.is_sole or now_s - self._sole_s > YIELD_S:
            return False
        if abs(sample.sequence - sent) <= SAME_AGE:
            return sample.gid < self._gid
        return sample.sequence > sent
