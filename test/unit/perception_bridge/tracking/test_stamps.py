"""Clocks that are off are named."""

from __future__ import annotations

import pytest

from perception_bridge.tracking.stamps import stamp_fault


@pytest.mark.parametrize(
    ("stamp_s", "words"),
    [(99.8, ""), (100.05, ""), (0.0, "no stamp"), (103.0, "3.00 s ahead"), (95.0, "5.00 s old")],
)
def test_a_stamp_that_cannot_be_true_is_named(stamp_s: float, words: str) -> None:
    fault = stamp_fault(stamp_s, 100.0, 1.0)
    assert (words in fault) if words else not fault
