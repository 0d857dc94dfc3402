"""Orientation masks, grasp rows, box overlaps and place poses agree with reference vectors."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import interp1d

from handiwork_core.geometry import Pose, Rotation
from handiwork_core.testing.gantry import gantry
from skill_server.grasps import grasps_from_rows
from skill_server.orientation import OrientationFilter, cones_of, surviving
from skill_server.place_targets import (
    Heights,
    PositionConstraint,
    alignment_cone,
    ee_at,
    retreat_pose,
    target_points,
)
from skill_server.solids import OrientedBox
from skill_server.success import iou

DATA = Path(__file__).parent / "data"
ROBOTS = {
    "fr3": (2, 0.1043, [[0, 0, -1], [0, 1, 0], [1, 0, 0]]),
    "franka_robotiq85": (2, 0.165, [[0, 0, -1], [0, 1, 0], [1, 0, 0]]),
    "genie1": (2, 0.217, [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    "lift2": (0, 0.125, [[1, 0, 0], [0, -1, 0], [0, 0, -1]]),
    "split_aloha": (2, 0.12, [[0, -1, 0], [0, 0, -1], [1, 0, 0]]),
}


def read(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def turns(quats: list[list[float]]) -> Any:
    return np.array([Rotation.from_wxyz(q).matrix() for q in quats])


@pytest.mark.parametrize("case", read("filter_masks.json"), ids=lambda c: str(c["config"]))
def test_filters_mean_the_angle_from_the_named_direction(case: dict[str, Any]) -> None:
    filters = []
    for key, (direction, *angles) in case["config"].items():
        low, high = (0.0, angles[0]) if len(angles) == 1 else angles
        filters.append(OrientationFilter(key[len("filter_")], direction, low, high))
    mask, _ = surviving(turns(case["quats_wxyz"]), cones_of(filters))
    assert mask.astype(int).tolist() == case["mask"]


@pytest.mark.parametrize("case", read("align_masks.json"), ids=lambda c: str(c["config"]))
def test_alignment(case: dict[str, Any]) -> None:
    config = case["config"]
    axes = (config["pick_axis"], config["place_axis"], config["tol_deg"])
    ee_T_object = Pose.from_matrix(case["obj_T_ee"]).inverse()
    container = (
        Pose.from_matrix(case["base_T_world"]).rotation @ Pose.from_matrix(case["world_T_container"]).rotation
    )
    cone = alignment_cone(np.array(axes[0]), np.array(axes[1]), axes[2], ee_T_object, container)
    assert cone.mask(turns(case["quats_wxyz"])).astype(int).tolist() == case["mask"]


@pytest.mark.parametrize("case", read("grasp_rows.json")["cases"], ids=lambda c: str(c["case"]))
def test_grasp_rows(case: dict[str, Any]) -> None:
    facts, tables = case["case"], read("grasp_rows.json")
    axis, tcp, r_ee_graspnet = ROBOTS[facts["robot"]]
    gripper = gantry().arms["arm"].gripper
    assert gripper is not None
    gripper = replace(
        gripper,
        ee_axis=axis,
        tcp_offset_m=tcp,
        R_ee_graspnet=np.array(r_ee_graspnet, dtype=float),
        min_width_m=facts["min_width"],
        max_width_m=facts["max_width"],
    )
    part = facts["constraints"] and ("xyz".index(facts["constraints"][0]), *facts["constraints"][1:])
    extra = (
        interp1d(tables["ed_width"], tables["ed_offset"], kind="cubic")
        if facts["extra_depth_table"]
        else None
    )
    poses, scores = grasps_from_rows(
        np.array(case["rows"]),
        gripper,
        grasp_scale=facts["grasp_scale"],
        tcp_offset_m=facts["tcp_offset"],
        part=part,
        extra_depth=extra,
    )
    assert poses.shape[0] == len(case["scores"])
    assert np.abs(poses[:, :3] - np.array(case["obj_T_ee"])).max() < 1e-6
    assert np.allclose(scores, case["scores"])


@pytest.mark.parametrize("index", range(len(read("iou_pairs.json"))))
def test_iou(index: int) -> None:
    pair = read("iou_pairs.json")[index]
    a = OrientedBox(Pose.of(pair["t1"], Rotation.from_matrix(pair["R1"])), np.array(pair["s1"]))
    b = OrientedBox(Pose.of(pair["t2"], Rotation.from_matrix(pair["R2"])), np.array(pair["s2"]))
    assert iou(a, b) == pytest.approx(pair["iou"], abs=1e-9), pair["category"]


@pytest.mark.parametrize("case", read("place_poses.json"), ids=lambda c: str(c["config"]))
def test_vertical_place_poses(case: dict[str, Any]) -> None:
    config = case["config"]
    world_T_base = Pose.from_matrix(case["T_world_base"])
    ee_T_object = Pose.from_matrix(case["T_world_ee"]).inverse() @ Pose.from_matrix(case["T_world_obj"])
    heights = Heights(config["pre_place_z_offset"], config["place_z_offset"])
    bounds = np.array(case["bbox_min"]), np.array(case["bbox_max"])
    points = target_points(*bounds, np.array(case["ratios"][:2]), heights)
    world_R_ee = world_T_base.rotation @ Rotation.from_matrix(case["R_tgt"])
    constraint = PositionConstraint(config["position_constraint"])
    for point, p, q in zip(
        points, (case["pre_p"], case["place_p"]), (case["pre_q"], case["place_q"]), strict=True
    ):
        pose = world_T_base.inverse() @ ee_at(point, world_R_ee, constraint, ee_T_object)
        assert pose.almost_equal(Pose.of(p, Rotation.from_wxyz(q)), within_m=1e-9, within_rad=1e-6)
    if case["post_p"] is not None:
        after = retreat_pose(pose, np.array(config["post_place_vector"]))
        assert np.allclose(after.translation_m, case["post_p"], atol=1e-9)
