"""Wrong arguments are refused when a condition is registered, with the name of the argument."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conditionals_node.batch import Poses, Worlds, evaluate
from conditionals_node.predicates import BUILTIN
from conditionals_node.predicates.containment import ObjectInContainer
from conditionals_node.predicates.order import ObjectsPlacedInContainerInOrder
from handiwork_core.config.dataclass_loader import ConfigError, parse
from handiwork_core.contracts.predicate import Finding, Predicate, Truth
from handiwork_core.model.geometry import frozen
from handiwork_core.model.world import Contact, World
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS
from support.records.pictured import at, box, world

FR3 = load_robot(ROBOTS / "fr3")
KINDS = {kind.name: kind for kind in BUILTIN}
HERE = at(0.0, 0.0, 0.0)
A_IN_B = {"object": "a", "container": "b"}
A_AND_B = {"object": "a", "reference_object": "b"}


@pytest.mark.parametrize(
    ("name", "args", "field", "words"),
    [
        ("object_in_container", {**A_IN_B, "object": []}, "object", "at least 1"),
        ("object_in_container", {**A_IN_B, "object": ["a", "a"]}, "object", "'a' twice"),
        ("object_in_container", {**A_IN_B, "object": ["a", "b"]}, "object", "'b' is also"),
        ("object_in_container", {**A_IN_B, "object": ""}, "object", "empty name"),
        ("object_in_container", {**A_IN_B, "object": 3}, "object", "text or a list"),
        ("object_in_container", {**A_IN_B, "logical": "choose", "K": 2}, "K", "2 of 1"),
        ("object_in_container", {**A_IN_B, "logical": "choose", "K": -1}, "K", "-1"),
        ("object_in_container", {**A_IN_B, "logical": "some"}, "logical", "'all'"),
        ("object_in_container", {**A_IN_B, "K": 1.5}, "K", "whole number"),
        ("object_in_container", {**A_IN_B, "min_force": -1}, "min_force", "0 or more"),
        ("object_in_container", {**A_IN_B, "tolerance": float("nan")}, "tolerance", "finite"),
        (
            "object_in_container",
            {**A_IN_B, "require_contact_with": 3},
            "require_contact_with",
            "true or false",
        ),
        ("object_upright", {"object": "a", "require_contact_with": True}, "require_contact_with", "names"),
        ("object_upright", {"object": "a", "tolerance": 4}, "tolerance", "pi"),
        ("object_upright", {"object": "a", "up_axis": "w"}, "up_axis", "w"),
        ("object_at", {"object": "a", "position": [0, 1]}, "position", "3"),
        (
            "object_at",
            {"object": "a", "position": [0, 0, 0], "quaternion_wxyz": [1, 1, 0, 0]},
            "quaternion_wxyz",
            "norm",
        ),
        ("object_on_top", {**A_AND_B, "cone_deg": 0}, "cone_deg", "more than 0"),
        ("object_left_of", {**A_AND_B, "cone_deg": 91}, "cone_deg", "at most 90"),
        ("object_left_of", {**A_AND_B, "frame_of_reference": ""}, "frame_of_reference", "robot"),
        ("object_left_of", {**A_AND_B, "level_tolerance": -0.1}, "level_tolerance", "0 or more"),
        ("object_next_to", {**A_AND_B, "dist": -0.1}, "dist", "0 or more"),
        ("object_above", {**A_AND_B, "mode": "box"}, "mode", "bbox"),
        (
            "object_between",
            {"object": "a", "reference_obj1": "b", "reference_obj2": "b"},
            "reference_obj2",
            "twice",
        ),
        ("objects_in_line", {"objects": ["a"]}, "objects", "at least 2"),
        ("stacked", {"objects": ["a"]}, "objects", "at least 2"),
        ("stacked", {"objects": ["a", "b"], "order": "sideways"}, "order", "top_to_bottom"),
        ("objects_placed_in_container_in_order", {"objects": [], "container": "b"}, "objects", "at least 1"),
        ("object_groups_in_containers", {"groups": []}, "groups", "at least one"),
        ("object_groups_in_containers", {"groups": [{"object": "a"}]}, "groups[0].container", "missing"),
        (
            "object_groups_in_containers",
            {"groups": [{**A_IN_B, "K": 5, "logical": "choose"}]},
            "groups[0].K",
            "5 of 1",
        ),
        ("object_in_contact", {"object1": "a", "object2": "a"}, "object2", "itself"),
        ("object_in_contact", {"object1": "a", "object2": "b", "K": 2, "logical": "choose"}, "K", "2 of 1"),
        ("joint_open", {"joint": "j", "open_position": 0.0}, "open_position", "equals"),
        ("joint_open", {"joint": "j", "open_position": 1.0, "share": 2}, "share", "0 to 1"),
        ("joint_in_range", {"joint": "j", "lower": 1, "upper": 0}, "lower", "swap"),
        ("gripper_fully_closed", {"threshold": 2}, "threshold", "0 to 1"),
    ],
)
def test_wrong_arguments(name: str, args: dict[str, object], field: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(KINDS[name], args, name)
    (fault,) = caught.value.faults
    assert fault.startswith(f"{field}: ")
    assert words in fault


@pytest.mark.parametrize(
    ("name", "args", "field"),
    [
        ("object_grabbed", {"object": "a", "gripper_name": "left_hand"}, "gripper_name"),
        ("wrong_object_grabbed", {"object": "a", "gripper_name": "left_hand"}, "gripper_name"),
        ("gripper_hit_table", {"gripper_name": "left_hand"}, "gripper_name"),
        ("gripper_open", {"gripper_name": "left_hand"}, "gripper_name"),
        ("gripper_open", {"joint": "elbow"}, "joint"),
        ("joint_open", {"joint": "drawer"}, "open_position"),
    ],
)
def test_what_the_robot_does_not_have(name: str, args: dict[str, object], field: str) -> None:
    predicate = parse(KINDS[name], args, name)
    with pytest.raises(ValueError, match=f"^{field}: "):
        predicate.for_robot(FR3)


def test_the_robot_fills_in_what_is_left_out() -> None:
    for name in ("gripper", "fr3_gripper", "fr3_arm"):
        predicate = parse(KINDS["object_grabbed"], {"object": "a", "gripper_name": name}, "x").for_robot(FR3)
        assert predicate.fingers == ("fr3/fr3_leftfinger", "fr3/fr3_rightfinger")
    assert "fr3/fr3_hand" in KINDS["gripper_hit_table"]().for_robot(FR3).bodies
    closed = KINDS["gripper_fully_closed"]().for_robot(FR3)
    assert (closed.open_position, closed.closed_position) == (pytest.approx(0.04), 0.0)
    assert (
        parse(KINDS["joint_open"], {"joint": "fr3_finger_joint1"}, "x").for_robot(FR3).open_position == 0.04
    )


@pytest.mark.parametrize("hand", [0, 1])
def test_one_hand_of_two_is_enough_for_a_grasp(hand: int) -> None:
    robot = load_robot(ROBOTS / "lift2")
    grabbed = parse(KINDS["object_grabbed"], {"object": "a"}, "x").for_robot(robot)
    assert len(grabbed.hands) == 2
    squeeze = [
        Contact("a", finger, frozen((0.0, -side, 0.0)), frozen((0.0, side * 0.02, 0.0)))
        for finger, side in zip(grabbed.hands[hand].fingers, (1.0, -1.0), strict=True)
    ]
    held = world((box("a", 0.04, 0.04, 0.04), HERE), contacts=tuple(squeeze))
    assert grabbed.evaluate(held).truth is Truth.TRUE
    assert evaluate(grabbed, Worlds.of([held])).margin == pytest.approx(0.9)
    assert grabbed.evaluate(replace(held, contacts=tuple(squeeze[:1]))).truth is Truth.FALSE


def worlds(n: int = 2) -> dict[str, Poses]:
    return {"a": Poses(np.zeros((n, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)))}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Poses(np.zeros((2, 2)), np.zeros((2, 4))), "position: has shape"),
        (lambda: Poses(np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (3, 1))), "3 rows for 2"),
        (lambda: Poses(np.zeros((2, 3)), np.array([[1.0, 0, 0, 0], [1.0, 1.0, 0, 0]])), "row 1.*norm 1.414"),
        (lambda: Worlds({}, {**worlds(2), "b": worlds(3)["a"]}), "'b'.*3 for 2"),
        (lambda: Worlds({}, worlds(), forces={("a", "b"): np.zeros((3, 3))}), "forces.*shape"),
        (lambda: Worlds({}, worlds(), joints={"j": np.zeros(3)}), "joints.*'j'.*shape"),
        (lambda: Worlds({}, worlds(), sizes={"a": np.zeros(2)}), "sizes.*'a'.*more than 0"),
        (
            lambda: Worlds.of([world((box("a", 1, 1, 1), HERE)), world((box("a", 1, 1, 2), HERE))]),
            "'a'.*world 1",
        ),
    ],
)
def test_batches_of_the_wrong_shape(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=words):
        make()


class Lonely(Predicate):
    name = "lonely"

    def subjects(self) -> tuple[str, ...]:
        return ()

    def evaluate(self, world: World) -> Finding:
        return Finding.unknown(f"{world.stamp_s}")


def test_batches_of_what_has_no_arrays() -> None:
    with pytest.raises(TypeError, match="lonely"):
        evaluate(Lonely(), Worlds({}, worlds()))
    with pytest.raises(TypeError, match="in_order"):
        evaluate(ObjectsPlacedInContainerInOrder(("a",), "b"), Worlds({}, worlds()))
    found = evaluate(ObjectInContainer("a", "b"), Worlds({}, worlds()))
    assert found.truth.tolist() == [0, 0]
    assert "'b'" in found.reason


def test_rows_that_are_not_known_are_unknown() -> None:
    poses = worlds(3)
    position = np.array([[0.0, 0.0, 0.0], [np.nan, 0.0, 0.0], [5.0, 0.0, 0.0]])
    objects = {"a": box("a", 1.0, 1.0, 1.0), "b": box("b", 1.0, 1.0, 1.0)}
    batch = Worlds(objects, {"a": Poses(position, poses["a"].wxyz), "b": poses["a"]})
    assert evaluate(ObjectInContainer("a", "b"), batch).truth.tolist() == [2, 0, 1]
