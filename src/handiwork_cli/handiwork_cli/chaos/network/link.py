"""A link that loses, delays and reorders packets by a seed. No input or output."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class LinkCondition:
    """The faults of a link, for each direction.

    Attributes:
        loss: Share of the packets that is lost, 0 to 1.
        delay_s: Mean delay, s.
        jitter_s: Greatest difference of a packet's delay from the mean, s. Packets overtake one another by it.
    """

    loss: float = 0.0
    delay_s: float = 0.0
    jitter_s: float = 0.0


class FaultyLink:
    """The packets that are under way between two sides, 0 and 1. Times are steady, s.

    Args:
        seed: Gives the same losses and delays for the same packets.
    """

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._condition, self._cut_until_s = LinkCondition(), 0.0
        self._under_way: list[tuple[float, int, int, bytes]] = []
        self.taken, self.lost = 0, 0

    def set(self, condition: LinkCondition) -> None:
        """Choose the faults of the packets from now on.

        Args:
            condition: The faults.
        """
        self._condition = condition

    def cut(self, until_s: float) -> None:
        """Lose every packet until a time.

        Args:
            until_s: The end of the outage; one in the past ends it.
        """
        self._cut_until_s = until_s

    def take(self, side: int, packet: bytes, now_s: float) -> None:
        """Take a packet from a side.

        Args:
            side: The side that sent it.
            packet: The packet.
            now_s: The time.
        """
        self.taken += 1
        condition, chance, spread = self._condition, self._random.random(), self._random.uniform(-1.0, 1.0)
        if now_s < self._cut_until_s or chance < condition.loss:
            self.lost += 1
            return
        at_s = now_s + max(0.0, condition.delay_s + spread * condition.jitter_s)
        heapq.heappush(self._under_way, (at_s, self.taken, 1 - side, packet))

    def due(self, now_s: float) -> list[tuple[int, bytes]]:
        """Return the packets that arrive now, in the order of their arrival, with the side at which they do.

        Args:
            now_s: The time.
        """
        found = []
        while self._under_way and self._under_way[0][0] <= now_s:
            _, _, side, packet = heapq.heappop(self._under_way)
            found.append((side, packet))
        return found

    def wait_s(self, now_s: float, most_s: float) -> float:
        """Return the time until the next arrival [s], at most ``most_s``.

        Args:
            now_s: The time.
            most_s: The longest wait, s.
        """
        return max(0.0, min(most_s, self._under_way[0][0] - now_s)) if self._under_way else most_s
