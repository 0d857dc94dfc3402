"""Five minutes of faults at random beside ten busy processes: no promise is broken."""

from __future__ import annotations

import pytest

from handiwork_cli.chaos.ros.campaign import ChaosPlan, run_campaign

MINUTES, LOAD = 5.0, 10


@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("nothing_left_over")
@pytest.mark.parametrize("seed", [1, 2])
def test_no_false_result_and_no_motion_without_a_goal(seed: int) -> None:
    plan = ChaosPlan("fr3", seed, goals=10_000, minutes=MINUTES, load=LOAD, real_time_factor=1.0)
    findings = run_campaign(plan, print, print)
    assert findings.is_good, "\n".join(findings.lines())
