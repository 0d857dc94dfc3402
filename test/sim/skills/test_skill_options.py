"""Options of Pick and Place in physics, with the CPU engine: each is planned, held and done as the goal says."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.spatial import ConvexHull

from handiwork_core.contracts.arrival import ee_pose
from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.robot.robot import Robot
from skill_server.execution.run import run_skill
from skill_server.geometry.orientation_cones import OrientationFilter
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from support.cells.simulated_cell import SimulatedCell
from support.paths import ROOT

STEEP = (OrientationFilter("z", "downward", 0.0, 20.0),)
PICKS: dict[str, dict[str, Any]] = {
    "open": {"final_gripper_state": 1},
    "return": {"return_to_pregrasp": True},
    "no pre-grasp": {"pre_grasp_offset": 0.0},
    "no lift": {"post_grasp_offset_min": 0.0, "post_grasp_offset_max": 0.0, "lift_th": 0.0},
    "held": {"pre_grasp_hold_vec_weight": (1.0, 1.0, 1.0, 1.0, 1.0, 0.0)},
    "fixed": {"fixed_orientation": (Rotation.from_rpy(np.pi, 0.0, 0.0),)},
    "ik": {"test_mode": "ik"},
}
PLACES: dict[str, dict[str, Any]] = {
    "turn held but for yaw": {"pre_place_hold_vec_weight": (1.0, 1.0, 0.0, 0.0, 0.0, 0.0)},
    "descent held": {"post_place_hold_vec_weight": (1.0, 1.0, 1.0, 1.0, 1.0, 0.0), "hesitate_steps": 15},
    "axis": {
        "align_pick_obj_axis": (1.0, 0.0, 0.0),
        "align_place_obj_axis": (0.0, 1.0, 0.0),
        "align_obj_tol_deg": 8.0,
        "orientation_filters": STEEP,
    },
    "plane": {
        "align_pick_obj_axis": (1.0, 0.0, 0.0),
        "align_plane_x_axis": (1.0, 0.0, 0.0),
        "align_plane_y_axis": (0.0, 1.0, 0.0),
        "align_obj_tol_deg": 5.0,
        "orientation_filters": STEEP,
    },
    "gripper": {"position_constraint": "gripper"},
    "gripper over the top": {
        "position_constraint": "gripper",
        "heights_from": "container_top",
        "place_z_offset": 0.12,
        "pre_place_z_offset": 0.25,
    },
    "ik": {"test_mode": "ik"},
    # Along the world's -z into the bin, which stands level: 0.2 m off its middle, then 0.03 m over it.
    "along an axis": {
        "place_direction": "horizontal",
        "align_place_obj_axis": (0.0, 0.0, 1.0),
        "offset_place_obj_axis": (1.0, 0.0, 0.0),
        "pre_place_align": 0.2,
        "pre_place_offset": 0.0,
        "place_align": 0.08,
        "place_offset": 0.0,
        "z_ratio_range": (0.5, 0.5),
    },
}


@pytest.fixture
def cell(robot: Robot, engine: Any) -> SimulatedCell:
    return SimulatedCell(robot, engine, "place_modes", 3)


@pytest.mark.parametrize("changed", PICKS.values(), ids=PICKS)
def test_pick(cell: SimulatedCell, changed: dict[str, Any]) -> None:
    params = PickParams(object="cube", allowed_planning_time=60.0, **changed)
    before = cell.snapshot().states["cube"].world_T_object
    context = cell.context(3)
    run = run_skill(Pick(), params, context)
    assert run.outcome.ok, run
    assert set(context.held) == ({"cube"} if params.is_closing else set())
    after = cell.snapshot()
    if params.fixed_orientation:
        hand = ee_pose(after, cell.robot, cell.spec, cell.world_T_base())
        assert hand.rotation.angle_to(params.fixed_orientation[0]) < 0.05
    if not params.is_closing:
        assert before.distance_to(after.states["cube"].world_T_object)[0] < 0.005


def test_pick_by_an_annotation(cell: SimulatedCell, tmp_path: Path) -> None:
    rows = np.zeros((4, 16))
    rows[:, :4] = 0.1, 0.045, 0.02, 0.0
    rows[:, 15] = 0.005
    for i, row in enumerate(rows):
        turn = Rotation.from_rpy(0.0, 0.0, i * np.pi / 2).matrix()
        row[4:13] = (turn @ np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])).ravel()
    np.save(tmp_path / "cube.npy", rows)
    run = run_skill(Pick(), PickParams(object="cube", npy_name=str(tmp_path / "cube.npy")), cell.context(3))
    assert run.outcome.ok, run


@pytest.mark.parametrize("changed", PLACES.values(), ids=PLACES)
def test_place(cell: SimulatedCell, changed: dict[str, Any]) -> None:
    context = cell.context(3)
    assert run_skill(Pick(), PickParams(object="cube", allowed_planning_time=60.0), context).outcome.ok
    params = PlaceParams(container="bin", allowed_planning_time=60.0, **changed)
    run = run_skill(Place(), params, replace(context, planning_time_s=0.0, refused=[]))
    assert run.outcome.ok, run


@pytest.mark.parametrize("mode", ["ik", "forward"])
def test_obstacles_count_in_both_test_modes(robot: Robot, engine: Any, tmp_path: Path, mode: str) -> None:
    """With a lid over the cube it blocks every grasp from above; without the lid there is a grasp."""
    scene = yaml.safe_load((ROOT / "config/scenes/place_modes.yaml").read_text())
    scene["objects"] = {name: scene["objects"][name] for name in ("floor", "pedestal", "table", "cube")}
    scene["objects"]["cube"]["randomize"] = None
    lid = {"type": "box", "size": [0.3, 0.3, 0.01]}
    scene["objects"]["lid"] = {"static": True, "pose": {"position": [0.42, 0.16, 0.08]}, "shapes": [lid]}
    (tmp_path / "lid.yaml").write_text(yaml.safe_dump(scene))
    cell = SimulatedCell(robot, engine, os.path.relpath(tmp_path / "lid", ROOT / "config/scenes"), 3)
    params = PickParams(object="cube", test_mode=mode, orientation_filters=STEEP, allowed_planning_time=60.0)
    with pytest.raises(StepFailed) as caught:
        Pick().commands(params, cell.context(3))
    outcome = caught.value.outcome
    assert outcome.code is Code.NO_CANDIDATE, outcome
    assert outcome.blocking is not None, outcome
    assert "lid" in outcome.blocking, outcome
    assert Pick().commands(replace(params, ignore_substring=("lid",)), cell.context(3))


@pytest.mark.parametrize("corners", [3, 6])
def test_pick_of_a_mesh_without_an_annotation(
    robot: Robot, engine: Any, tmp_path: Path, corners: int
) -> None:
    angle = 2.0 * np.pi * np.arange(corners) / corners
    ring = 0.03 * np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.vstack([np.column_stack([ring, np.full(corners, z)]) for z in (-0.04, 0.04)])
    triangles = ConvexHull(points).simplices + 1
    lines = [f"v {x} {y} {z}" for x, y, z in points] + [f"f {a} {b} {c}" for a, b, c in triangles]
    (tmp_path / "prism.obj").write_text("\n".join(lines))
    scene = yaml.safe_load((ROOT / "config/scenes/tabletop.yaml").read_text())
    prism = scene["objects"]["cube"] | {"shapes": [{"type": "mesh", "file": "prism.obj"}]}
    scene["objects"]["cube"] = prism | {"pose": {"position": [0.5, 0.12, 0.041]}, "randomize": None}
    (tmp_path / "prism.yaml").write_text(yaml.safe_dump(scene))
    cell = SimulatedCell(robot, engine, os.path.relpath(tmp_path / "prism", ROOT / "config/scenes"), 0)
    run = run_skill(Pick(), PickParams(object="cube", allowed_planning_time=60.0), cell.context(0))
    assert run.outcome.ok, run
