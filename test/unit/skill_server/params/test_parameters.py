"""Parameters as YAML: strict, all faults at once; names of skills in every old spelling; skills of packages."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from skill_server.geometry.orientation_cones import OrientationFilter
from skill_server.params.parsing import parameters_from_yaml
from skill_server.params.registry import UnknownSkill, load_catalog, plain_name
from skill_server.skills import BUILTIN

CATALOG = load_catalog(BUILTIN, ())


def read(skill: str, text: str, arm: str = "") -> object:
    return parameters_from_yaml(CATALOG.find(skill), text, arm, "here")


def test_poses_filters_and_plain_exponents_are_read() -> None:
    text = """{object: cube, lift_th: 1e-2, orientation_filters: [{ee_axis: z, direction: downward, max_angle_deg: 20}],
      grasp_poses: [{position: [1, 2, 3], yaw_deg: 90}, {position: [0, 0, 0.5], quaternion_wxyz: [0, 1, 0, 0]}]}"""
    params = read("pick", text)
    assert params.lift_th == 0.01
    assert params.orientation_filters == (OrientationFilter("z", "downward", 0.0, 20.0),)
    first, second = params.grasp_poses
    assert first.translation_m == pytest.approx([1, 2, 3])
    assert first.rotation.matrix()[:, 0] == pytest.approx([0, 1, 0])
    assert second.rotation.matrix() == pytest.approx(np.diag([1, -1, -1]))


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("filter_z_dir: [downward, 140]", ("z", "downward", 0.0, 40.0)),
        ("filter_x_dir: [forward, 90]", ("x", "forward", 0.0, 90.0)),
        ("filter_y_dir: [upward, 60, 30]", ("y", "upward", 30.0, 60.0)),
        ("filter_y_dir: [upward, 30, 60]", ("y", "upward", 30.0, 60.0)),
        ("filter_x_dir: [downward, 120, 150]", ("x", "downward", 30.0, 60.0)),
        ("filter_x_dir: [backward, 150, 120]", ("x", "backward", 30.0, 60.0)),
    ],
)
def test_filters_of_the_simbox_format_count_from_the_positive_axis(
    words: str, wanted: tuple[object, ...]
) -> None:
    params = read("place", f"{{objects: [cube, bin], {words}}}")
    assert params.orientation_filters == (OrientationFilter(*wanted),)  # type: ignore[arg-type]


def test_the_next_place_is_read_as_a_goal_of_place_is() -> None:
    text = "{object: cube, next_place: {objects: [cube, bin], filter_z_dir: [downward, 140], place_z_offset: 2e-2}}"
    params = read("pick", text, arm="left")
    alone = read(
        "place", "{objects: [cube, bin], filter_z_dir: [downward, 140], place_z_offset: 2e-2}", "left"
    )
    assert params.next_place == alone
    assert read("pick", "{object: cube, next_place: }").next_place is None


def test_the_faults_of_the_next_place_have_its_key() -> None:
    text = "{object: cube, next_place: {x_ratio_range: [0.1], arm: left, seed: 99999999999999999999, filter_x_dir: 3}}"
    with pytest.raises(ConfigError) as caught:
        read("pick", text, arm="right")
    assert {fault.split(":")[0] for fault in caught.value.faults} == {
        "next_place.container",
        "next_place.x_ratio_range",
        "next_place.arm",
        "next_place.seed",
        "next_place.filter_x_dir",
    }


def test_every_fault_is_told_at_once() -> None:
    text = """{objects: [a, b], filter_z_dir: [sideways, 3], lift_th: .nan, arm: left, seed: 99999999999999999999,
      grasp_poses: [{position: [1, 2]}, {position: [1, 2, 3], yaw_deg: 1, rpy_deg: [1, 2, 3]}], t_epz: 1}"""
    with pytest.raises(ConfigError) as caught:
        read("pick", text, arm="right")
    keys = {fault.split(":")[0] for fault in caught.value.faults}
    assert keys >= {
        "objects",
        "filter_z_dir",
        "lift_th",
        "arm",
        "seed",
        "grasp_poses[0]",
        "grasp_poses[1]",
        "t_epz",
    }


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("goto__pose", "goto_pose"),
        ("Goto_Pose", "goto_pose"),
        ("GotoPose", "goto_pose"),
        ("gripper__action", "gripper_action"),
        ("heuristic__skill", "heuristic_skill"),
        ("mobile__rotate", "mobile_rotate"),
        ("Pick", "pick"),
    ],
)
def test_old_names_become_plain_ones(word: str, name: str) -> None:
    assert plain_name(word) == name


@pytest.mark.parametrize("kind", BUILTIN)
def test_the_name_of_every_class_is_understood(kind: type) -> None:
    assert type(CATALOG.find(kind.__name__)) is kind
    assert type(CATALOG.find(kind.__name__.capitalize())) is kind


def test_an_unknown_skill_is_told_with_the_nearest() -> None:
    assert CATALOG.find("Pick").name == "pick"
    with pytest.raises(UnknownSkill, match="did you mean 'place'"):
        CATALOG.find("plaze")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("skill_server.skills.pick_place.pick:Pick", "taken"),
        ("skill_server.skills.pick_place.pick:PickParams", "no class derived"),
        ("no_such_package:Skill", "No module named"),
        ("skill_server.skills.pick_place.pick:Nothing", "Nothing"),
    ],
)
def test_a_broken_plug_in_harms_no_other_and_is_told_by_name(value: str, words: str) -> None:
    catalog = load_catalog(BUILTIN, (EntryPoint("mine", value, "handiwork.skills"),))
    assert catalog.find("pick").name == "pick"
    assert words in catalog.broken["mine"]
    with pytest.raises(UnknownSkill, match="could not be loaded"):
        catalog.find("mine")
