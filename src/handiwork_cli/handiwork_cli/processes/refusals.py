"""Exit codes after which a process is not started again, for the runner and for ROS's own launch."""

from __future__ import annotations

import math

MOST_REFUSALS = {2: 1, 69: 3}
"""The refusals in a row, for each exit code, after which a process is not started again: only a person can help.

2 is a bad configuration; 69 (EX_UNAVAILABLE of sysexits.h) a second node of its name, whose first one may just end.
"""

ADVICE = "not started again: correct what it says above"


class Refusals:
    """The refusals in a row of one process."""

    def __init__(self) -> None:
        self._count = 0

    def ends_with(self, code: int) -> bool:
        """Take an end of the process.

        Args:
            code: Its exit code; negative for a signal.

        Returns:
            True when the process is not to be started again.
        """
        self._count = self._count + 1 if code in MOST_REFUSALS else 0
        return self._count >= MOST_REFUSALS.get(code, math.inf)
