"""Annotations: bad files end in one clear sentence, valid ones give grasps that fit the gripper and the goal."""

from __future__ import annotations

import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.testing.fakes import Cell, Fakes, fakes
from skill_server.execution.run import run_skill
from skill_server.geometry.orientation_cones import OrientationFilter
from skill_server.grasping.grasp_selection import MOST_TRIED, wanted_grasps
from skill_server.grasping.graspnet_rows import GraspFileError, read_rows
from skill_server.skills.pick_place.pick import Pick, PickParams

OPENING_M = 0.08
DOWN = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
"""GraspNet axes of a hand that comes from above: the approach, its first column, points down."""


def rows(n: int, width: float = 0.04) -> Array:
    made = np.zeros((n, 17))
    made[:, 0], made[:, 1], made[:, 2], made[:, 3] = 0.1, width, 0.02, 0.01
    made[:, 4:13] = DOWN.ravel()
    made[:, 13] = np.linspace(-0.01, 0.01, n)
    return made


def cell() -> Fakes:
    cube = WorldObject("cube", (Shape(ShapeKind.BOX, np.array([0.04, 0.04, 0.04]), Pose.identity()),))
    pose = Pose.of((0.4, 0.1, 0.02), Rotation.from_rpy(0.0, 0.0, 0.3))
    made = fakes(Cell({"cube": cube}, {"cube": pose}, {"cube": 0.04}))
    gripper = made.context.arm_spec.gripper
    assert gripper is not None
    turned = replace(gripper, R_ee_graspnet=np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))
    made.context.arm_spec = replace(made.context.arm_spec, gripper=turned)
    return made


def saved(folder: Path, array: Any) -> str:
    np.save(folder / "grasps.npy", array)
    return str(folder / "grasps.npy")


def chosen(file: str, **changed: Any) -> Any:
    f = cell()
    gripper = f.context.arm_spec.gripper
    assert gripper is not None
    params = PickParams(object="cube", npy_name=file, **changed)
    return wanted_grasps(
        params, f.context, f.context.world.snapshot(), gripper, changed.get("gripper_width", OPENING_M)
    )


class Bomb:
    """Unpickling it would touch a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def test_an_annotation_is_never_unpickled(tmp_path: Path) -> None:
    trap = np.empty(1, dtype=object)
    trap[0] = Bomb(tmp_path / "gone_off")
    np.save(tmp_path / "trap.npy", trap, allow_pickle=True)
    (tmp_path / "raw.npy").write_bytes(pickle.dumps(Bomb(tmp_path / "gone_off")))
    for name in ("trap.npy", "raw.npy"):
        with pytest.raises(GraspFileError, match=r"no plain \.npy array"):
            read_rows(tmp_path / name)
    assert not (tmp_path / "gone_off").exists()


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((3, 15)), r"shape \(3, 15\)"),
        (np.zeros(16), r"shape \(16,\)"),
        (np.zeros((0, 17)), r"shape \(0, 17\)"),
        (np.zeros((2, 16)), "row 0 are no rotation"),
        (np.full((2, 16), np.nan), "row 0 is not finite"),
        (np.zeros((2, 16), dtype=complex), "complex128; save real"),
        (np.full((2, 16), "x"), "save real"),
        (rows(3, -0.1), "negative width"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_arrays_that_are_no_grasps(tmp_path: Path, array: Any, words: str) -> None:
    file = saved(tmp_path, array)
    with pytest.raises(GraspFileError, match=words) as caught:
        read_rows(Path(file))
    assert str(caught.value).startswith(file)


def test_a_header_cannot_claim_memory(tmp_path: Path) -> None:
    saved(tmp_path, rows(2))
    raw = (tmp_path / "grasps.npy").read_bytes()
    # As many blanks go as digits come, so the header keeps its length.
    claimed = raw.replace(b"(2, 17), }          ", b"(99999999999, 17), }")
    assert claimed != raw
    (tmp_path / "claims.npy").write_bytes(claimed)
    with zipfile.ZipFile(tmp_path / "many.npy", "w") as archive:
        archive.writestr("a.npy", raw)
    for name in ("claims.npy", "many.npy", "none.npy"):
        with pytest.raises(GraspFileError, match=name):
            read_rows(tmp_path / name)


def test_a_goal_with_a_bad_file_is_refused_before_anything_moves(tmp_path: Path) -> None:
    f = cell()
    params = PickParams(object="cube", npy_name=saved(tmp_path, np.zeros((2, 3))))
    outcome = Pick().is_feasible(params, f.context.robot, f.context.arm_spec, f.context.world.snapshot())
    assert (outcome.code, outcome.field_name) == (Code.BAD_GOAL, "npy_name")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    file = saved(tmp_path, rows(3))
    assert len(read_rows(Path(file))) == 3
    saved(tmp_path, rows(5))
    assert len(read_rows(Path(file))) == 5


def test_rows_put_the_tcp_at_their_point_and_turn_by_half(tmp_path: Path) -> None:
    grasps = chosen(saved(tmp_path, rows(1)), tcp_offset=0.1)
    assert len(grasps) == 2
    first, second = (grasp.world_T_ee for grasp in grasps)
    assert np.allclose(first.rotation.matrix()[:, 2], (0.0, 0.0, -1.0))
    # The point is at -0.01 in x of the object; the TCP goes 0.01 deeper along the approach.
    tcp = first.apply((0.0, 0.0, 0.1))
    assert np.allclose(
        tcp, cell().context.world.snapshot().states["cube"].world_T_object.apply((-0.01, 0.0, -0.01))
    )
    assert first.rotation.angle_to(second.rotation) == pytest.approx(np.pi, abs=1e-6)


def test_rows_wider_than_the_opening_are_dropped(tmp_path: Path) -> None:
    mixed = np.concatenate([rows(4, 0.09), rows(3, 0.06), rows(2, 0.03)])
    file = saved(tmp_path, mixed)
    assert {grasp.width_m for grasp in chosen(file)} == {0.06, 0.03}
    assert {grasp.width_m for grasp in chosen(file, gripper_width=0.05)} == {0.03}
    with pytest.raises(StepFailed) as caught:
        chosen(saved(tmp_path, rows(4, 0.09)))
    assert "widths outside of 0 to 80 mm removed 8" in caught.value.outcome.message


def test_widths_grow_with_the_object(tmp_path: Path) -> None:
    file = saved(tmp_path, np.concatenate([rows(2, 0.05), rows(2, 0.03)]))
    assert {grasp.width_m for grasp in chosen(file, grasp_scale=2.0)} == {0.06}
    assert {grasp.width_m for grasp in chosen(file, grasp_scale=0.5)} == {0.025, 0.015}


def test_a_part_of_the_object_and_a_side_can_be_asked_for(tmp_path: Path) -> None:
    file = saved(tmp_path, rows(11))
    world = cell().context.world.snapshot().states["cube"].world_T_object.inverse()
    upper = chosen(file, constraint_axis="x", constraint_ratio_range=(0.8, 1.0))
    assert len(upper) == 2 * 3
    assert all(world.apply(g.world_T_ee.translation_m)[0] > 0.0059 for g in upper)
    left = chosen(file, direction_to_obj="left")
    assert left
    assert all(g.world_T_ee.translation_m[1] > 0.1 for g in left)


def test_filters_apply_and_name_what_they_removed(tmp_path: Path) -> None:
    file = saved(tmp_path, rows(4))
    assert len(chosen(file, orientation_filters=(OrientationFilter("z", "downward", 0.0, 10.0),))) == 8
    with pytest.raises(StepFailed) as caught:
        chosen(file, orientation_filters=(OrientationFilter("z", "upward", 0.0, 10.0),))
    assert caught.value.outcome.code is Code.NO_CANDIDATE
    assert "upward' removed 8 of 8" in caught.value.outcome.message


def test_equal_scores_are_tried_from_all_over_the_object(tmp_path: Path) -> None:
    many = rows(3000)
    many[::7, 0] = 0.2
    grasps = chosen(saved(tmp_path, many))
    assert len(grasps) == MOST_TRIED
    scores = [grasp.score for grasp in grasps]
    assert scores == sorted(scores)
    x = np.array([grasp.world_T_ee.translation_m[0] for grasp in grasps[:20]])
    assert np.ptp(x) > 0.01
    assert len(np.unique(x)) == 20


def test_a_fixed_orientation_keeps_position_and_approach(tmp_path: Path) -> None:
    turn = Rotation.from_rpy(0.0, np.pi / 2, 0.0)
    grasps = chosen(saved(tmp_path, rows(1)), fixed_orientation=(turn,))
    assert grasps[0].world_T_ee.rotation.angle_to(turn) < 1e-6
    assert np.allclose(grasps[0].approach, (0.0, 0.0, -1.0))


def test_pick_by_an_annotation_succeeds(tmp_path: Path) -> None:
    f = cell()
    f.cell.objects["table"] = WorldObject(
        "table", (Shape(ShapeKind.BOX, np.array([2, 2, 0.02]), Pose.identity()),), True
    )
    f.cell.poses["table"] = Pose.of((0.0, 0.0, -0.01))
    shallow = rows(9)
    shallow[:, 3] = 0.0
    params = PickParams(object="cube", npy_name=saved(tmp_path, shallow))
    run = run_skill(Pick(), params, f.context)
    assert run.outcome.ok, run.outcome
