"""Tasks from YAML: expansion of composites, refusals, and a whole task on worlds that a person can picture."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from conditionals_node.conditions_file import load_conditions
from conditionals_node.events.task_event import EventCode
from conditionals_node.expressions.build import Builder
from conditionals_node.expressions.definitions import Definitions
from conditionals_node.monitoring.evaluation import Evaluation
from conditionals_node.subtasks.machine import TaskRun
from conditionals_node.subtasks.stages import Group, Step, SubtaskStage
from conditionals_node.subtasks.task import WatchedTask, read_task
from conditionals_node.subtasks.watch import TaskWatch
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import (
    Contact,
    JointState,
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS, ROOT

ROBOT = load_robot(ROBOTS / "fr3")
VECTORS = json.loads((ROOT / "test" / "data" / "conditionals" / "pick_and_place.json").read_text())
ZERO = frozen((0.0, 0.0, 0.0))
PUT_AWAY = "{name: tidy, subtasks: [{name: put, pick_and_place: {object: [cube], container: bin}}]}"


def read(text: str) -> WatchedTask:
    return read_task(text, Definitions(Builder(ROBOT)))


def solid(name: str, *size: float) -> WorldObject:
    return WorldObject(name, (Shape(ShapeKind.BOX, frozen(size), Pose.identity()),))


OBJECTS = {
    "cube": solid("cube", 0.04, 0.04, 0.04),
    "can": solid("can", 0.04, 0.04, 0.08),
    "bin": solid("bin", 0.3, 0.3, 0.1),
    "table": solid("table", 2.0, 2.0, 0.05),
}


def world(t: float, cube: tuple[float, float, float], *held: str, can_x: float = -0.3) -> World:
    """Return a world with a bin at x = 0.5 m; both fingers squeeze the ``held`` objects."""
    places = {"cube": cube, "can": (can_x, 0.0, 0.04), "bin": (0.5, 0.0, 0.05), "table": (0.0, 0.0, -0.025)}
    contacts = []
    for name in held:
        x, y, z = places[name]
        for finger, side in (("fr3/fr3_leftfinger", 1.0), ("fr3/fr3_rightfinger", -1.0)):
            contacts.append(
                Contact(name, finger, frozen((0.0, -5.0 * side, 0.0)), frozen((x, y + 0.02 * side, z)))
            )
    states = {name: ObjectState(Pose.of(place), ZERO, ZERO, t) for name, place in places.items()}
    joints = JointState(t, {"fr3_finger_joint1": 0.02 if held else 0.04})
    return World(t, 1, OBJECTS, states, tuple(contacts), t, joints)


class Played:
    """A task that gets one world after the other."""

    def __init__(self, text: str) -> None:
        self.evaluation = Evaluation(max_age_s=1.0)
        self.watch = TaskWatch(read(text), ROBOT, self.evaluation, -1.0)
        self.t, self.objects = -1.1, OBJECTS
        self.show(ON_TABLE)
        self.t = 0.0

    def show(self, *args: object, **kwargs: float) -> list[str]:
        self.t += 0.1
        shown = replace(world(self.t, *args, **kwargs), objects=self.objects)  # type: ignore[arg-type]
        self.evaluation.begin(shown, self.t)
        return [event.code.name for event in self.watch.update(shown, self.t).events]


ON_TABLE, OVER_BIN, IN_BIN = (0.0, 0.0, 0.02), (0.5, 0.0, 0.3), (0.5, 0.0, 0.03)


def test_a_pick_and_place_earns_a_quarter_for_each_step() -> None:
    played = Played(PUT_AWAY)
    scores = []
    for step in ((ON_TABLE,), (ON_TABLE, "cube"), (OVER_BIN, "cube"), (IN_BIN, "cube"), (IN_BIN,)):
        events = played.show(*step)
        scores.append(played.watch.score)
    assert scores == [0.0, 0.25, 0.5, 0.5, 1.0]
    assert events == ["CONDITION_GAINED", "TASK_DONE"]
    assert played.watch.judge.run.done[0]
    assert "tidy" in played.watch.message


def test_a_tall_object_that_stands_in_a_low_bin_is_put_away_but_one_on_another_over_it_is_not() -> None:
    played = Played(PUT_AWAY)
    played.objects = {**OBJECTS, "cube": solid("cube", 0.04, 0.04, 0.3)}
    standing, lifted, high = (0.5, 0.0, 0.155), (0.5, 0.0, 0.4), (0.5, 0.0, 0.32)
    scores = []
    for step in ((ON_TABLE, "cube"), (lifted, "cube"), (lifted,), (high,), (standing,)):
        played.show(*step)
        scores.append(played.watch.score)
    assert scores == [0.25, 0.5, 0.75, 0.75, 1.0]


def test_what_is_dropped_on_the_way_loses_its_score_and_is_reported() -> None:
    played = Played(PUT_AWAY)
    played.show(ON_TABLE, "cube")
    assert played.watch.score == 0.25
    assert played.show(ON_TABLE) == ["CONDITION_LOST", "TARGET_OBJECT_DROPPED"]
    assert (played.watch.score, played.watch.message) == (
        0.0,
        "cube: no longer object_grabbed(object=cube)",
    )


def test_letting_go_over_the_bin_is_no_drop_but_on_the_way_it_is() -> None:
    played = Played(PUT_AWAY)
    played.show(ON_TABLE, "cube")
    played.show(OVER_BIN, "cube")
    assert played.show(OVER_BIN) == ["CONDITION_GAINED"]
    assert played.show(IN_BIN) == ["CONDITION_GAINED", "TASK_DONE"]


def test_what_falls_beside_the_bin_has_to_be_grabbed_again() -> None:
    played = Played(PUT_AWAY)
    beside = (0.7, 0.0, 0.02)
    scores = []
    for step in (
        (ON_TABLE, "cube"),
        (OVER_BIN, "cube"),
        (OVER_BIN,),
        (beside,),
        (beside, "cube"),
        (OVER_BIN, "cube"),
    ):
        played.show(*step)
        scores.append(played.watch.score)
    assert scores == [0.25, 0.5, 0.75, 0.0, 0.25, 0.5]


def test_pushing_into_the_bin_is_no_pick_and_place() -> None:
    played = Played(PUT_AWAY)
    played.show(ON_TABLE)
    assert played.show(IN_BIN) == []
    assert played.watch.score == 0.0


def test_another_object_in_the_hand_is_wrong_and_the_bin_may_be_touched() -> None:
    played = Played(PUT_AWAY)
    assert played.show(ON_TABLE, "can") == ["WRONG_OBJECT_GRABBED", "GRIPPER_HIT_OBJECT"]
    assert played.show(ON_TABLE) == ["WRONG_OBJECT_DETACHED"]
    touching = world(5.0, IN_BIN)
    finger = Contact("bin", "fr3/fr3_leftfinger", frozen((0.0, 0.0, -2.0)), ZERO)
    played.evaluation.begin(touching, 5.0)
    other = World(5.0, 1, OBJECTS, touching.states, (finger,), 5.0)
    played.evaluation.begin(other, 5.0)
    assert played.watch.update(other, 5.0).events == ()


def test_both_fingertips_that_press_a_big_box_down_hold_nothing() -> None:
    played = Played(PUT_AWAY)
    pressed = world(5.0, ON_TABLE)
    tips = [
        Contact("can", f"fr3/fr3_{side}finger", frozen((0.0, 0.0, -5.0)), frozen((-0.3, y, 0.08)))
        for side, y in (("left", 0.02), ("right", -0.02))
    ]
    pressed = replace(pressed, contacts=tuple(tips))
    played.evaluation.begin(pressed, 5.0)
    names = [event.code.name for event in played.watch.update(pressed, 5.0).events]
    assert names == ["GRIPPER_HIT_OBJECT"]
    grabbed = Builder(ROBOT).build("object_grabbed", {"object": "can"}).predicate.evaluate(pressed)
    assert grabbed.truth is Truth.FALSE


def test_when_time_jumps_back_the_task_begins_again() -> None:
    played = Played(PUT_AWAY)
    played.show(ON_TABLE, "cube")
    shown = world(0.01, ON_TABLE)
    played.evaluation.forget()
    played.evaluation.begin(shown, 0.01)
    assert played.watch.update(shown, 0.01).progressed
    assert (played.watch.score, played.watch.since_s) == (0.0, 0.01)


def test_what_cannot_be_known_changes_nothing() -> None:
    played = Played(PUT_AWAY)
    played.show(ON_TABLE, "cube")
    blind = World(played.t, 1, OBJECTS, {}, None, played.t)
    played.evaluation.begin(blind, played.t)
    assert played.watch.update(blind, played.t).events == ()
    assert played.watch.score == 0.25


def test_a_task_has_stages_groups_and_what_they_are_about() -> None:
    task = read(
        """
        name: tidy
        subtasks:
        - {name: away, logical: choose, K: 1, score: 0.5, pick_and_place: {object: [cube, can], container: bin}}
        - name: tower
          groups:
            up:
            - {expression: "object_on_top(object=can, reference_object=table)", score: 2}
            - {expression: gripper_open()}
        events: {bump_m: 0.01, upright: [can]}
        """
    )
    assert [[group.name for group in stage.groups] for stage in task.stages] == [["cube", "can"], ["up"]]
    assert [stage.needed for stage in task.stages] == [1, 1]
    assert task.aims[0].moved == (frozenset({"cube"}), frozenset({"can"}))
    assert (task.aims[0].goals, task.aims[1].goals) == ({"bin"}, {"table"})
    assert task.stages[1].groups[0].shares() == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert task.rules.bump_m == 0.01


def test_on_a_surface_the_last_step_is_to_rest_there_without_the_gripper() -> None:
    text = "{name: t, subtasks: [{name: s, pick_and_place_on_surface: {object: [cube], surface: table}}]}"
    steps = [step.key for step in read(text).stages[0].groups[0].steps]
    grabbed, there = (
        "object_grabbed(object=cube)",
        "object_above(object=cube, reference_object=table, z_margin=-0.01)",
    )
    assert steps == [
        grabbed,
        there,
        f"not {grabbed} and {there}",
        f"object_on_top(object=cube, reference_object=table) and not {grabbed}",
    ]


def test_without_the_ladder_it_expands_as_the_vectors_say() -> None:
    vectors = VECTORS["pick_and_place"]
    text = "{name: t, subtasks: [{name: s, pick_and_place: {object: [a], container: bin, ladder: false}}]}"
    task = read(text)
    (group,) = task.stages[0].groups
    leaves = [leaf for step in group.steps for leaf in task.expressions[step.key].leaves()]
    assert [leaf.name for leaf in leaves] == vectors["names"]
    assert list(group.shares()) == vectors["weights"]
    given = [yaml.safe_load(leaf.args) for leaf in leaves]
    # No contact is required by default here.
    wanted = [{k: v for k, v in args.items() if k != "require_contact_with"} for args in vectors["kwargs"]]
    assert given == wanted


@pytest.mark.parametrize(
    ("name", "truths"),
    [
        ("normal", ["", "g", "g", "i", ""]),
        ("pushed_without_grasp", ["", "i", ""]),
        ("dropped_outside", ["g", "", "", "g", "i"]),
    ],
)
def test_its_short_traces_agree_with_the_vectors(name: str, truths: list[str]) -> None:
    steps = (Step("g", 0.0), Step("i", 1.0))
    run = TaskRun([SubtaskStage("s", (Group("a", steps, skip=True),))])
    names = dict(zip("gi", VECTORS["pick_and_place"]["names"], strict=True))
    for truth, (_, status, stage, score) in zip(truths, VECTORS["pick_and_place"][name], strict=True):
        changes = run.update(lambda step, truth=truth: np.array([int(Truth.of(step.key in truth))]))
        names_of_changes = [
            f"{names[change.group.steps[change.first[0]].key].upper()}_{'SUCCESS' if change.gained[0] else 'FAILURE'}"
            for change in changes
        ]
        assert (names_of_changes[-1] if names_of_changes else "OK", run.current[0], run.score()[0]) == (
            status,
            stage,
            score,
        )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", ["task", "correct the YAML"]),
        ("3", ["task", "mapping"]),
        ("{name: t}", ["subtasks: missing"]),
        ("{name: t, subtasks: []}", ["subtasks: is empty"]),
        ("{name: t, subtasks: [{name: s}]}", ["subtasks[0]", "exactly one of groups"]),
        (PUT_AWAY.replace("put,", "put, groups: {a: [{expression: gripper_open()}]},"), ["exactly one of"]),
        (
            PUT_AWAY.replace("container: bin", "container: cube"),
            ["subtasks[0].pick_and_place.container: is 'cube'"],
        ),
        (PUT_AWAY.replace("[cube]", "[]"), ["object: is empty"]),
        (PUT_AWAY.replace("[cube]", "[cube, cube]"), ["['cube'] occur twice"]),
        (PUT_AWAY.replace("put,", "put, K: 2,"), ["K: is 2; it counts with logical: choose only"]),
        (PUT_AWAY.replace("put,", "put, logical: choose, K: 2,"), ["subtasks[0].K: is 2; with 1 groups"]),
        (PUT_AWAY.replace("put,", "put, score: 2.0,"), ["subtasks[0].score: is 2"]),
        (PUT_AWAY.replace("put,", "put, logical: most,"), ["subtasks[0].logical", "most"]),
        (PUT_AWAY.replace("tidy,", "tidy, events: {bump_m: 2.0},"), ["events.bump_m: is 2"]),
        (
            "{name: t, subtasks: [{name: s, groups: {a: [{expression: nothing}], b: [{expression: 'gripper_open('}]}},"
            " {name: r, groups: {c: [{expression: gripper_open(), score: -1}]}}]}",
            ["subtasks[1].groups.c[0].score: is -1"],
        ),
        (
            "{name: t, subtasks: [{name: s, groups: {a: [{expression: nothing}], b: [{expression: 'gripper_open('}]}},"
            " {name: r, groups: {c: [{expression: ''}]}}]}",
            [
                "subtasks[0].groups.a[0].expression: column 1",
                "subtasks[0].groups.b[0].expression: column 13",
                "subtasks[1].groups.c[0].expression: is empty",
            ],
        ),
    ],
)
def test_a_bad_task_is_refused_with_every_fault_and_its_path(text: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_faults_of_conditions_and_task_of_a_file_come_together(tmp_path: Path) -> None:
    path = tmp_path / "conditions.yaml"
    path.write_text(
        "conditions: [{name: x}]\ntask: {name: t, subtasks: [{name: s, groups: {a: [{expression: y}]}}]}"
    )
    with pytest.raises(ConfigError) as caught:
        load_conditions(path, Definitions(Builder(ROBOT)))
    assert str(path) in str(caught.value)
    assert [fault.split(":")[0] for fault in caught.value.faults] == [
        "conditions[0].name",
        "task.subtasks[0].groups.a[0].expression",
    ]


def test_steps_may_speak_of_named_conditions_of_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "conditions.yaml"
    path.write_text(
        "conditions: [{name: ready, expression: gripper_open()}]\n"
        "task: {name: t, subtasks: [{name: s, groups: {a: [{expression: not ready}]}}]}"
    )
    _, task = load_conditions(path, Definitions(Builder(ROBOT)))
    assert task is not None
    assert list(task.expressions) == ["not ready"]


def test_codes_of_events_equal_those_of_the_message() -> None:
    text = (ROOT / "src" / "handiwork_msgs" / "msg" / "TaskEvent.msg").read_text()
    numbers = dict(
        line.split()[1].split("=") for line in text.splitlines() if line.startswith("uint16 ") and "=" in line
    )
    assert {name: int(value) for name, value in numbers.items()} == {
        code.name: int(code) for code in EventCode
    }


def test_the_examples_of_the_guide_are_good(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "how-to" / "watch-conditions.md").read_text()
    blocks = [part.split("```")[0] for part in guide.split("```yaml\n")[1:]]
    path = tmp_path / "conditions.yaml"
    path.write_text("".join(blocks))
    conditions, task = load_conditions(path, Definitions(Builder(ROBOT)))
    assert [condition.key for condition in conditions][1:] == ["put_away", "two_of_three"]
    assert task is not None
    assert [stage.needed for stage in task.stages] == [2, 2]
