"""Expressions, tasks and drawings of the conditions node, over its topics and services."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from handiwork_msgs.msg import Condition, Outcome, TaskEvent
from handiwork_msgs.srv import EvaluateCondition, UnwatchCondition, WatchCondition, WatchTask
from visualization_msgs.msg import Marker

from handiwork_viz.condition_table import progress_lines, table_lines, why_lines
from support.nodes.conditions_peer import Peer, playing

IN_BIN = "object_in_container(object=cube, container=bin)"
FILE = """
conditions:
- {name: in_bin, expression: "object_in_container(object=cube, container=bin)"}
- {name: gone, expression: not in_bin, hold_s: 0.01}
task:
  name: away
  subtasks:
  - {name: out, groups: {cube: [{expression: gone}]}}
  - {name: back, groups: {cube: [{expression: in_bin}]}, score: 0.5}
  success: {settle_s: 0.0}
"""


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    file = tmp_path / "conditions.yaml"
    file.write_text(FILE)
    with playing(file) as found:
        yield found


def test_expressions_of_the_file_follow_the_world_and_speak_of_each_other(peer: Peer) -> None:
    peer.wait(lambda: (peer.value("in_bin"), peer.value("gone")) == (Condition.TRUE, Condition.FALSE))
    peer.cube_x = 0.5
    peer.wait(lambda: (peer.value("in_bin"), peer.value("gone")) == (Condition.FALSE, Condition.TRUE))
    gone = peer.latest["gone"]
    assert (gone.name, gone.expression, gone.margin) == ("gone", "not in_bin", pytest.approx(0.3))
    assert [item.name for item in gone.evidence][:1] == ["depth"]


def test_a_named_expression_is_watched_used_and_forgotten(peer: Peer) -> None:
    request = WatchCondition.Request(
        name="far", expression="gone and object_above(object=cube, reference_object=bin)"
    )
    answer = peer.call(request)
    assert (answer.outcome.code, answer.key) == (Outcome.OK, "far")
    peer.wait(lambda: peer.value("far") == Condition.FALSE)
    asked = peer.call(EvaluateCondition.Request(expression="not far or choose(1, gone, in_bin)")).condition
    assert (asked.value, asked.key) == (Condition.TRUE, "not far or choose(1, gone, in_bin)")
    assert peer.call(EvaluateCondition.Request(name="far")).condition.value == Condition.FALSE
    assert peer.call(UnwatchCondition.Request(key="far")).outcome.code == Outcome.OK
    peer.wait(lambda: "far" not in peer.latest)
    assert peer.call(EvaluateCondition.Request(name="far")).outcome.field == "name"


@pytest.mark.parametrize(
    ("request_", "field", "word"),
    [
        (WatchCondition.Request(expression="in_bin and"), "expression", "column"),
        (WatchCondition.Request(expression="nothing"), "expression", "'nothing'"),
        (WatchCondition.Request(name="gone", expression="in_bin"), "name", "means not in_bin already"),
        (WatchCondition.Request(name="a", expression="a"), "expression", "cyclic: a -> a"),
        (WatchCondition.Request(expression="choose(3, gone, in_bin)"), "expression", "K: is 3"),
        (WatchCondition.Request(name="x", expression="gone", hold=-1.0), "hold", "-1"),
        (WatchCondition.Request(name="x", expression="gone", args="{a: 1}"), "args", "belong to a predicate"),
        (WatchCondition.Request(), "name", "is empty"),
        (EvaluateCondition.Request(expression="gone or moon()"), "expression", "'moon'"),
        (WatchTask.Request(task="{name: t}"), "task", "subtasks: missing"),
        (WatchTask.Request(task="["), "task", "YAML"),
    ],
)
def test_bad_requests_name_their_field(peer: Peer, request_: object, field: str, word: str) -> None:
    outcome = peer.call(request_).outcome
    assert (outcome.code, outcome.field) == (Outcome.BAD_GOAL, field), outcome.message
    assert word in outcome.message


def test_an_unknown_frame_is_refused_when_the_world_is_known(peer: Peer) -> None:
    peer.wait(lambda: peer.value("in_bin") == Condition.TRUE)
    text = "object_left_of(object=cube, reference_object=bin, frame_of_reference={})"
    refused = peer.call(WatchCondition.Request(expression=text.format("moon"))).outcome
    assert (refused.code, refused.field) == (Outcome.BAD_GOAL, "expression")
    assert "frame_of_reference: no frame 'moon'" in refused.message
    assert peer.call(WatchCondition.Request(expression=text.format("bin"))).outcome.code == Outcome.OK


def test_progress_and_events_of_the_files_task_are_published(peer: Peer) -> None:
    peer.wait(lambda: peer.progress.name == "away")
    assert (peer.progress.current, peer.progress.score, peer.progress.done) == (0, 0.0, False)
    peer.cube_x = 0.5
    peer.wait(lambda: peer.progress.current == 1)
    assert peer.progress.score == pytest.approx(2 / 3)
    assert [group.next for group in peer.progress.subtasks[0].groups] == [1]
    peer.cube_x = 0.0
    peer.wait(lambda: peer.progress.done)
    peer.wait(lambda: len(peer.task_events) >= 4)
    found = [event.code for event in peer.task_events]
    gained, done = TaskEvent.CONDITION_GAINED, TaskEvent.SUBTASK_DONE
    assert found == [gained, done, gained, TaskEvent.TASK_DONE]


def test_verdicts_have_a_life_and_a_task_says_why_it_is_no_success(peer: Peer) -> None:
    peer.wait(lambda: peer.value("in_bin") == Condition.TRUE and peer.latest["in_bin"].verdict.at_end)
    verdict = peer.latest["in_bin"].verdict
    assert verdict.longest >= 0.2
    assert verdict.first_true.sec + verdict.first_true.nanosec > 0
    task = (
        "{name: out, success: {settle_s: 0.0}, subtasks: [{name: s, groups: {cube: [{expression: gone}]}}]}"
    )
    peer.call(WatchTask.Request(task=task))
    peer.cube_x = 0.5
    pushed = "cube was moved, but no hand carried it"
    peer.wait(lambda: peer.progress.name == "out" and peer.progress.refusals == [pushed])
    assert (peer.progress.done, peer.progress.verdict.at_end) == (True, False)
    assert f"  not yet: {pushed}" in list(progress_lines(peer.progress))
    allowed = task.replace("settle_s: 0.0", "settle_s: 0.0, by_robot: false")
    peer.call(WatchTask.Request(task=allowed))
    peer.wait(lambda: peer.progress.verdict.at_end)
    assert (peer.progress.refusals, peer.progress.end_score, peer.progress.peak_score) == ([], 1.0, 1.0)
    assert "success: confirmed at rest" in "".join(progress_lines(peer.progress))
    peer.cube_x = 0.0
    peer.wait(lambda: not peer.progress.verdict.at_end)
    assert peer.progress.verdict.at_peak
    peer.wait(lambda: any(event.code == TaskEvent.TASK_LOST for event in peer.task_events))
    peer.wait(lambda: peer.value("in_bin") == Condition.TRUE and peer.latest["in_bin"].verdict.at_end)
    stamp = peer.latest["in_bin"].stamp.sec + 1.0
    assert "confirmed at rest" in "".join(why_lines(peer.latest["in_bin"], stamp))


def test_a_task_of_a_request_takes_the_place_of_the_one_before(peer: Peer) -> None:
    assert peer.call(WatchTask.Request()).progress.name == "away"
    task = "{name: other, subtasks: [{name: s, groups: {cube: [{expression: gone}]}}]}"
    assert peer.call(WatchTask.Request(task=task)).progress.name == "other"
    peer.wait(lambda: peer.progress.name == "other")
    peer.cube_x = 0.5
    peer.wait(lambda: peer.progress.done)
    # The table may be older than the progress: FALSE of before must not be taken for FALSE of after.
    peer.wait(lambda: peer.value("gone") == Condition.TRUE)
    peer.cube_x = 0.0
    peer.wait(lambda: peer.value("gone") == Condition.FALSE)
    assert peer.call(WatchTask.Request()).progress.done
    assert not peer.call(WatchTask.Request(restart=True)).progress.done


def test_drawings_come_while_there_is_a_subscriber_and_show_the_verdict(peer: Peer) -> None:
    peer.wait(lambda: peer.value("in_bin") == Condition.TRUE)
    peer.look_at_markers()
    peer.wait(lambda: bool(peer.markers))
    found = [marker for marker in peer.markers[-1].markers if marker.ns == "in_bin"]
    lines = [marker for marker in found if marker.type == Marker.LINE_LIST]
    assert [len(marker.points) for marker in lines] == [24, 24]
    assert all(marker.color.g > marker.color.r and marker.header.frame_id == "world" for marker in found)
    dots = [marker for marker in found if marker.type == Marker.SPHERE_LIST]
    assert [len(marker.points) for marker in dots] == [1, 1]


def test_messages_make_lines_for_a_terminal(peer: Peer) -> None:
    peer.wait(lambda: peer.value("in_bin") == Condition.TRUE and peer.progress.name == "away")
    stamp = peer.latest["in_bin"].stamp.sec + 1.0
    lines = list(table_lines(list(peer.latest.values()), stamp, 100, colour=False))
    assert lines[1].startswith("TRUE")
    assert all(len(line) <= 100 for line in lines)
    assert "\x1b[32mTRUE" in "".join(table_lines(list(peer.latest.values()), stamp, 100, colour=True))
    assert next(iter(progress_lines(peer.progress))).startswith("task away: 0%")
    found = list(why_lines(peer.latest["gone"], stamp))
    assert found[:2] == ["gone: FALSE", "  is       not in_bin"]
    assert any("depth" in line and "cube" in line for line in found)
