"""What is measured of a gripper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handiwork_core.model.geometry import Array

ROWS = 9
TIP_M = 0.02
"""Points this near to the farthest point of the fingers belong to the fingertip, m."""
LINE_M = 0.0005
STEP_M = 2e-5
"""Least difference of the openings of two rows, m: robot.yaml has five decimals."""
FLAT_M = 1e-4
"""Openings of two rows that differ by less are the same, m."""
BUMP_M = 0.0015
"""Largest step back of an opening that counts as a bump of the shapes, m."""


@dataclass(frozen=True, slots=True, eq=False)
class GripperFacts:
    """The measured facts. Axes are those of the EE frame, 0 to 2.

    Attributes:
        rows: Joint position, rad or m, and opening, m, (n, 2).
        closing: Unit direction in which the fingers move apart, (3,).
        tcp_m: The TCP in the EE frame, (3,), m.
        finger_links: Links of the fingertips.
        ahead: Unit direction from the hand to the fingertips, (3,); None: along ``ee_axis``.
        note: Why the maker's TCP frame was not taken; empty: it was, or there is none.
    """

    rows: Array
    closing: Array
    tcp_m: Array
    finger_links: tuple[str, ...]
    ahead: Array | None = None
    note: str = ""

    @property
    def closing_axis(self) -> int:
        """Index of the axis along which the fingers close."""
        return int(np.abs(self.closing).argmax())

    @property
    def ee_axis(self) -> int:
        """Index of the axis towards the TCP."""
        return int(np.abs(self.tcp_m).argmax())

    @property
    def slope(self) -> float | None:
        """Opening per joint position, if it is constant and the opening is zero at zero; else None."""
        x, y = self.rows.T
        # Rounded shapes may hold nearly closed fingers apart: the wider half is more reliable.
        factor = float((y[-1] - y[ROWS // 2]) / (x[-1] - x[ROWS // 2]))
        return round(factor, 4) if np.abs(factor * x - y).max() < LINE_M else None


def rising(widths: Array) -> Array | None:
    """Return openings that rise or fall at every row, with bumps of the shapes levelled.

    Args:
        widths: Measured openings, (n,), m.

    Returns:
        The openings, (n,), m; None if they turn back by more than ``BUMP_M``, or hardly change in a third of the rows.
    """
    if widths[-1] < widths[0]:
        back = rising(widths[::-1])
        return None if back is None else back[::-1]
    level = np.maximum.accumulate(widths)
    if float((level - widths).max()) > BUMP_M or level[-1] - level[0] < 2.0 * BUMP_M:
        return None
    if (np.diff(level) < FLAT_M).sum() > len(level) // 3:
        return None
    # A table of openings must rise at every row.
    steps = STEP_M * np.arange(len(level))
    return np.asarray(np.maximum.accumulate(level - steps) + steps, dtype=np.float64)
