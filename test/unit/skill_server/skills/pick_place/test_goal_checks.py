"""Bad goals are refused with the field and the valid values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import Shape, ShapeKind, World, WorldObject
from handiwork_core.testing.fakes import Cell, fakes
from skill_server.geometry.orientation_cones import OrientationFilter
from skill_server.params import checks
from skill_server.skills.motion.gripper_action import GripperAction, GripperActionParams
from skill_server.skills.pick_place.dexpick import DexPick, DexPickParams
from skill_server.skills.pick_place.dexplace import DexPlace, DexPlaceParams
from skill_server.skills.pick_place.flip import Flip, FlipParams
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams

NAN = float("nan")
DOWN = OrientationFilter("z", "downward", 0.0, 30.0)
TURN = Rotation.identity()
AT_BIN = PlaceParams(container="bin")


def made() -> Any:
    shape = Shape(ShapeKind.BOX, np.array([0.04, 0.04, 0.04]), Pose.identity())
    objects = {"cube": WorldObject("cube", (shape,)), "bin": WorldObject("bin", (shape,), is_static=True)}
    return fakes(Cell(objects, {"cube": Pose.identity(), "bin": Pose.of((0.0, 0.3, 0.0))})).context


PICKS = [
    ({"object": ""}, Code.BAD_GOAL, "object", "cube"),
    ({"object": "cub"}, Code.UNKNOWN_OBJECT, "object", "'cube'"),
    ({"object": "bin"}, Code.BAD_GOAL, "object", "fixture"),
    ({"gripper_width": 0.2}, Code.BAD_NUMBER, "gripper_width", "0.08"),
    ({"gripper_width": NAN}, Code.BAD_NUMBER, "gripper_width", "0.08"),
    ({"pre_grasp_offset": -0.1}, Code.BAD_NUMBER, "pre_grasp_offset", "0 to 1"),
    ({"post_grasp_offset_min": 0.2}, Code.CONTRADICTION, "post_grasp_offset_min", "swap"),
    ({"lift_th": 0.1}, Code.CONTRADICTION, "lift_th", "lift"),
    ({"npy_name": "none.npy"}, Code.BAD_GOAL, "npy_name", "none.npy"),
    ({"grasp_scale": 0.0}, Code.BAD_NUMBER, "grasp_scale", "0.001"),
    ({"tcp_offset": -0.1}, Code.BAD_NUMBER, "tcp_offset", "0 to 1"),
    ({"constraint_axis": "w"}, Code.BAD_GOAL, "constraint_axis", "'x'"),
    ({"constraint_ratio_range": (0.9, 0.1)}, Code.CONTRADICTION, "constraint_ratio_range[0]", "swap"),
    ({"final_gripper_state": 0}, Code.BAD_GOAL, "final_gripper_state", "-1"),
    ({"fixed_orientation": (TURN, TURN)}, Code.BAD_GOAL, "fixed_orientation", "one"),
    (
        {"fixed_orientation": (TURN,), "grasp_poses": (Pose.identity(),)},
        Code.CONTRADICTION,
        "fixed_orientation",
        "grasp_poses",
    ),
    ({"pre_grasp_hold_vec_weight": (1.0, 1.0)}, Code.BAD_NUMBER, "pre_grasp_hold_vec_weight", "6"),
    ({"gripper_change_steps": 901}, Code.BAD_NUMBER, "gripper_change_steps", "900"),
    ({"next_place": PlaceParams(container="bn")}, Code.UNKNOWN_OBJECT, "next_place.container", "'bin'"),
    (
        {"next_place": PlaceParams(container="bin", place_z_offset=0.5)},
        Code.CONTRADICTION,
        "next_place.place_z_offset",
        "in next_place, place_z_offset",
    ),
    ({"next_place": PlaceParams(container="cube")}, Code.CONTRADICTION, "next_place.container", "itself"),
    (
        {"next_place": PlaceParams(container="bin", object="bin")},
        Code.CONTRADICTION,
        "next_place.container",
        "two different",
    ),
    ({"next_place": AT_BIN, "final_gripper_state": 1}, Code.CONTRADICTION, "next_place", "open hand"),
    ({"next_place": AT_BIN, "look_ahead": False}, Code.CONTRADICTION, "look_ahead", "one of the two"),
    ({"direction_to_obj": "up"}, Code.BAD_GOAL, "direction_to_obj", "left"),
    ({"t_eps": 0.0}, Code.BAD_NUMBER, "t_eps", "m"),
    ({"max_velocity_scaling_factor": 1.5}, Code.BAD_NUMBER, "max_velocity_scaling_factor", "1"),
    (
        {"orientation_filters": (replace(DOWN, ee_axis="w"),)},
        Code.BAD_GOAL,
        "orientation_filters[0].ee_axis",
        "'x'",
    ),
    (
        {"orientation_filters": (replace(DOWN, direction="down"),)},
        Code.BAD_GOAL,
        "orientation_filters[0].direction",
        "downward",
    ),
    (
        {"orientation_filters": (replace(DOWN, max_angle_deg=NAN),)},
        Code.BAD_NUMBER,
        "orientation_filters[0].max_angle_deg",
        "180",
    ),
    (
        {"orientation_filters": (replace(DOWN, max_angle_deg=0.0),)},
        Code.CONTRADICTION,
        "orientation_filters[0].max_angle_deg",
        "width",
    ),
    (
        {"orientation_filters": (DOWN,), "grasp_poses": (Pose.identity(),)},
        Code.CONTRADICTION,
        "orientation_filters",
        "grasp_poses",
    ),
]
PICKS += [
    ({key: value}, Code.CONTRADICTION, key, words)
    for key, value, words in (
        ("grasp_scale", 2.0, "set npy_name"),
        ("tcp_offset", 0.1, "set npy_name"),
        ("constraint_ratio_range", (0.0, 0.5), "set constraint_axis"),
    )
]
PLACES = [
    ({"container": ""}, Code.BAD_GOAL, "container", "bin"),
    ({"container": "bun"}, Code.UNKNOWN_OBJECT, "container", "'bin'"),
    ({"object": "cube", "container": "cube"}, Code.CONTRADICTION, "container", "two different"),
    ({"place_direction": "horizontal"}, Code.CONTRADICTION, "align_place_obj_axis", "along it"),
    ({"place_part": 1}, Code.BAD_NUMBER, "place_part", "-1 to 0"),
    ({"z_ratio_range": (0.6, 0.4)}, Code.CONTRADICTION, "z_ratio_range[0]", "swap"),
    ({"hesitate_steps": 10**400}, Code.BAD_NUMBER, "hesitate_steps", "900"),
    ({"hesitate_steps": -1}, Code.BAD_NUMBER, "hesitate_steps", "900"),
    ({"post_place_hold_vec_weight": (1.0,)}, Code.BAD_NUMBER, "post_place_hold_vec_weight", "6"),
    (
        {"pre_place_hold_vec_weight": (0, 0, 0, 0, 0, -1.0)},
        Code.BAD_NUMBER,
        "pre_place_hold_vec_weight[5]",
        "0",
    ),
    (
        {"post_place_hold_vec_weight": (0, 0, 0, 1, 1, 1)},
        Code.CONTRADICTION,
        "post_place_hold_vec_weight[5]",
        "lowered",
    ),
    ({"success_mode": "left", "right_axis": (0, 0, 0)}, Code.CONTRADICTION, "right_axis", "zero"),
    ({"test_mode": "both"}, Code.BAD_GOAL, "test_mode", "'ik'"),
    ({"recovery": "pray"}, Code.BAD_GOAL, "recovery", "give_up"),
    ({"max_attempts": 0}, Code.BAD_NUMBER, "max_attempts", "1 to 20"),
    ({"follow_tolerance": 0.0}, Code.BAD_NUMBER, "follow_tolerance", "0.002 to 1"),
    ({"follow_tolerance": float("nan")}, Code.BAD_NUMBER, "follow_tolerance", "0.002 to 1"),
    ({"follow_speed": -0.1}, Code.BAD_NUMBER, "follow_speed", "0 to 1"),
    ({"follow_speed": float("inf")}, Code.BAD_NUMBER, "follow_speed", "0 to 1"),
    (
        {"align_plane_x_axis": (1, 0, 0), "align_pick_obj_axis": (0, 0, 1), "align_obj_tol_deg": 5.0},
        Code.CONTRADICTION,
        "align_plane_y_axis",
        "zero",
    ),
    (
        {
            "align_plane_x_axis": (1, 0, 0),
            "align_plane_y_axis": (2, 0, 0),
            "align_pick_obj_axis": (0, 0, 1),
            "align_obj_tol_deg": 5.0,
        },
        Code.CONTRADICTION,
        "align_plane_y_axis",
        "parallel",
    ),
    ({"place_direction": "sideways"}, Code.BAD_GOAL, "place_direction", "vertical"),
    ({"position_constraint": "obj"}, Code.BAD_GOAL, "position_constraint", "object"),
    ({"success_mode": "3d"}, Code.BAD_GOAL, "success_mode", "3diou"),
    ({"x_ratio_range": (0.6, 0.4)}, Code.CONTRADICTION, "x_ratio_range[0]", "swap"),
    ({"y_ratio_range": (NAN, 0.4)}, Code.BAD_NUMBER, "y_ratio_range[0]", "use"),
    ({"pre_place_z_offset": 0.0}, Code.CONTRADICTION, "place_z_offset", "swap"),
    ({"align_obj_tol_deg": 5.0}, Code.CONTRADICTION, "align_pick_obj_axis", "set all of"),
    (
        {"align_pick_obj_axis": (0.0, 0.0, 1.0), "align_obj_tol_deg": 5.0},
        Code.CONTRADICTION,
        "align_place_obj_axis",
        "zero",
    ),
    ({"success_mode": "3diou", "success_th": 1.0}, Code.BAD_NUMBER, "success_th", "0.999"),
    ({"post_place_vector": (0.0, NAN, 0.0)}, Code.BAD_NUMBER, "post_place_vector[1]", "m"),
    (
        {"orientation_filters": (DOWN,), "place_poses": (Pose.identity(),)},
        Code.CONTRADICTION,
        "orientation_filters",
        "place_poses",
    ),
]


@pytest.mark.parametrize(("changed", "code", "field_name", "words"), PICKS)
def test_pick_refuses(changed: dict[str, Any], code: Code, field_name: str, words: str) -> None:
    context = made()
    params = replace(PickParams(object="cube"), **changed)
    outcome = Pick().is_feasible(params, context.robot, context.arm_spec, context.world.snapshot())
    assert (outcome.code, outcome.field_name) == (code, field_name), outcome
    assert words in outcome.message


@pytest.mark.parametrize(("changed", "code", "field_name", "words"), PLACES)
def test_place_refuses(changed: dict[str, Any], code: Code, field_name: str, words: str) -> None:
    context = made()
    params = replace(PlaceParams(container="bin"), **changed)
    outcome = Place().is_feasible(params, context.robot, context.arm_spec, context.world.snapshot())
    assert (outcome.code, outcome.field_name) == (code, field_name), outcome
    assert words in outcome.message


POSES = (Pose.identity(),)
AXIS = (1.0, 0.0, 0.0)
IDLE: list[tuple[Any, Any, dict[str, Any], str]] = [
    *(
        (
            DexPick(),
            DexPickParams(object="cube", pick_poses=((0.0, 0.0, 0.1, 0.0, 1.0, 0.0, 0.0),)),
            changed,
            "dexpick",
        )
        for changed in (
            {"orientation_filters": (DOWN,)},
            {"direction_to_obj": "left"},
            {"constraint_axis": "x"},
            {"fixed_orientation": (TURN,)},
            {"grasp_poses": POSES},
        )
    ),
    *(
        (DexPlace(), DexPlaceParams(container="bin"), changed, "dexplace")
        for changed in (
            {"place_poses": POSES},
            {"place_direction": "horizontal"},
            {"z_ratio_range": (0.1, 0.2)},
        )
    ),
    *(
        (Flip(), FlipParams(container="bin"), changed, "flip")
        for changed in (
            {"place_poses": POSES},
            {"align_pick_obj_axis": AXIS},
            {"align_plane_x_axis": AXIS},
            {"place_direction": "horizontal"},
        )
    ),
]


@pytest.mark.parametrize(("skill", "params", "changed", "words"), IDLE)
def test_what_would_do_nothing_is_refused(
    skill: Any, params: Any, changed: dict[str, Any], words: str
) -> None:
    context = made()
    world = context.world.snapshot()
    assert skill.is_feasible(params, context.robot, context.arm_spec, world).ok
    verdict = skill.is_feasible(replace(params, **changed), context.robot, context.arm_spec, world)
    messages = {one.field_name: one.message for one in verdict.all}
    (field_name,) = changed
    assert f"does nothing here: {words}" in messages[field_name]
    assert "leave it out" in messages[field_name]


def test_defaults_are_accepted() -> None:
    context = made()
    world = context.world.snapshot()
    assert Pick().is_feasible(PickParams(object="cube"), context.robot, context.arm_spec, world).ok
    assert Place().is_feasible(PlaceParams(container="bin"), context.robot, context.arm_spec, world).ok


def weighed(world: World, mass_kg: float) -> World:
    return replace(world, objects={**world.objects, "cube": replace(world.objects["cube"], mass_kg=mass_kg)})


def test_an_object_beyond_the_rated_payload_is_refused_before_anything_moves() -> None:
    context = made()
    world, arm = context.world.snapshot(), context.arm_spec
    rated, params = replace(arm, rated_payload_kg=3.0, tool_mass_kg=0.7), PickParams(object="cube")
    refused = Pick().is_feasible(params, context.robot, rated, weighed(world, 2.5))
    assert refused.code is Code.BAD_GOAL and refused.field_name == "object"
    for words in (
        "'cube' has a mass of 2.5 kg",
        "rated for 3 kg, 0.70 kg of which is its tool",
        "at most 2.30",
    ):
        assert words in refused.message
    assert Pick().is_feasible(params, context.robot, rated, weighed(world, 2.2)).ok
    assert Pick().is_feasible(params, context.robot, arm, weighed(world, 2.5)).ok, "its payload is not known"
    closed = GripperActionParams(gripper_state=-1, object="cube")
    assert "2.5 kg" in GripperAction().is_feasible(closed, context.robot, rated, weighed(world, 2.5)).message
    opened = GripperActionParams(gripper_state=1, object="cube")
    assert GripperAction().is_feasible(opened, context.robot, rated, weighed(world, 2.5)).ok, (
        "it may be let go"
    )


def test_two_arms_carry_what_is_too_heavy_for_one() -> None:
    context = made()
    arm, world = replace(context.arm_spec, rated_payload_kg=3.0, tool_mass_kg=0.7), context.world.snapshot()
    assert not checks.payload("object", "cube", weighed(world, 4.0), arm).ok
    assert checks.payload("object", "cube", weighed(world, 4.0), arm, arm).ok
    assert not checks.payload("object", "cube", weighed(world, 5.0), arm, arm).ok
