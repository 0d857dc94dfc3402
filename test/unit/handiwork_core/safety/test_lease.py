"""The heartbeat lease: which motions are stopped when the heartbeat is lost, and at what time."""

from __future__ import annotations

from handiwork_core.safety.lease import LONGEST_EXTENSION_S, HeartbeatLease

PERIOD_S = 0.02


def yield_until_clear(lease: HeartbeatLease, start_s: float, end_s: float) -> tuple[frozenset[str], float]:
    """Tick until a lease is lost or ``end_s`` is reached; return the lost arms and the time."""
    now_s = start_s
    while now_s < end_s:
        if lost := lease.tick(now_s):
            return lost, now_s
        now_s += PERIOD_S
    return frozenset(), now_s


def test_a_silent_holder_loses_the_arms_that_it_supervises() -> None:
    lease = HeartbeatLease(0.5, PERIOD_S)
    lease.renew("skill_server", ["left", "left_gripper"], 10.0)
    lost, at_s = yield_until_clear(lease, 10.0, 20.0)
    assert lost == {"left", "left_gripper"}
    assert 10.5 < at_s <= 10.5 + 2.0 * PERIOD_S
    assert yield_until_clear(lease, at_s + PERIOD_S, 30.0)[0] == frozenset()


def test_a_heartbeat_in_time_keeps_the_lease() -> None:
    lease = HeartbeatLease(0.5, PERIOD_S)
    for beat in range(100):
        lease.renew("skill_server", ["left"], 10.0 + 0.05 * beat)
        assert lease.tick(10.0 + 0.05 * beat) == frozenset()


def test_a_client_without_a_heartbeat_holds_no_lease() -> None:
    lease = HeartbeatLease(0.5, PERIOD_S)
    lease.accept("left", 10.0)
    assert yield_until_clear(lease, 10.0, 15.0)[0] == frozenset()


def test_a_goal_that_begins_between_two_heartbeats_is_supervised_until_the_next_one_says_otherwise() -> None:
    lease = HeartbeatLease(0.5, PERIOD_S)
    lease.renew("skill_server", [], 10.0)
    lease.accept("left", 10.01)
    assert yield_until_clear(lease, 10.02, 15.0)[0] == {"left"}
    lease.renew("skill_server", [], 20.0)
    lease.accept("left", 20.01)
    lease.renew("skill_server", [], 20.05)
    assert yield_until_clear(lease, 20.06, 25.0)[0] == frozenset()


def test_the_delay_of_this_process_extends_the_timeout_up_to_a_bound() -> None:
    lease = HeartbeatLease(0.5, PERIOD_S)
    lease.tick(10.0)
    lease.renew("skill_server", ["left"], 10.0)
    # This process was held up for 0.6 s: the heartbeats of that time may still be waiting to be read.
    assert lease.tick(10.6) == frozenset()
    lost, at_s = yield_until_clear(lease, 10.62, 15.0)
    assert lost == {"left"} and 11.0 < at_s < 11.2
    lease.tick(20.0)
    lease.tick(40.0)
    assert lease.timeout_s == 0.5 + LONGEST_EXTENSION_S
