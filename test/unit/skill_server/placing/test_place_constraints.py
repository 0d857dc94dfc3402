"""Place horizontally, in a plane, with held components, on a part of the container, and by planned paths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.commands import (
    CloseGripper,
    OpenGripper,
    UpdatePoseCostMetric,
)
from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import blocked
from skill_server.geometry.orientation_cones import OrientationFilter
from skill_server.skills.pick_place.place import Place, PlaceParams

from .test_place_choice import made, release_poses

SIDEWAYS = PlaceParams(
    container="tray",
    place_direction="horizontal",
    align_place_obj_axis=(0.0, 1.0, 0.0),
    offset_place_obj_axis=(0.0, 0.0, 2.0),
    pre_place_align=-0.3,
    place_align=-0.05,
    pre_place_offset=0.1,
    place_offset=0.02,
)


def objects_at(params: PlaceParams) -> tuple[Any, list[Any]]:
    """Return the fakes and, for each candidate, positions of the object before the release and at it."""
    f = made()
    release_poses(f, params)
    candidates = [c for request in f.planner.candidates for c in request.candidates]
    return f, [[(pose @ f.cell.hand_T_object).translation_m for pose in c.world_T_ee[:2]] for c in candidates]


def test_horizontal_moves_along_the_axes_of_a_turned_container() -> None:
    f = made()
    f.cell.poses["tray"] = Pose.of((0.4, -0.3, 0.01), Rotation.from_rpy(0.0, 0.0, np.pi / 2))
    poses = release_poses(f, SIDEWAYS)
    assert len(poses) >= 20
    candidate = f.planner.candidates[0].candidates[0]
    before, at = ((pose @ f.cell.hand_T_object).translation_m for pose in candidate.world_T_ee[:2])
    # The tray's y is the world's -x now; the offset axis is two long.
    assert np.allclose(at - before, (-0.25, 0.0, -0.16))


def test_horizontal_by_the_gripper_stands_off_by_the_objects_distance() -> None:
    f = made()
    params = replace(SIDEWAYS, position_constraint="gripper", pre_place_z_offset=0.2, place_z_offset=0.05)
    release_poses(f, params)
    for candidate in f.planner.candidates[0].candidates:
        before, at = (pose.translation_m for pose in candidate.world_T_ee[:2])
        assert np.allclose(at - before, (0.0, 0.15, 0.0))
        # Between 0.4 and 0.6 of the tray's 0.2 m, less the hand's 0.1 m and the offset.
        assert -0.32 - 0.15 - 1e-9 <= at[1] <= -0.28 - 0.15 + 1e-9


def test_z_ratios_are_used() -> None:
    for ratio in (0.0, 1.0):
        _, positions = objects_at(replace(SIDEWAYS, z_ratio_range=(ratio, ratio)))
        assert all(at[2] == pytest.approx(0.02 * ratio + 0.04) for _, at in positions)


def test_a_plane_holds_for_every_candidate() -> None:
    f = made()
    params = PlaceParams(
        container="tray",
        align_pick_obj_axis=(0.0, 0.0, 1.0),
        align_plane_x_axis=(1.0, 0.0, 0.0),
        align_plane_y_axis=(1.0, 1.0, 0.0),
        align_obj_tol_deg=3.0,
    )
    heights = [(pose @ f.cell.hand_T_object).rotation.matrix()[2, 2] for pose in release_poses(f, params)]
    assert len(heights) >= 20
    assert np.degrees(np.arcsin(np.abs(heights))).max() <= 3.0 + 1e-9
    assert np.ptp(heights) > 0.01


def test_held_turns_keep_the_present_orientation() -> None:
    f = made()
    now = Rotation.from_rpy(np.pi, 0.0, 0.0)
    for pose in release_poses(f, PlaceParams(container="tray", pre_place_hold_vec_weight=(1, 1, 1, 0, 0, 0))):
        assert pose.rotation.angle_to(now) < 1e-6
    yaws = set()
    for pose in release_poses(
        made(), PlaceParams(container="tray", pre_place_hold_vec_weight=(3, 3, 0, 0, 0, 0))
    ):
        assert pose.rotation.matrix()[2, 2] == pytest.approx(-1.0)
        yaws.add(round(float(pose.rotation.matrix()[0, 0]), 6))
    assert len(yaws) >= 20


def test_a_hold_that_contradicts_a_filter_names_both() -> None:
    params = PlaceParams(
        container="tray",
        pre_place_hold_vec_weight=(1, 1, 0, 0, 0, 0),
        orientation_filters=(OrientationFilter("z", "forward", 0.0, 20.0),),
    )
    with pytest.raises(StepFailed) as caught:
        Place().commands(params, made().context)
    assert caught.value.outcome.field_name == "pre_place_hold_vec_weight"
    assert "forward" in caught.value.outcome.message


def test_holds_stand_where_they_apply_and_reach_the_planner() -> None:
    f = made()
    before, after = (0.0, 0.0, 0.0, 0.0, 0.0, 0.5), (1.0, 1.0, 1.0, 1.0, 1.0, 0.0)
    params = PlaceParams(
        container="tray",
        pre_place_hold_vec_weight=before,
        post_place_hold_vec_weight=after,
        hesitate_steps=15,
    )
    commands = Place().commands(params, f.context)
    assert [p.hold_vec_weight for p in f.planner.plans] == [before]
    held: Any = None
    seen = {}
    for command in commands:
        if isinstance(command.function, UpdatePoseCostMetric):
            held = command.function.hold_vec_weight
        elif command.world_T_ee is not None:
            seen[command.stage] = held
    assert seen == {"transit": before, "descend": after, "retreat": None}
    descend = next(c for c in commands if c.stage == "descend" and c.world_T_ee is not None)
    assert isinstance(descend.function, CloseGripper)
    assert descend.dwell_s == pytest.approx(0.5)


def test_steps_wait_after_the_release() -> None:
    commands = Place().commands(PlaceParams(container="tray", gripper_change_steps=30), made().context)
    release = next(c for c in commands if isinstance(c.function, OpenGripper))
    assert release.dwell_s == pytest.approx(1.0)


def test_one_part_of_the_container_is_the_target() -> None:
    f = made()
    tower = Shape(ShapeKind.BOX, np.array([0.02, 0.02, 0.5]), Pose.of((0.2, 0.0, 0.25)))
    f.cell.objects["tray"] = WorldObject("tray", (*f.cell.objects["tray"].shapes, tower), True)
    for part, top in ((0, 0.02), (-1, 0.51)):
        params = PlaceParams(container="tray", place_part=part, heights_from="container_top")
        pose = release_poses(f, params)[-1]
        assert (pose @ f.cell.hand_T_object).translation_m[2] == pytest.approx(top + 0.01)


def test_forward_plans_the_way_and_takes_the_next_candidate_where_there_is_none() -> None:
    f = made()
    f.planner.refusals = [blocked(Code.PATH_BLOCKED, "gantry/hand", "tray")]
    commands = Place().commands(PlaceParams(container="tray"), f.context)
    transit = next(c for c in commands if c.world_T_ee is not None)
    assert len(f.planner.plans) == 2
    assert transit.planned is not None
    assert np.allclose(transit.planned.q[-1], transit.q)


def test_ik_leaves_the_way_to_the_motion() -> None:
    f = made()
    commands = Place().commands(PlaceParams(container="tray", test_mode="ik"), f.context)
    assert not f.planner.plans
    assert f.planner.candidates, "obstacles are minded by the planner's verdict on every candidate"
    assert all(c.planned is None for c in commands)
