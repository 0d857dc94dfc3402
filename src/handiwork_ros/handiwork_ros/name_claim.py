"""The claim of a node to be the only one of its full name. Knows no ROS."""

from __future__ import annotations

from enum import Enum

from .bond import Sample
from .silence_limits import SILENCE_S, silence_limit_s

DISCOVERY_S = 0.5
"""Time in which a node of the same name is discovered and heard, on a machine without delay [s]."""

GREATEST_DISCOVERY_S = 2.0
"""A writer that was discovered, and not heard yet, is waited for until then [s]."""


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
        self._others: dict[bytes, tuple[float, str]] = {}

    def hear(self, sample: Sample, now_s: float) -> str:
        """Take a message of the bond's topic.

        A node that has found its name free stays. Of two that look at the same time the one with the lower GID stays.

        Returns:
            A sentence when another node of this name is heard for the first time, else an empty text.
        """
        if sample.gid == self._gid or sample.is_leaving:
            self._others.pop(sample.gid, None)
            return ""
        is_new = sample.gid not in self._others
        text = f"pid {sample.pid} on {sample.host or 'an unnamed host'}"
        self._others[sample.gid] = (now_s, text)
        if self.state is Claim.LOOKING and (sample.is_sole or sample.gid < self._gid):
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
            self.state = Claim.SOLE

    def heard(self) -> frozenset[bytes]:
        """Return the GIDs of the other writers that were heard."""
        return frozenset(self._others)

    def warning(self, now_s: float) -> str:
        """Return who else of this name was heard lately, for the node's status; empty for nobody."""
        texts = [text for heard_s, text in self._others.values() if now_s - heard_s <= 2.0 * SILENCE_S]
        return f"another {self._full_name} runs as {' and as '.join(texts)}" if texts else ""
