"""Orientation filters, alignment, grasp rows, overlaps, place poses and success agree with reference vectors."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import interp1d

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.robot.robot import GripperSpec
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.testing.gantry import gantry
from skill_server.geometry.axis_alignment import axis_cone
from skill_server.geometry.orientation_cones import (
    Cone,
    OrientationFilter,
    cones_of,
    surviving,
)
from skill_server.geometry.solids import OrientedBox
from skill_server.grasping.graspnet_rows import RatioRange, annotated, depth_table
from skill_server.params.simbox_format import translated
from skill_server.placing.box_overlap import iou
from skill_server.placing.candidates import PlaceSetting, target_points
from skill_server.placing.params import PlaceParams
from skill_server.placing.release_points import (
    Held,
    PositionConstraint,
    ee_positions,
    retreat_pose,
)
from skill_server.placing.success import by_mode
from skill_server.placing.success_modes import Placed
from support.paths import ROOT

DATA = ROOT / "test/data/skills"
ROBOTS = {
    "fr3": (2, 0.1043, [[0, 0, -1], [0, 1, 0], [1, 0, 0]]),
    "franka_robotiq85": (2, 0.165, [[0, 0, -1], [0, 1, 0], [1, 0, 0]]),
    "genie1": (2, 0.217, [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    "lift2": (0, 0.125, [[1, 0, 0], [0, -1, 0], [0, 0, -1]]),
    "split_aloha": (2, 0.12, [[0, -1, 0], [0, 0, -1], [1, 0, 0]]),
}
"""Approach axis, distance to the TCP and GraspNet axes in the EE frame, as the SimBox format's robot files say."""


def read(name: str) -> dict[str, Any]:
    with np.load(DATA / name, allow_pickle=False) as data:
        return {key: data[key] for key in data.files}


def cases(data: dict[str, Any], key: str = "configs_json") -> list[dict[str, Any]]:
    return [json.loads(str(text)) for text in data[key]]


FILTERS, EDGES, ALIGN = read("filter_masks.npz"), read("filter_masks_edge.npz"), read("align_masks.npz")
ROWS, PLACES, SUCCESS = read("grasp_rows.npz"), read("place_poses.npz"), read("place_success.npz")
PAIRS = read("iou_pairs.npz")


def matrices(quats_wxyz: Array) -> Array:
    return np.array([Rotation.from_wxyz(q).matrix() for q in quats_wxyz])


def seed_cones(config: dict[str, Any]) -> tuple[Cone, ...]:
    """Return the filters of a task file, parsed as task files are."""
    made, faults = translated(config, ("orientation_filters",), ())
    assert not faults
    return cones_of([OrientationFilter(**item) for item in made.get("orientation_filters", [])])


def ranges(config: dict[str, Any]) -> list[list[Any]]:
    return [value for value in config.values() if len(value) == 3]


@pytest.mark.parametrize("i", range(len(FILTERS["masks"])), ids=lambda i: str(FILTERS["configs_json"][i]))
def test_filters(i: int) -> None:
    config = cases(FILTERS)[i]
    mask, _ = surviving(matrices(FILTERS["quats_wxyz"][i]), seed_cones(config))
    positive = ("forward", "leftward", "upward")
    # There, two angles written the other way round left nothing, or everything; here they are a range in any order.
    ordered = all((d in positive) == (a >= b) or a == b for d, a, b in ranges(config))
    if ordered:
        assert mask.tolist() == FILTERS["masks"][i].tolist()
    turned = {k: [v[0], *sorted(v[1:], reverse=v[0] in positive)] for k, v in config.items()}
    assert (surviving(matrices(FILTERS["quats_wxyz"][i]), seed_cones(turned))[0] == mask).all()


@pytest.mark.parametrize("i", range(len(FILTERS["masks"])), ids=lambda i: str(FILTERS["configs_json"][i]))
def test_filters_of_goals_mean_the_angle_from_the_named_direction(i: int) -> None:
    filters = []
    for key, (direction, *angles) in cases(FILTERS)[i].items():
        low, high = (0.0, angles[0]) if len(angles) == 1 else angles
        filters.append(OrientationFilter(key[len("filter_")], direction, low, high))
    mask, _ = surviving(matrices(FILTERS["quats_wxyz"][i]), cones_of(filters))
    assert mask.tolist() == FILTERS["from_named"][i].tolist()


@pytest.mark.parametrize("i", range(len(EDGES["masks"])), ids=lambda i: str(EDGES["configs_json"][i]))
def test_filters_on_exact_limits(i: int) -> None:
    config, turns = cases(EDGES)[i], EDGES["mats"].astype(float)
    mask, _ = surviving(turns, seed_cones(config))
    differs = mask != EDGES["masks"][i]
    # Only an axis exactly on a limit may differ: there round-off of cos(90 deg) decided, here the limit is inside.
    for k in np.flatnonzero(differs):
        assert mask[k]
        wider = {
            key: [d, *(a - 1e-6 if d in ("forward", "leftward", "upward") else a + 1e-6 for a in angles)]
            for key, (d, *angles) in config.items()
        }
        assert not surviving(turns[k : k + 1], seed_cones(wider))[0][0] or ranges(config)


@pytest.mark.parametrize("i", range(len(ALIGN["masks"])), ids=lambda i: str(ALIGN["configs_json"][i]))
def test_alignment(i: int) -> None:
    config = cases(ALIGN)[i]
    pick, place, tol = config["pick_axis"], config["place_axis"], config["tol_deg"]
    turns, wanted = matrices(ALIGN["quats_wxyz"][i]), ALIGN["masks"][i]
    cones = list(seed_cones(config["filters"]))
    if pick is not None and place is not None and tol is not None:
        if not np.any(pick) or not np.any(place):
            assert not wanted.any()  # such goals are refused by name, see test_goal_checks
            return
        container = Pose.from_matrix(ALIGN["T_base_world"][i]).rotation
        container = container @ Pose.from_matrix(ALIGN["T_world_container"][i]).rotation
        ee_T_object = Pose.from_matrix(ALIGN["T_obj_ee"][i]).inverse()
        if config["skill"] != "place":
            container = Rotation.identity()
        cones.append(axis_cone(np.array(pick, float), np.array(place, float), tol, ee_T_object, container))
    assert surviving(turns, cones)[0].tolist() == wanted.tolist()


def gripper_of(facts: dict[str, Any]) -> GripperSpec:
    axis, tcp, r_ee_graspnet = ROBOTS[facts["robot"]]
    gripper = gantry().arms["arm"].gripper
    assert gripper is not None
    return replace(
        gripper,
        ee_axis=axis,
        tcp_offset_m=tcp,
        R_ee_graspnet=np.array(r_ee_graspnet, dtype=float),
        min_width_m=facts["min_width"],
        max_width_m=facts["max_width"],
    )


OWN_NAMES = {"franka_robotiq85": "fr3_robotiq"}


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "fr3"])
def test_the_described_grippers_are_those_of_the_vectors(name: str) -> None:
    robot = load_robot(ROOT / "src/robot_description/robots" / OWN_NAMES.get(name, name))
    axis, tcp, axes = ROBOTS[name]
    for arm in robot.arms.values():
        assert arm.gripper is not None
        assert (arm.gripper.ee_axis, arm.gripper.tcp_offset_m) == (axis, tcp)
        assert (arm.gripper.R_ee_graspnet == np.array(axes)).all()


@pytest.mark.parametrize("facts", cases(ROWS, "cases_json"), ids=lambda c: f"{c['robot']}-{c['id']}")
def test_grasp_rows(facts: dict[str, Any]) -> None:
    part = facts["constraints"] and RatioRange(
        "xyz".index(facts["constraints"][0]), *facts["constraints"][1:]
    )
    table = interp1d(ROWS["ed_table_width"], ROWS["ed_table_offset"], kind="cubic")
    spec = replace(
        gripper_of(facts),
        extra_depth=tuple(
            zip(ROWS["ed_table_width"].tolist(), ROWS["ed_table_offset"].tolist(), strict=True)
        ),
    )
    own = depth_table(spec)
    assert own is not None
    widths = np.linspace(ROWS["ed_table_width"][0], ROWS["ed_table_width"][-1], 50)
    assert np.abs(own(widths) - table(widths)).max() < 1e-9
    made = annotated(
        ROWS[f"in_{facts['id']:03d}"].astype(float),
        gripper_of(facts),
        grasp_scale=facts["grasp_scale"],
        tcp_offset_m=facts["tcp_offset"],
        part=part,
        extra_depth=own if facts["extra_depth_table"] else None,
    )
    wanted = ROWS[f"T_obj_ee_{facts['id']:03d}"]
    assert made.turns.shape == (len(wanted), 3, 3)
    assert np.abs(made.turns - wanted[:, :, :3]).max(initial=0.0) < 1e-6
    assert np.abs(made.positions - wanted[:, :, 3]).max(initial=0.0) < 1e-6
    assert np.allclose(made.score, ROWS[f"score_{facts['id']:03d}"])


@pytest.mark.parametrize("i", range(len(PAIRS["iou_exact"])), ids=lambda i: f"{PAIRS['category'][i]}-{i}")
def test_iou(i: int) -> None:
    a, b = (
        OrientedBox(Pose.of(PAIRS[f"t{k}"][i], Rotation.from_matrix(PAIRS[f"R{k}"][i])), PAIRS[f"s{k}"][i])
        for k in (1, 2)
    )
    assert iou(a, b) == pytest.approx(PAIRS["iou_exact"][i], abs=1e-9)


def place_params(config: dict[str, Any]) -> PlaceParams:
    """Return the case's parameters, with the SimBox format's defaults for the others."""
    defaults = {"pre_place_z_offset": 0.2, "place_z_offset": 0.1, "position_constraint": "gripper"}
    names = PlaceParams.__dataclass_fields__
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in config.items() if k in names}
    return PlaceParams(container="b", **{**defaults, **given})


@pytest.mark.parametrize(
    "i", range(len(PLACES["pre_p"])), ids=lambda i: str(PLACES["configs_json"][i])[40:130]
)
def test_place_poses(i: int) -> None:
    config = cases(PLACES)[i]
    params = place_params(config)
    world_T_base, world_T_container, world_T_obj, world_T_ee = (
        Pose.from_matrix(PLACES[f"T_world_{name}"][i]) for name in ("base", "container", "obj", "ee")
    )
    held = Held(world_T_obj, world_T_ee.inverse() @ world_T_obj)
    setting = PlaceSetting(
        held, world_T_container, PLACES["bbox_min"][i], PLACES["bbox_max"][i], world_T_base
    )
    points = target_points(params, setting, PLACES["ratios"][i][None, :])
    turn = world_T_base.rotation @ Rotation.from_matrix(PLACES["R_tgt"][i])
    constraint = PositionConstraint(params.position_constraint)
    for name, point in zip(("pre", "place"), points, strict=True):
        position = ee_positions(point, turn.matrix()[None], constraint, held.ee_T_object)[0]
        pose = world_T_base.inverse() @ Pose.of(position, turn)
        wanted = Pose.of(PLACES[f"{name}_p"][i], Rotation.from_wxyz(PLACES[f"{name}_q"][i]))
        assert pose.almost_equal(wanted, within_m=1e-9, within_rad=1e-6)
    if config.get("post_place_vector"):
        after = retreat_pose(pose, np.array(params.post_place_vector))
        assert np.allclose(after.translation_m, PLACES["post_p"][i], atol=1e-9)
        assert after.rotation.angle_to(Rotation.from_wxyz(PLACES["post_q"][i])) < 1e-6
    else:
        assert np.isnan(PLACES["post_p"][i]).all()


def success_case(i: int) -> tuple[PlaceParams, Placed]:
    mode = str(SUCCESS["mode"][i])
    constants = {
        key: float(SUCCESS[key][i]) for key in ("success_th", "threshold") if np.isfinite(SUCCESS[key][i])
    }
    object_box, container = (
        OrientedBox(Pose.of((low + high) / 2.0), high - low)
        for low, high in (
            (SUCCESS[f"{skill}_min"][i], SUCCESS[f"{skill}_max"][i]) for skill in ("pick", "place")
        )
    )
    params = PlaceParams(container="b", success_mode=mode, **constants)
    return params, Placed(object_box, SUCCESS["pick_pos"][i], container)


@pytest.mark.parametrize("i", range(len(SUCCESS["mode"])), ids=lambda i: f"{SUCCESS['mode'][i]}-{i}")
def test_success(i: int) -> None:
    params, placed = success_case(i)
    wanted = bool(SUCCESS["result"][i] == 1)
    if params.success_mode == "3diou":
        # The threshold is honoured here; any overlap at all was enough there.
        assert by_mode(replace(params, success_th=0.0), placed, 0.0).good is wanted
        assert by_mode(params, placed, 0.0).good is (iou(placed.object, placed.container) > params.success_th)
    else:
        assert by_mode(params, placed, 0.0).good is wanted


GRIPPERS = json.loads((DATA / "gripper_targets.json").read_text(encoding="utf-8"))
OURS = {"franka_robotiq85": "fr3_robotiq"}


@pytest.mark.parametrize("name", GRIPPERS)
def test_grippers_open_and_close_to_the_targets_as_far_as_their_joints_go(name: str) -> None:
    robot = load_robot(ROOT / "src/robot_description/robots" / OURS.get(name, name))
    for arm in robot.arms.values():
        assert arm.gripper is not None
        joint = robot.joints[arm.gripper.joint]
        # A linkage's widest and narrowest opening, as its pads have it, may lie a little inside of its joint's range.
        within = 0.04 * (joint.upper - joint.lower) if name == "genie1" else 1e-9
        for word, width in (("open", arm.gripper.max_width_m), ("close", arm.gripper.min_width_m)):
            target = float(np.clip(GRIPPERS[name][word][0], joint.lower, joint.upper))
            assert arm.gripper.position(width) == pytest.approx(target, abs=within)


@pytest.mark.parametrize("flat", [(0, 0.0), (1, 0.0), (2, 0.0), (2, 1e-12)])
def test_boxes_without_a_thickness_overlap_with_nothing(flat: tuple[int, float]) -> None:
    axis, thickness = flat
    size = np.full(3, 0.1)
    size[axis] = thickness
    turned = Pose.of((0.01, 0.0, 0.0), Rotation.from_rpy(0.3, -0.2, 0.5))
    plate, cube = OrientedBox(Pose.identity(), size), OrientedBox(turned, np.full(3, 0.1))
    assert iou(plate, cube) == iou(cube, plate) == iou(plate, plate) == pytest.approx(0.0, abs=1e-9)
