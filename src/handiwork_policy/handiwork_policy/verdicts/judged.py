"""What a monitor says of a condition."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Judged:
    """What the monitor says of one condition at one moment.

    Attributes:
        is_true: It is TRUE.
        is_confirmed: It has been TRUE for a while, with its objects at rest.
        reason: The monitor's sentence.
        margin: Its margin in its own unit; nan without one.
    """

    is_true: bool
    is_confirmed: bool
    reason: str
    margin: float = float("nan")
