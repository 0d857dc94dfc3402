"""Of two nodes of one full name one stays, for every order of their messages."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from handiwork_ros.liveness.bond_events import Sample
from handiwork_ros.node.name_claim import (
    DISCOVERY_S,
    GREATEST_DISCOVERY_S,
    YIELD_S,
    Claim,
    NameClaim,
)

LOW, HIGH = b"\x01" * 16, b"\x02" * 16
RUNNING = Sample(LOW, 1, 3, "", 1234, "lab7")


def claim(gid: bytes) -> NameClaim:
    return NameClaim("/skill_server", gid, 0.0)


def test_a_free_name_is_taken_after_the_discovery_time() -> None:
    made = claim(HIGH)
    made.look(DISCOVERY_S - 0.01, 0.0, 0)
    assert made.state is Claim.LOOKING
    made.look(DISCOVERY_S, 0.0, 0)
    assert made.state is Claim.SOLE


def test_the_search_waits_for_a_writer_without_a_message_but_not_for_ever() -> None:
    made = claim(HIGH)
    made.look(DISCOVERY_S + 0.1, 0.0, 1)
    assert made.state is Claim.LOOKING
    made.look(GREATEST_DISCOVERY_S, 0.0, 1)
    assert made.state is Claim.SOLE


def test_the_search_takes_longer_where_the_scheduler_is_late() -> None:
    made = claim(HIGH)
    made.look(DISCOVERY_S + 0.1, 0.2, 0)
    assert made.state is Claim.LOOKING
    made.look(DISCOVERY_S + 0.1, 0.0, 0)
    assert made.state is Claim.SOLE


def test_a_node_that_runs_already_stays_and_is_named() -> None:
    made = claim(LOW)
    made.receive(replace(RUNNING, gid=HIGH), 0.1)
    assert made.state is Claim.REFUSED
    for part in ("/skill_server", "1234", "lab7", "ROS_DOMAIN_ID", "namespace"):
        assert part in made.refusal


def test_of_two_that_start_at_the_same_time_the_lower_gid_stays() -> None:
    low, high = claim(LOW), claim(HIGH)
    low.receive(Sample(HIGH, 1, 0, "", 2, "b", is_sole=False), 0.1)
    high.receive(Sample(LOW, 1, 0, "", 1, "a", is_sole=False), 0.1)
    assert (low.state, high.state) == (Claim.LOOKING, Claim.REFUSED)
    low.look(DISCOVERY_S, 0.0, 0)
    assert low.state is Claim.SOLE


def test_a_node_that_shuts_down_refuses_no_other() -> None:
    made = claim(HIGH)
    made.receive(replace(RUNNING, is_leaving=True), 0.1)
    made.look(DISCOVERY_S, 0.0, 0)
    assert made.state is Claim.SOLE
    assert not made.warning(DISCOVERY_S)


def test_its_own_messages_are_of_no_other_node() -> None:
    made = claim(LOW)
    assert made.receive(RUNNING, 0.1) == ""
    assert made.state is Claim.LOOKING


def test_one_that_appears_later_is_named_once_in_the_log_and_in_the_status_while_its_messages_come() -> None:
    made = claim(LOW)
    made.look(DISCOVERY_S, 0.0, 0)
    other = Sample(HIGH, 1, 3, "", 77, "lab8")
    assert "pid 77 on lab8" in made.receive(other, 10.0)
    assert made.receive(other, 10.4) == ""
    assert made.state is Claim.SOLE
    assert "pid 77 on lab8" in made.warning(10.5)
    assert made.warning(20.0) == ""


def sole(gid: bytes) -> NameClaim:
    made = claim(gid)
    made.look(DISCOVERY_S, 0.0, 0)
    return made


def test_a_node_that_finds_an_older_one_too_late_yields_to_it() -> None:
    made = sole(LOW)
    made.receive(replace(RUNNING, gid=HIGH, sole_for_s=500.0), DISCOVERY_S + YIELD_S)
    assert made.state is Claim.REFUSED
    assert "1234" in made.refusal


def test_a_node_that_runs_stays_when_a_younger_one_appears() -> None:
    made = sole(HIGH)
    assert "1234" in made.receive(replace(RUNNING, sole_for_s=0.2), 1.0)
    assert made.state is Claim.SOLE


def test_one_that_was_stopped_stays_though_the_other_sent_more_messages_meanwhile() -> None:
    stopped, second = sole(HIGH), claim(LOW)
    second.settle(5.0)
    stopped.receive(replace(RUNNING, sequence=40, sole_for_s=second.sole_for_s(5.5)), 5.6)
    second.receive(replace(RUNNING, gid=HIGH, sequence=8, sole_for_s=stopped.sole_for_s(5.6)), 5.7)
    assert (stopped.state, second.state) == (Claim.SOLE, Claim.REFUSED)


def test_no_node_yields_while_the_other_still_searches_or_when_it_has_run_for_long() -> None:
    made = sole(LOW)
    made.receive(replace(RUNNING, gid=HIGH, sole_for_s=500.0, is_sole=False), 1.0)
    made.receive(replace(RUNNING, gid=HIGH, sole_for_s=500.0), DISCOVERY_S + YIELD_S + 0.1)
    assert made.state is Claim.SOLE


def test_of_two_that_found_the_name_free_together_the_lower_gid_stays() -> None:
    low, high = sole(LOW), sole(HIGH)
    low.receive(replace(RUNNING, gid=HIGH, sole_for_s=0.55), DISCOVERY_S + 0.5)
    high.receive(replace(RUNNING, gid=LOW, sole_for_s=0.45), DISCOVERY_S + 0.5)
    assert (low.state, high.state) == (Claim.SOLE, Claim.REFUSED)


@given(
    ages=st.tuples(st.floats(0.0, 5.0), st.floats(0.0, 5.0)),
    delays=st.lists(st.floats(0.0, 3.0), min_size=2, max_size=12),
)
def test_of_two_ages_and_for_any_delays_of_messages_one_stays(
    ages: tuple[float, float], delays: list[float]
) -> None:
    now_s = 20.0
    made = {gid: claim(gid) for gid in (LOW, HIGH)}
    for node, age_s in zip(made.values(), ages, strict=True):
        node.settle(now_s - age_s)
    for index, delay_s in enumerate([*delays, 0.0, 0.0]):
        reader, writer = ((LOW, HIGH), (HIGH, LOW))[index % 2]
        if made[writer].state is Claim.SOLE:
            age_s = max(0.0, made[writer].sole_for_s(now_s) - delay_s)
            made[reader].receive(replace(RUNNING, gid=writer, sole_for_s=age_s), now_s)
    assert sorted(node.state.value for node in made.values()) == ["refused", "sole"]


def test_a_node_that_did_not_search_never_yields() -> None:
    made = claim(HIGH)
    made.settle()
    made.receive(replace(RUNNING, sole_for_s=500.0), 0.1)
    assert made.state is Claim.SOLE
