"""Pick and place as the demo does them, judged by the monitor, and the feedback meanwhile."""

from __future__ import annotations

import math

import pytest
from geometry_msgs.msg import InertiaStamped
from handiwork_msgs.action import Pick
from handiwork_msgs.msg import Condition, TaskEvent, TaskProgress
from handiwork_msgs.srv import WatchTask

from handiwork_core.contracts.skill import Progress
from handiwork_core.model.outcome import Code
from handiwork_ros.rclpy_support.qos import EVENTS, LATCHED
from support.paths import ROOT
from support.stack.rig import PICK_STAGES, PLACE_STAGES, Rig, wait_for

IN_BIN = "{object: cube, container: bin}"


@pytest.fixture(scope="module")
def events(running: Rig) -> list[Condition]:
    received: list[Condition] = []
    running.client.node.create_subscription(Condition, "conditions/events", received.append, EVENTS)
    return received


@pytest.fixture(scope="module")
def progress(running: Rig) -> list[TaskProgress]:
    received: list[TaskProgress] = []
    running.client.node.create_subscription(TaskProgress, "conditions/progress", received.append, LATCHED)
    return received


@pytest.fixture(scope="module")
def task_events(running: Rig) -> list[TaskEvent]:
    received: list[TaskEvent] = []
    running.client.node.create_subscription(TaskEvent, "conditions/task_events", received.append, EVENTS)
    return received


def ros_s(stamp: object) -> float:
    return float(stamp.sec + 1e-9 * stamp.nanosec)  # type: ignore[attr-defined]


def assert_turned_true(events: list[Condition], name: str, since_s: float) -> None:
    """Check for an event that the condition holds since a time after ``since_s``, with its numbers."""

    def found() -> list[Condition]:
        return [e for e in events if e.name == name and e.value == Condition.TRUE]

    wait_for(f"an event that {name} is TRUE", lambda: bool(found()), 60.0)
    event = found()[-1]
    assert ros_s(event.since) >= since_s, event
    assert ros_s(event.stamp) >= since_s, event
    assert event.margin > 0.0, event
    assert event.evidence, event
    assert all(item.name and math.isfinite(item.value) for item in event.evidence), event
    assert event.reason, event


def test_pick_and_place_end_in_the_container(rig: Rig, events: list[Condition]) -> None:
    events.clear()
    begin_s, reported = rig.joints.next().stamp_s, []
    assert not rig.stack.settled("object_in_container", IN_BIN, 0.0)[0]

    def note(progress: Progress) -> None:
        reported.append((progress.index, progress.stage))

    picked = rig.client.pick("cube", on_feedback=note)
    assert picked.ok, picked.outcome
    assert picked.held_object == "cube"
    assert [s.name for s in picked.stages] == PICK_STAGES
    assert all(s.code is Code.OK for s in picked.stages)
    assert list(dict.fromkeys(reported)) == sorted(dict.fromkeys(reported)), "stages are reported in order"
    assert {stage for _, stage in reported} <= set(PICK_STAGES)
    assert_turned_true(events, "object_grabbed", begin_s)
    lifted_s = rig.joints.next().stamp_s

    placed = rig.client.place("cube", "bin")
    assert placed.ok, placed.outcome
    assert placed.held_object == ""
    assert [s.name for s in placed.stages] == PLACE_STAGES
    inside, reason = rig.stack.settled("object_in_container", IN_BIN, 60.0)
    assert inside, reason
    assert_turned_true(events, "object_in_container", lifted_s)
    grabbed = [e.value for e in events if e.name == "object_grabbed"]
    assert grabbed[-1] == Condition.FALSE, "the cube was let go, and the monitor said so"


def test_the_task_of_the_demo_is_followed_step_by_step(
    rig: Rig, progress: list[TaskProgress], task_events: list[TaskEvent]
) -> None:
    rig.stack.call(WatchTask, "conditions/watch_task", WatchTask.Request(restart=True))
    wait_for("a task at its start", lambda: bool(progress) and progress[-1].score == 0.0, 60.0)
    progress.clear()
    task_events.clear()
    assert rig.client.pick("cube").ok
    wait_for("a quarter or more", lambda: bool(progress) and 0.25 <= progress[-1].score < 1.0, 60.0)
    assert rig.client.place("cube", "bin").ok
    wait_for("the end of the task", lambda: progress[-1].done, 60.0)
    scores = [message.score for message in progress]
    assert scores == sorted(scores), scores
    wait_for("its event", lambda: TaskEvent.TASK_DONE in [event.code for event in task_events], 60.0)
    wait_for("a confirmed success", lambda: progress[-1].verdict.at_end, 60.0)
    confirmed = TaskEvent.TASK_CONFIRMED
    wait_for("its event too", lambda: confirmed in [event.code for event in task_events], 60.0)
    steps = {TaskEvent.CONDITION_GAINED, TaskEvent.TASK_DONE, confirmed}
    assert {event.code for event in task_events} == steps, [event.message for event in task_events]


def test_the_driver_gets_the_load_with_the_grasp_and_without_the_object(rig: Rig) -> None:
    loads: list[InertiaStamped] = []
    payloads: list[InertiaStamped] = []
    for kind, received in (("load", loads), ("payload", payloads)):
        rig.client.node.create_subscription(InertiaStamped, f"fr3_arm/{kind}", received.append, LATCHED)
    wait_for("an empty hand", lambda: bool(loads and payloads) and loads[-1].inertia.m == 0.0, 60.0)
    tool_kg = payloads[-1].inertia.m
    assert payloads[-1].header.frame_id == "fr3/fr3_link8"
    assert rig.client.pick("cube").ok
    wait_for("the cube", lambda: loads[-1].inertia.m == pytest.approx(0.1), 60.0)
    wait_for("the tool with it", lambda: payloads[-1].inertia.m == pytest.approx(tool_kg + 0.1), 60.0)
    assert 0.08 < loads[-1].inertia.com.z < 0.13, "it is between the fingertips"
    assert rig.client.place("cube", "bin").ok
    wait_for("an empty hand again", lambda: loads[-1].inertia.m == 0.0, 60.0)
    wait_for("the tool alone", lambda: payloads[-1].inertia.m == pytest.approx(tool_kg), 60.0)


def test_second_goal_for_a_busy_arm_is_refused_and_disturbs_nothing(rig: Rig) -> None:
    first = rig.send_until(Pick.Goal(object="cube"), "approach")
    second = rig.client.send(Pick.Goal(object="can")).result(60.0).outcome
    assert not first.done, "the first goal was over before it could be disturbed"
    assert second.code is Code.BUSY, second
    assert "'pick'" in second.message, second
    ended = first.result()
    assert ended.ok, ended.outcome
    assert ended.held_object == "cube"


def test_the_example_of_the_readme_runs(rig: Rig, capsys: pytest.CaptureFixture[str]) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = readme.split("```python\n")[1].split("```")[0]
    exec(example, {})
    reported = capsys.readouterr().out
    assert "picked 'cube'" in reported
    assert "placed 'cube' into 'bin'" in reported
    assert rig.stack.settled("object_in_container", IN_BIN, 60.0)[0]
