"""Strict building of conditions, and the monitor's memory: since, hold time, staleness, steps back of the clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from conditionals_node.conditions_file import load_conditions
from conditionals_node.expressions.build import Builder, Condition
from conditionals_node.expressions.definitions import Definitions
from conditionals_node.expressions.expression import Leaf, Not
from conditionals_node.monitoring.monitor import ConditionMonitor, ConditionStatus, stamp_s
from conditionals_node.monitoring.silence import Silence
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.predicate import Finding, LatchedPredicate, Truth
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import JointState, ObjectState, World
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS, ROOT

BUILDER = Builder(load_robot(ROBOTS / "fr3"))
STILL_TEXT = "object_stationary(object=cube, linear_threshold=0.1)"
STILL = {"object": "cube", "linear_threshold": 0.1}


def world(speed: float, stamp_s: float) -> World:
    state = ObjectState(Pose.identity(), frozen((speed, 0.0, 0.0)), frozen(np.zeros(3)), stamp_s)
    return World(stamp_s, states={"cube": state}, contacts=(), contacts_stamp_s=stamp_s)


def watching(hold_s: float = 0.0) -> ConditionMonitor:
    monitor = ConditionMonitor(max_age_s=1.0)
    monitor.watch(BUILDER.build("object_stationary", STILL, hold_s), 0.0)
    return monitor


def only(monitor: ConditionMonitor) -> ConditionStatus:
    (shown,) = monitor.shown()
    return shown


def test_changes_are_reported_once_with_their_time() -> None:
    monitor = watching()
    assert [c.finding.truth for c in monitor.update(world(0.0, 1.0), 1.0)] == [Truth.TRUE]
    assert monitor.update(world(0.05, 2.0), 2.0) == []
    assert (only(monitor).since_s, only(monitor).stamp_s) == (1.0, 2.0)
    assert only(monitor).finding.margin == pytest.approx(0.05)
    assert [c.finding.truth for c in monitor.update(world(0.5, 3.0), 3.0)] == [Truth.FALSE]
    assert only(monitor).since_s == 3.0


def test_a_verdict_is_as_old_as_the_oldest_input_that_it_needs() -> None:
    """Right after a reset the poses are new, and contacts may be those of the world before it."""
    monitor = watching()
    touched = BUILDER.build("object_grabbed", {"object": "cube"}, 0.0)
    monitor.watch(touched, 0.0)
    joints = JointState(2.8, {"fr3_finger_joint1": 0.02, "fr3_finger_joint2": 0.02})
    mixed = replace(world(0.0, 3.0), contacts_stamp_s=2.5, joints=joints)
    monitor.update(mixed, 3.0)
    still, grabbed = monitor.shown()
    assert (still.stamp_s, grabbed.stamp_s) == (3.0, 2.5)
    assert (stamp_s(still.condition, mixed), stamp_s(touched, mixed)) == (3.0, 2.5)
    monitor.update(replace(mixed, contacts_stamp_s=3.0), 3.0)
    assert monitor.shown()[1].stamp_s == 2.8
    monitor.update(replace(mixed, contacts=None), 3.1)
    assert monitor.shown()[1].stamp_s == 2.8


def test_a_flicker_shorter_than_the_hold_time_is_not_shown() -> None:
    monitor = watching(hold_s=0.2)
    monitor.update(world(0.0, 1.0), 1.0)
    for t, speed in ((1.1, 0.5), (1.2, 0.0), (1.3, 0.5), (1.45, 0.5)):
        assert monitor.update(world(speed, t), t) == []
        assert only(monitor).finding.truth is Truth.TRUE
    assert len(monitor.update(world(0.5, 1.55), 1.55)) == 1
    assert only(monitor).since_s == 1.3


def test_an_old_world_is_unknown_at_once() -> None:
    monitor = watching(hold_s=5.0)
    monitor.update(world(0.0, 1.0), 1.0)
    (change,) = monitor.update(world(0.0, 1.0), 2.5)
    assert change.finding.truth is Truth.UNKNOWN
    assert "1.5 s old" in change.finding.reason
    (change,) = monitor.update(world(0.0, 2.6), 2.6)
    assert change.finding.truth is Truth.TRUE


def test_old_contacts_and_joints_are_unknown() -> None:
    grabbed = BUILDER.build("object_grabbed", {"object": "cube"})
    late = World(9.0, states=world(0.0, 9.0).states, contacts=(), contacts_stamp_s=2.0)
    assert "world/contacts" in ConditionMonitor(1.0).decide(grabbed, late, 9.0).reason
    opened = BUILDER.build("gripper_open", {})
    joints = World(9.0, joints=JointState(2.0, {"fr3_finger_joint1": 0.04}))
    assert "joint_states" in ConditionMonitor(1.0).decide(opened, joints, 9.0).reason
    assert ConditionMonitor(10.0).decide(opened, joints, 9.0).truth is Truth.TRUE


@pytest.mark.parametrize(
    ("name", "args", "silence", "word"),
    [
        ("object_stationary", {"object": "cube"}, Silence(states_s=3.0), "world/object_states for 3.0 s"),
        ("object_grabbed", {"object": "cube"}, Silence(contacts_s=3.0), "world/contacts for 3.0 s"),
        ("gripper_open", {}, Silence(joints_s=3.0), "joint_states for 3.0 s"),
    ],
)
def test_a_silent_stream_is_unknown_though_the_clock_stands_still(
    name: str, args: dict[str, str], silence: Silence, word: str
) -> None:
    monitor = ConditionMonitor(max_age_s=1.0)
    monitor.watch(BUILDER.build(name, args), 0.0)
    shown = replace(world(0.0, 5.0), joints=JointState(5.0, {"fr3_finger_joint1": 0.04}))
    monitor.update(shown, 5.0)
    assert only(monitor).finding.truth is not Truth.UNKNOWN
    (change,) = monitor.update(shown, 5.0, silence)
    assert change.finding.truth is Truth.UNKNOWN
    assert word in change.finding.reason
    assert word in monitor.decide(only(monitor).condition, shown, 5.0, silence).reason
    monitor.evaluation.allow_silence(3.5)
    assert len(monitor.update(shown, 5.0, silence)) == 1
    assert only(monitor).finding.truth is not Truth.UNKNOWN


def test_a_step_back_of_the_clock_starts_again() -> None:
    monitor = watching(hold_s=5.0)
    monitor.update(world(0.0, 100.0), 100.0)
    (change,) = monitor.update(world(0.5, 1.0), 1.0)
    assert (change.finding.truth, change.since_s) == (Truth.FALSE, 1.0)


def test_watching_twice_is_watching_once() -> None:
    monitor = watching()
    monitor.watch(BUILDER.build("object_stationary", STILL), 5.0)
    assert monitor.keys() == ["object_stationary(object=cube, linear_threshold=0.1)"]
    assert monitor.unwatch(monitor.keys()[0])
    assert not monitor.unwatch("x")
    assert monitor.shown() == []


def test_keys_name_what_differs_from_the_defaults() -> None:
    plain: Condition = BUILDER.build_text(
        "object_in_container", "{object: cube, container: bin, tolerance: 0.0}"
    )
    assert plain.key == "object_in_container(object=cube, container=bin)"
    assert BUILDER.build_text(plain.name, plain.args).key == plain.key
    assert BUILDER.build_text("gripper_open", "").key == "gripper_open()"


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("object_in_contaner", "{object: a}", ["name", "object_in_contaner", "'object_in_container'"]),
        ("object_grabbed", "{objct: a}", ["objct", "unknown key", "'object'"]),
        ("object_grabbed", "{}", ["object", "missing"]),
        ("object_grabbed", "{object: a, min_force: soft}", ["min_force", "soft", "number"]),
        ("object_in_hull", "{object: a, container: b, point: middle}", ["point", "middle"]),
        ("object_on_top", "{object: a, reference_object: b, cone_deg: 0}", ["cone_deg", "more than 0"]),
        ("object_grabbed", "cube", ["args", "cube", "mapping"]),
        ("object_grabbed", "{object: [", ["args", "YAML"]),
        ("gripper_open", "{joint: elbow}", ["elbow", "fr3_finger_joint1"]),
    ],
)
def test_bad_conditions_are_refused(name: str, args: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        BUILDER.build_text(name, args)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_equal_predicates_are_decided_once_and_only_when_something_they_read_has_changed() -> None:
    monitor, definitions = ConditionMonitor(max_age_s=1.0), Definitions(BUILDER)
    for text in (STILL_TEXT, f"not {STILL_TEXT}", f"{STILL_TEXT} or gripper_open()"):
        monitor.watch(definitions.make("", "", text, 0.0), 0.0)
    first = world(0.0, 1.0)
    monitor.update(first, 1.0)
    plain, negated, _ = (shown.finding for shown in monitor.shown())
    assert (plain.truth, negated.truth) == (Truth.TRUE, Truth.FALSE)
    old = first.states["cube"]
    again = replace(first, stamp_s=1.1, states={"cube": replace(old, stamp_s=1.1)}, contacts_stamp_s=1.1)
    monitor.update(again, 1.1)
    assert monitor.shown()[0].finding is plain
    assert monitor.shown()[0].stamp_s == 1.1
    monitor.update(world(0.05, 1.2), 1.2)
    assert monitor.shown()[0].finding is not plain


def test_deciding_once_leaves_no_trace_in_what_is_watched() -> None:
    monitor = watching()
    monitor.update(world(0.0, 1.0), 1.0)
    moved = world(0.5, 2.0)
    other = BUILDER.build("object_stationary", {"object": "cube"})
    assert monitor.decide(other, moved, 2.0).truth is Truth.FALSE
    assert [c.finding.truth for c in monitor.update(moved, 2.0)] == [Truth.FALSE]


def test_an_expression_knows_what_its_parts_know() -> None:
    monitor = ConditionMonitor(max_age_s=1.0)
    monitor.watch(Definitions(BUILDER).make("fine", "", f"{STILL_TEXT} or gripper_open()", 0.0), 0.0)
    (change,) = monitor.update(world(0.0, 1.0), 1.0)
    assert (change.condition.key, change.finding.truth) == ("fine", Truth.TRUE)
    (change,) = monitor.update(world(0.5, 2.0), 2.0)
    assert change.finding.truth is Truth.UNKNOWN
    assert "not measured" in change.finding.reason


@dataclass(frozen=True)
class ThirdTime(LatchedPredicate):
    """Holds from the third world on."""

    name: ClassVar[str] = "third_time"

    def subjects(self) -> tuple[str, ...]:
        return ("cube",)

    def evaluate(self, world: World) -> Finding:
        return Finding.unknown("its past is not known")

    def advance(self, memory: object | None, world: World) -> tuple[Finding, object]:
        seen = 1 + (memory if isinstance(memory, int) else 0)
        return Finding(Truth.of(seen >= 3), float(seen - 2), f"world {seen}"), seen


def test_what_was_before_is_remembered_for_each_condition_until_time_jumps_back() -> None:
    leaf = Leaf("third_time()", "third_time", "", ThirdTime())
    monitor = ConditionMonitor(max_age_s=1.0)
    monitor.watch(Condition("plain", "plain", "", leaf), 0.0)
    monitor.watch(Condition("opposite", "opposite", "", Not(leaf)), 0.0)
    still = world(0.0, 1.0)
    seen = []
    for _ in range(4):
        monitor.update(still, 1.0)
        seen.append([shown.finding.truth for shown in monitor.shown()])
    assert seen == [[Truth.FALSE, Truth.TRUE]] * 2 + [[Truth.TRUE, Truth.FALSE]] * 2
    assert monitor.decide(Condition("once", "once", "", leaf), still, 1.0).truth is Truth.UNKNOWN
    monitor.update(world(0.0, 0.5), 0.5)
    assert monitor.shown()[0].finding.reason == "world 1"


def test_the_file_of_the_demo_is_good_and_a_bad_one_names_every_entry(tmp_path: Path) -> None:
    found, task = load_conditions(ROOT / "config" / "conditions.yaml", Definitions(BUILDER))
    names = {
        "object_grabbed",
        "object_in_container",
        "object_on_top",
        "object_above",
        "object_outside_of",
        "gripper_open",
    }
    assert names <= {condition.name for condition in found}
    assert task is not None
    path = tmp_path / "bad.yaml"
    path.write_text("conditions: [{name: x}, {name: gripper_open}, {name: object_above, args: {object: a}}]")
    with pytest.raises(ConfigError) as caught:
        load_conditions(path, Definitions(BUILDER))
    assert [fault[:13] for fault in caught.value.faults] == ["conditions[0]", "conditions[2]"]
