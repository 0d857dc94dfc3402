"""Whether the time of a message can be true."""

from __future__ import annotations

AHEAD_S = 0.1
"""Clocks of synchronised machines differ by less, s."""


def stamp_fault(stamp_s: float, now_s: float, max_age_s: float) -> str:
    """Return why the time of a message is not believed; empty for a good one.

    Args:
        stamp_s: Its time, s.
        now_s: The time of this node's clock, s.
        max_age_s: Greatest age, s.
    """
    if stamp_s <= 0.0:
        return "has no stamp; set header.stamp to the time of the image"
    age_s = now_s - stamp_s
    if age_s < -AHEAD_S:
        return (
            f"has a stamp {-age_s:.2f} s ahead of this clock; synchronise the clocks, or check use_sim_time"
        )
    if age_s > max_age_s:
        text = f"is {age_s:.2f} s old, more than tracking.max_age {max_age_s:g} s"
        return f"{text}; synchronise the clocks, check use_sim_time, or raise max_age"
    return ""
