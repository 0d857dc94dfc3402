"""The conditions node in this process: latched state, events, and responses to good and bad requests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handiwork_msgs.msg import Condition, ObjectState, ObjectStates, Outcome
from handiwork_msgs.srv import EvaluateCondition, UnwatchCondition, WatchCondition

from handiwork_ros.rclpy_support.qos import LATEST
from handiwork_viz.condition_table import table_lines, why_lines
from support.nodes.conditions_peer import Peer, playing

PAUSE_TABLES = 5
"""Tables without a change, one a second of steady time: longer than the accepted silence and than two beats."""
KEY = "object_in_container(object=cube, container=bin)"


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    file = tmp_path / "conditions.yaml"
    file.write_text("conditions: [{name: object_in_container, args: {object: cube, container: bin}}]")
    with playing(file) as found:
        yield found


def test_what_is_watched_follows_the_world(peer: Peer) -> None:
    peer.wait(lambda: peer.value(KEY) == Condition.TRUE)
    assert peer.latest[KEY].margin == pytest.approx(0.2)
    peer.cube_x = 0.5
    peer.wait(lambda: peer.value(KEY) == Condition.FALSE)
    assert "0.300 m" in peer.latest[KEY].reason
    peer.wait(lambda: [event.value for event in peer.events][-2:] == [Condition.TRUE, Condition.FALSE])
    assert peer.latest[KEY].evidence[0].value == pytest.approx(-0.3)


def test_watch_evaluate_and_unwatch(peer: Peer) -> None:
    answer = peer.call(WatchCondition.Request(name="object_grabbed", args="{object: cube}"))
    assert (answer.outcome.code, answer.key) == (Outcome.OK, "object_grabbed(object=cube)")
    peer.wait(lambda: peer.value(answer.key) == Condition.FALSE)
    asked = peer.call(EvaluateCondition.Request(name="object_grabbed", args="{object: ghost}"))
    assert (asked.outcome.code, asked.condition.value) == (Outcome.OK, Condition.UNKNOWN)
    assert "'ghost'" in asked.condition.reason
    assert peer.call(UnwatchCondition.Request(key=answer.key)).outcome.code == Outcome.OK
    peer.wait(lambda: answer.key not in peer.latest)


def test_another_hold_of_what_is_watched_is_refused_and_no_hold_keeps_it(peer: Peer) -> None:
    def watch(hold: float) -> Outcome:
        args = "{object: cube, container: bin}"
        return peer.call(WatchCondition.Request(name="object_in_container", args=args, hold=hold)).outcome

    outcome = watch(0.5)
    assert (outcome.code, outcome.field) == (Outcome.BAD_GOAL, "hold")
    assert "watched with 0; unwatch it first" in outcome.message
    assert watch(0.0).code == Outcome.OK


def test_a_misspelt_object_is_accepted_with_a_hint(peer: Peer) -> None:
    peer.wait(lambda: peer.value(KEY) == Condition.TRUE)  # names of objects are known with the first world
    args = "{object: cbue, container: bin}"
    outcome = peer.call(WatchCondition.Request(name="object_in_container", args=args)).outcome
    assert outcome.code == Outcome.OK
    assert "no object 'cbue' is in the world, did you mean 'cube'?" in outcome.message
    outcome = peer.call(WatchCondition.Request(name="object_upright", args="{object: cube}")).outcome
    assert (outcome.code, outcome.message) == (Outcome.OK, "")


@pytest.mark.parametrize(
    ("name", "args", "field", "word"),
    [
        ("object_grabed", "{object: cube}", "name", "'object_grabbed'"),
        ("object_grabbed", "{thing: cube}", "args", "thing"),
        ("object_grabbed", "[", "args", "YAML"),
    ],
)
def test_bad_requests_name_field_and_mend(peer: Peer, name: str, args: str, field: str, word: str) -> None:
    for kind in (WatchCondition, EvaluateCondition):
        outcome = peer.call(kind.Request(name=name, args=args)).outcome
        assert (outcome.code, outcome.field) == (Outcome.BAD_GOAL, field)
        assert word in outcome.message
    unwatched = peer.call(UnwatchCondition.Request(key="nothing")).outcome
    assert (unwatched.code, unwatched.field) == (Outcome.BAD_GOAL, "key")
    assert KEY in unwatched.message


def test_a_frozen_simulator_leaves_no_verdict_and_a_paused_one_does(tmp_path: Path) -> None:
    file = tmp_path / "conditions.yaml"
    file.write_text("conditions: [{name: object_in_container, args: {object: cube, container: bin}}]")
    with playing(file, use_sim_time=True) as peer:
        peer.wait(lambda: peer.value(KEY) == Condition.TRUE)
        peer.is_paused = True
        stamp, tables = peer.latest[KEY].stamp.sec, peer.tables
        peer.wait(lambda: peer.tables >= tables + PAUSE_TABLES)
        assert peer.value(KEY) == Condition.TRUE
        assert peer.latest[KEY].stamp.sec - stamp <= 1  # the clock stands still
        peer.is_frozen = True
        peer.wait(lambda: peer.value(KEY) == Condition.UNKNOWN)
        assert "nothing has come on world/object_states" in peer.latest[KEY].reason
        asked = peer.call(EvaluateCondition.Request(expression=KEY))
        assert asked.condition.value == Condition.UNKNOWN
        peer.is_paused = peer.is_frozen = False
        peer.wait(lambda: peer.value(KEY) == Condition.TRUE)


def test_nothing_is_known_while_two_publishers_contradict_each_other(peer: Peer) -> None:
    peer.wait(lambda: peer.value(KEY) == Condition.TRUE)
    far = ObjectState(name="cube")
    far.pose.position.x, far.pose.orientation.w = 9.0, 1.0
    made: list[Any] = []

    def begin() -> None:
        other = peer.create_publisher(ObjectStates, "world/object_states", LATEST)
        message = ObjectStates(version=1, states=[far])
        made.extend([other, peer.create_timer(0.05, lambda: other.publish(message))])

    def end() -> None:
        peer.destroy_timer(made[1])
        peer.destroy_publisher(made[0])

    peer.on_executor(begin)
    peer.wait(lambda: peer.value(KEY) == Condition.UNKNOWN)
    asked = peer.call(EvaluateCondition.Request(expression=KEY))
    assert asked.condition.value == Condition.UNKNOWN
    peer.on_executor(end)
    peer.wait(lambda: peer.value(KEY) == Condition.TRUE)


def test_noise_that_may_turn_a_verdict_leaves_it_open(peer: Peer) -> None:
    peer.wait(lambda: peer.value(KEY) == Condition.TRUE)
    assert peer.latest[KEY].flip_probability == 0.0
    peer.cube_x, peer.cube_noise_m = 0.197, 0.005  # 3 mm inside
    peer.wait(lambda: peer.value(KEY) == Condition.UNKNOWN)
    message = peer.latest[KEY]
    assert 0.15 < message.flip_probability < 0.45
    assert "cube is measured to 5 mm" in message.reason
    assert f"{message.flip_probability:.3f}" in "".join(why_lines(message, 0.0))
    assert " flip " in next(table_lines([message], 0.0, 120, colour=False))
    answer = peer.call(EvaluateCondition.Request(expression=KEY, max_flip=0.49))
    assert answer.condition.value == Condition.TRUE
    assert answer.condition.flip_probability == pytest.approx(message.flip_probability)
    refused = peer.call(WatchCondition.Request(expression=KEY, max_flip=2.0)).outcome
    assert (refused.code, refused.field) == (Outcome.BAD_GOAL, "max_flip")
    peer.cube_x = 0.1
    peer.wait(lambda: peer.value(KEY) == Condition.TRUE)


def test_an_old_measurement_in_a_new_message_is_old(peer: Peer) -> None:
    peer.wait(lambda: peer.value(KEY) == Condition.TRUE)
    peer.cube_age_s = 2.0
    peer.wait(lambda: peer.value(KEY) == Condition.UNKNOWN)
    assert "pose of cube is 2." in peer.latest[KEY].reason
    peer.cube_age_s = 0.0
    peer.wait(lambda: peer.value(KEY) == Condition.TRUE)
