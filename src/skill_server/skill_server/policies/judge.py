"""The judge of a run: the conditions that the monitor watches."""

from __future__ import annotations

from collections.abc import Sequence

from handiwork_core.contracts.predicate import Truth
from handiwork_core.contracts.reactive import WatchedCondition, WatchedConditions
from handiwork_policy.verdicts.judged import Judged

SILENT_S = 2.0
"""A table that is older than this is not trusted, s of steady time; the monitor sends one at least each second."""


class MonitorJudge:
    """See ``Judge`` of ``handiwork_policy``.

    Args:
        conditions: The monitor.
        keys: Keys of ``until``, then of each subtask.
        since_s: Verdicts on an older world do not count, s of the robot's world.
    """

    def __init__(self, conditions: WatchedConditions, keys: Sequence[str], since_s: float) -> None:
        self._conditions, self._keys, self._since_s = conditions, tuple(keys), since_s

    def begin(self, since_s: float) -> None:
        """Let older verdicts not count any more.

        Args:
            since_s: Time of the world, s.
        """
        self._since_s = since_s

    def is_fresh(self) -> bool:
        """Return True once the monitor has judged a world that is new enough."""
        table = self._conditions.table()
        found = None if table is None else table.conditions.get(self._keys[0])
        return found is not None and found.stamp_s >= self._since_s

    def look(self) -> tuple[Judged, ...]:
        """See ``Judge``; a condition that is not watched any more, or not judged for long, is not TRUE."""
        table = self._conditions.table()
        if table is None or table.age_s > SILENT_S:
            text = (
                "the monitor sends no conditions" if table is None else f"sent none for {table.age_s:.1f} s"
            )
            return tuple(Judged(False, False, f"{text}; check conditionals_node") for _ in self._keys)
        return tuple(self._judged(table.conditions, key) for key in self._keys)

    def _judged(self, conditions: dict[str, WatchedCondition], key: str) -> Judged:
        found = conditions.get(key)
        if found is None:
            return Judged(False, False, f"the monitor does not watch {key} any more")
        if found.stamp_s < self._since_s:
            return Judged(False, False, "the monitor has not judged it since")
        return Judged(found.truth is Truth.TRUE, found.is_confirmed, found.reason, found.margin)
