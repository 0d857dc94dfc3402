"""Goals that come through a network which loses packets, delays them or is down for a while end as promised."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SKIPPED = 77
GOALS = 5
"""No fault, 5 % and 20 % of the packets lost, 0.1 s of delay, an outage of 3 s: the client may give up none."""
END_S = 600.0


@pytest.mark.usefixtures("nothing_left_over")
def test_no_goal_is_given_up_or_ends_falsely_on_a_bad_network() -> None:
    command = [str(Path(sys.executable).parent / "handiwork"), "chaos", "--network", "--seed", "1"]
    ended = subprocess.run(
        [*command, "--goals", str(GOALS), "--real-time-factor", "2"],
        capture_output=True,
        text=True,
        timeout=END_S,
        check=False,
    )
    if ended.returncode == SKIPPED:
        pytest.skip(ended.stdout.splitlines()[0])
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr[-4000:]}"
    assert f"{GOALS} goals, seed 1: 0 false OK, 0 false endings, 0 lost" in ended.stdout
    assert "network_outage 1" in ended.stdout
