"""Task files: the parsed task, and errors with every fault at once, its path and the correction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import yaml

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import (
    ObjectState,
    Shape,
    ShapeKind,
    World,
    WorldObject,
)
from handiwork_core.robot.robot import Robot
from handiwork_core.testing.gantry import gantry
from skill_server.params.registry import load_catalog
from skill_server.skills import BUILTIN
from skill_server.task.model import Task, further_arms
from skill_server.task.reading.entries import Site
from skill_server.task.reading.read import read_task

CATALOG = load_catalog(BUILTIN, ())
GOOD = """
name: demo
seed: 5
skills:
  - gantry:
      - left: [{name: pick, object: cube}, {name: place, container: tray}]
        right: [{name: pick, objects: [ball]}]
      - right: [{name: place, objects: [ball, tray], x_ratio_range: [0.1, 2e-1]}]
  - gantry:
      - left: [{name: pick, object: cube, seed: 3}]
"""


def two_armed() -> Robot:
    robot = gantry()
    arm = robot.arms["arm"]
    arms = {name: replace(arm, name=name) for name in ("left_arm", "right_arm")}
    return replace(robot, arms=arms)


def world() -> World:
    zero = np.zeros(3)
    edges = {"cube": 0.04, "ball": 0.03, "tray": 0.2}
    bodies = {
        name: WorldObject(
            name, (Shape(ShapeKind.BOX, np.full(3, edge), Pose.identity()),), is_static=name == "tray"
        )
        for name, edge in edges.items()
    }
    states = {name: ObjectState(Pose.of((0.3, 0.0, 0.1)), zero, zero, 0.0) for name in edges}
    return World(0.0, 1, bodies, states)


def read(text: str, seed: int | None = None, seen: World | None = None) -> Task:
    return read_task(text, "demo.yaml", Site(CATALOG, two_armed(), seen), seed)


def faults(text: str, seen: World | None = None) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        read(text, seen=seen)
    assert str(caught.value).startswith("demo.yaml: ")
    return caught.value.faults


def test_groups_steps_and_arms_are_read_in_order() -> None:
    task = read(GOOD)
    assert [step.label for step in task.steps] == ["1.1", "1.2", "2.1"]
    assert [(e.step, e.arm, e.skill.name) for e in task.entries] == [
        ("1.1", "left_arm", "pick"),
        ("1.1", "left_arm", "place"),
        ("1.1", "right_arm", "pick"),
        ("1.2", "right_arm", "place"),
        ("2.1", "left_arm", "pick"),
    ]
    assert task.entries[3].params.container == "tray"
    assert task.entries[3].params.object == "ball"
    assert task.entries[3].params.x_ratio_range == (0.1, 0.2)
    assert task.entries[3].path == "skills[0].gantry[1].right[0]"


def test_each_skill_has_a_seed_of_its_own_that_follows_from_the_task_s() -> None:
    seeds = [entry.params.seed for entry in read(GOOD).entries]
    assert seeds == [entry.params.seed for entry in read(GOOD).entries]
    assert len(set(seeds)) == 5
    assert seeds[4] == 3
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert seeds[:4] != [entry.params.seed for entry in read(GOOD, seed=6).entries][:4]
    assert read(GOOD, seed=6).seed == 6


def test_a_seed_does_not_depend_on_what_stands_before_in_other_steps() -> None:
    longer = yaml.safe_load(GOOD)
    longer["skills"][0]["gantry"][0]["left"].append({"name": "pick", "object": "cube"})
    assert read(yaml.safe_dump(longer)).entries[-2].params.seed == read(GOOD).entries[-2].params.seed


def test_a_file_of_the_simbox_format_is_read_and_says_what_it_does_not_use() -> None:
    body = yaml.safe_load(GOOD)
    text = yaml.safe_dump({"tasks": [{**body, "arena_file": "a.yaml", "cameras": []}]})
    task = read(text)
    assert len(task.entries) == 5
    assert [note.split(":")[0] for note in task.notes] == [
        "tasks[0].arena_file",
        "tasks[0].cameras",
        "tasks[0].format",
    ]
    assert task.entries[0].path == "tasks[0].skills[0].gantry[0].left[0]"


def test_every_fault_is_told_at_once_with_its_path_and_mend() -> None:
    found = faults(
        """
        nme: demo
        seed: yes
        skills:
          - gantry:
              - left: [{name: pick, objct: cube}]
                middle: [{name: pick, object: cube}]
                right: []
              - {}
            lift2: []
          - {gantry: [{left_arm: [{name: pikc}, 3, {name: place, container: tray, arm: right_arm}]}]}
        """
    )
    wanted = [
        ("nme", "did you mean 'name'?"),
        ("seed", "whole number"),
        ("skills[0].lift2", "the robot is 'gantry'"),
        ("skills[0].gantry[0].left[0].objct", "did you mean 'object'?"),
        ("skills[0].gantry[0].left[0].object", "missing"),
        ("skills[0].gantry[0].middle", "is no arm of 'gantry'"),
        ("skills[0].gantry[0].right", "at least one skill"),
        ("skills[0].gantry[1]", "arms of ['left_arm', 'right_arm']"),
        ("skills[1].gantry[0].left_arm[0].name", "did you mean 'pick'?"),
        ("skills[1].gantry[0].left_arm[1]", "write {name: <skill>"),
        ("skills[1].gantry[0].left_arm[2].arm", "name the arm once"),
    ]
    by_path = dict(fault.split(": ", 1) for fault in found)
    assert set(by_path) == {path for path, _ in wanted}
    for path, words in wanted:
        assert words in by_path[path], by_path[path]


def test_the_world_is_asked_where_it_is_known() -> None:
    assert read(GOOD, seen=world()).entries
    text = GOOD.replace("object: cube}, ", "object: cub}, ")
    assert read(text).entries
    (fault,) = faults(text, world())
    assert fault.startswith("skills[0].gantry[0].left[0].object: no object 'cub'; did you mean 'cube'?")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "skills: is None"),
        ("[]", "holds a list"),
        ("skills: [", "correct the YAML"),
        ("skills: 1\nskills: 2", "appears twice"),
        ("a: &x 1\nskills: *x", "write the value out"),
        ("tasks: []", "exactly one task"),
        ("tasks: [{skills: []}]\nname: x", "name: is given beside tasks"),
        ("skills: " + "[" * 3000, "nested more than 40 deep"),
        ("skills: !!timestamp 2001-99-99", "is not understood; leave it out"),
        ("x" * 1_000_001, "keep it within"),
    ],
)
def test_what_is_no_task_at_all(text: str, words: str) -> None:
    assert any(words in fault for fault in faults(text)), faults(text)


def test_steps_to_begin_at_are_known_by_label() -> None:
    task = read(GOOD)
    assert [task.index_of(label) for label in ("", "1.1", "2.1")] == [0, 0, 2]
    with pytest.raises(ValueError, match=r"did you mean '2\.1'"):
        task.index_of("2.2")


def test_one_arm_is_left_and_never_right() -> None:
    site = Site(CATALOG, gantry(), None)
    text = "skills: [{gantry: [{left: [{name: pick, object: cube}]}]}]"
    assert read_task(text, "x", site).entries[0].arm == "arm"
    with pytest.raises(ConfigError, match=r"right: is no arm of 'gantry'"):
        read_task(text.replace("left", "right"), "x", site)


def test_a_skill_that_needs_two_arms_has_both_for_its_step() -> None:
    alone = "skills: [{gantry: [{left: [{name: handover, object: cube}]}]}]"
    (entry,) = read(alone).entries
    assert further_arms(entry, two_armed()) == ("right_arm",)
    both = "skills: [{gantry: [{left: [{name: handover}], right: [{name: home}]}]}]"
    (fault,) = faults(both)
    assert "skills[0].gantry[0].left[0]: handover needs right_arm, which has skills of its own" in fault


def test_two_lists_of_a_step_do_not_need_the_same_further_arm() -> None:
    arm, one = gantry().arms["arm"], "{name: handover, object: cube, to_arm: c}"
    three = replace(gantry(), arms={name: replace(arm, name=name) for name in ("a", "b", "c")})
    site = Site(CATALOG, three, None)
    with pytest.raises(ConfigError) as caught:
        read_task(f"skills: [{{gantry: [{{a: [{one}], b: [{one}]}}]}}]", "demo.yaml", site, None)
    (fault,) = caught.value.faults
    assert "b[0]: handover needs c, which a skill of a needs in this step; split the step" in fault
    in_turn = read_task(f"skills: [{{gantry: [{{a: [{one}, {one}]}}, {{b: [{one}]}}]}}]", "x", site, None)
    assert len(in_turn.entries) == 3
