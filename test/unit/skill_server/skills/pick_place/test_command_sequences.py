"""The command lists of Pick and Place have the functions, poses and repetitions of those of the SimBox format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.commands import (
    AttachObject,
    CloseGripper,
    Command,
    DetachObject,
    OpenGripper,
    UpdatePoseCostMetric,
    UpdateSpecific,
)
from handiwork_core.contracts.planning import Attachment
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from handiwork_core.testing.gantry import gantry_q
from skill_server.params.simbox_time import STEP_S
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from support.paths import ROOT

DATA = ROOT / "test/data/skills/command_sequences.json"
CASES = json.loads(DATA.read_text(encoding="utf-8"))
DOWN = Rotation.from_wxyz((0.0, 1.0, 0.0, 0.0))
NAMES = {
    UpdatePoseCostMetric: "update_pose_cost_metric",
    UpdateSpecific: "update_specific",
    OpenGripper: "open_gripper",
    CloseGripper: "close_gripper",
    AttachObject: "attach_obj",
    DetachObject: "detach_obj",
}
GRASP, CASE_STEPS = Pose.of((0.5, 0.1, 0.15), DOWN), {"pick": 40, "place": 10}


def ours(commands: Sequence[Command], start: Pose) -> list[list[Any]]:
    """Return rows [function, weights, position, orientation wxyz, repetitions], as in the file."""
    rows: list[list[Any]] = []
    here = start
    for command in commands:
        moved = command.world_T_ee is not None
        here = command.world_T_ee or here
        function = command.function
        weights = function.hold_vec_weight if isinstance(function, UpdatePoseCostMetric) else None
        # A repeated command is a command that waits; one that moves counts once for the motion.
        times = (1 if moved else 0) + round(command.dwell_s / STEP_S)
        row = [
            NAMES[type(function)],
            weights and list(weights),
            here.translation_m,
            here.rotation,
            max(1, times),
        ]
        rows.append(row)
    return rows


def merged(rows: list[list[Any]]) -> list[list[Any]]:
    """Join equal neighbours into one row with all repetitions."""
    made: list[list[Any]] = []
    for row in rows:
        same = made and made[-1][:2] == row[:2] and np.allclose(made[-1][2], row[2], atol=1e-6)
        if same and made[-1][3].angle_to(row[3]) < 1e-4:
            made[-1][4] += row[4]
        else:
            made.append(list(row))
    return made


def wanted(case: dict[str, Any]) -> list[list[Any]]:
    return [[n, w, np.array(p), unit(q), r] for n, w, p, q, r in case["commands"]]


def unit(wxyz: list[float]) -> Rotation:
    return Rotation.from_wxyz(np.array(wxyz) / np.linalg.norm(wxyz))


def without_bookkeeping(rows: list[list[Any]], start: Pose) -> list[list[Any]]:
    """Leave out the rows that differ on purpose.

    The object may be touched during one motion here, where the SimBox format ignores it by ``update_specific``; holds
    are removed as soon as their motion has ended; the hand opens, or stays closed, before the first motion.
    """
    first = [row for row in rows if row[0] == "update_pose_cost_metric"][:1]
    kept = [
        row
        for row in rows
        if row[0] != "update_specific"
        and not (row[0] == "update_pose_cost_metric" and row[1] is None)
        and not (row[0].endswith("gripper") and np.allclose(row[2], start.translation_m))
    ]
    return merged([*first, *kept])


def same(one: list[list[Any]], other: list[list[Any]]) -> None:
    assert [(r[0], r[1], r[4]) for r in one] == [(r[0], r[1], r[4]) for r in other]
    for a, b in zip(one, other, strict=True):
        assert np.allclose(a[2], b[2], atol=1e-6)
        assert a[3].angle_to(b[3]) < 1e-3


def cell(held: bool) -> Fakes:
    box = Shape(ShapeKind.BOX, np.array([0.04, 0.04, 0.04]), Pose.identity())
    objects = {"a": WorldObject("a", (box,)), "b": WorldObject("b", (box,), is_static=True)}
    made = fakes(
        Cell(objects, {"a": GRASP @ Pose.of((0.0, 0.0, 0.1)), "b": Pose.of((0.0, -0.4, 0.0))}, {"a": 0.04})
    )
    made.cell.q = gantry_q(Pose.of((0.4, 0.0, 0.45), DOWN))
    if held:
        made.cell.in_hand, made.cell.hand_T_object = "a", Pose.of((0.0, 0.0, 0.1))
        made.context.held["a"] = Attachment("a", "hand", made.cell.hand_T_object)
    return made


PICKS = [case for case in CASES if case["skill"] == "pick"]
PLACES = [case for case in CASES if case["skill"] == "place"]


@pytest.mark.parametrize("case", PICKS, ids=lambda c: f"{c['robot_file'][4:7]}-{c['config']}")
def test_pick(case: dict[str, Any]) -> None:
    config = dict(case["config"])
    start = Pose.of((0.4, 0.0, 0.45), DOWN)
    turn = config.pop("fixed_orientation", None)
    # Filters and the side select among annotated grasps; the grasp of these lists is given.
    for key in ("direction_to_obj", "filter_z_dir", "filter_x_dir"):
        config.pop(key, None)
    made = {
        "gripper_change_steps": CASE_STEPS["pick"],
        "post_grasp_offset_min": 0.05,
        "post_grasp_offset_max": 0.05,
    }
    made = {**made, **{k: tuple(v) if isinstance(v, list) else v for k, v in config.items()}}
    pose = GRASP if turn is None else Pose.of(GRASP.translation_m, unit(turn))
    context = cell(False).context
    if "r5a" in case["robot_file"]:  # that robot approaches along x
        gripper = context.arm_spec.gripper
        assert gripper is not None
        context.arm_spec = replace(context.arm_spec, gripper=replace(gripper, ee_axis=0))
    commands = Pick().commands(PickParams(object="a", lift_th=0.0, grasp_poses=(pose,), **made), context)
    rows = wanted(case)
    if config.get("pre_grasp_offset") == 0.0:
        rows[2][4] = 1  # one move, where before the grasp and at it are one pose
    if config.get("final_gripper_state") == 1:
        rows = [row for row in rows if row[0] != "attach_obj"]  # nothing is attached to an open hand
    if turn is None:
        same(without_bookkeeping(ours(commands, start), start), without_bookkeeping(rows, start))
    else:  # a given pose comes from its own direction, so only the functions can be compared
        got = [row[0] for row in without_bookkeeping(ours(commands, start), start)]
        assert got == [row[0] for row in without_bookkeeping(rows, start)]


@pytest.mark.parametrize("case", PLACES, ids=lambda c: str(c["config"]))
def test_place(case: dict[str, Any]) -> None:
    config = {k: tuple(v) if isinstance(v, list) else v for k, v in case["config"].items()}
    start = Pose.of((0.4, 0.0, 0.45), DOWN)
    rows = wanted(case)
    # The lists' release is at the first opening; the way to it is straight down from the pose of the first move.
    at = next(row for row in rows if row[0] == "open_gripper")
    pre = next(row for row in rows if row[0] == "close_gripper")
    config.pop("pre_grasp_offset", None)  # belongs to Pick; here it did nothing but skip a test
    for key in ("position_constraint", "x_ratio_range", "y_ratio_range"):
        config.pop(key, None)
    params = PlaceParams(
        container="b",
        place_poses=(Pose.of(at[2], at[3]),),
        place_z_offset=0.1,
        pre_place_z_offset=0.1 + float(pre[2][2] - at[2][2]),
        **{"gripper_change_steps": CASE_STEPS["place"], "post_place_vector": (0.0, 0.0, 0.0), **config},
    )
    commands = Place().commands(params, cell(True).context)
    same(without_bookkeeping(ours(commands, start), start), without_bookkeeping(rows, start))
