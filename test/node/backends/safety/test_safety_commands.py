"""``handiwork stop`` and ``handiwork safety`` against a running simulation."""

from __future__ import annotations

import pytest

from handiwork_core.control.goal_refusal import ErrorCode
from support.commands import handiwork
from support.nodes.ros_stage import wait_for
from support.nodes.sim_client import ABORTED, SUCCEEDED, Client

DONE, REFUSED = 0, 1


@pytest.fixture(autouse=True)
def ready(client: Client) -> None:
    """Bring the simulation to normal mode, after any earlier test."""
    handiwork("safety", "reset")
    handiwork("safety", "recover")
    assert handiwork("safety", "speed", "1")[0] == DONE
    code, out, _ = handiwork("safety")
    assert code == DONE
    assert out.startswith("NORMAL, speed scale 1\n")


def test_the_state_is_shown_with_the_limits_in_force() -> None:
    code, out, err = handiwork("safety", "state")
    assert (code, err) == (DONE, "")
    lines = out.splitlines()
    assert lines[0] == "NORMAL, speed scale 1"
    assert lines[1].startswith("stops: ")
    assert [line.split(":")[0].strip() for line in lines[2:4]] == ["position", "velocity"]


@pytest.mark.parametrize("words", [["stop"], ["safety", "stop"]], ids=" ".join)
def test_a_stop_ends_a_motion_and_is_left_by_reset_and_recover(client: Client, words: list[str]) -> None:
    handle = client.send(client.arm, client.motion(2.0, 60.0))
    wait_for(lambda: client.speed() > 0.01, 60.0)
    code, out, err = handiwork(*words)
    assert (code, err) == (DONE, "")
    assert out.startswith("emergency stop: requested by a service call")
    answer = client.result(handle)
    assert (answer.status, answer.result.error_code) == (ABORTED, int(ErrorCode.EMERGENCY_STOP))
    code, out, _ = handiwork("safety")
    assert code == REFUSED
    assert out.startswith("EMERGENCY_STOP")
    assert "(stop category 1, at rest)" in out
    code, out, err = handiwork("safety", "recover")
    assert (code, out) == (REFUSED, "")
    assert "safety/reset first" in err
    assert handiwork("safety", "reset")[0] == DONE
    code, out, _ = handiwork("safety")
    assert code == REFUSED
    assert out.startswith("PROTECTIVE_STOP")
    assert handiwork("safety", "recover")[:2] == (DONE, "the state is NORMAL\n")
    assert client.result(client.send(client.arm, client.motion(0.1, 1.0))).status == SUCCEEDED


def test_the_speed_is_reduced_and_a_bad_scale_is_refused() -> None:
    assert handiwork("safety", "speed", "0.25")[:2] == (DONE, "the state is REDUCED\n")
    code, out, _ = handiwork("safety")
    assert code == DONE
    assert out.startswith("REDUCED, speed scale 0.25\n")
    code, _, err = handiwork("safety", "speed", "1.5")
    assert code == REFUSED
    assert "1.5" in err
    code, _, err = handiwork("safety", "speed")
    assert code == REFUSED
    assert "give a scale" in err
