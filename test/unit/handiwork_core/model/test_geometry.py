"""Rotations and poses: the group's laws, the quaternion order, and the refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Reference

from handiwork_core.model.geometry import Array, Pose, PoseArray, Rotation

SEEDS = range(20)


def random_pose(rng: np.random.Generator) -> Pose:
    q = rng.normal(size=4)
    return Pose.of(rng.uniform(-2.0, 2.0, 3), Rotation.from_wxyz(q / np.linalg.norm(q)))


def same(a: Pose, b: Pose) -> bool:
    return bool(np.allclose(a.matrix(), b.matrix(), atol=1e-12))


def test_quaternion_order_against_a_matrix_written_by_hand() -> None:
    wxyz = np.array([1.0, 2.0, 3.0, 4.0]) / np.sqrt(30.0)
    by_hand = np.array([[-10.0, 2.0, 11.0], [10.0, -5.0, 10.0], [5.0, 14.0, 2.0]]) / 15.0
    assert np.allclose(Rotation.from_wxyz(wxyz).matrix(), by_hand, atol=1e-12)
    assert np.allclose(
        Rotation.from_xyzw(np.array([2.0, 3.0, 4.0, 1.0]) / np.sqrt(30.0)).matrix(), by_hand, atol=1e-12
    )
    assert np.allclose(Rotation.from_matrix(by_hand).wxyz, wxyz, atol=1e-12)
    assert np.allclose(Rotation.from_wxyz(wxyz).xyzw * np.sqrt(30.0), [2.0, 3.0, 4.0, 1.0])


@pytest.mark.parametrize("seed", SEEDS)
def test_poses_form_a_group(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, c = (random_pose(rng) for _ in range(3))
    assert same((a @ b) @ c, a @ (b @ c))
    assert same(a @ Pose.identity(), a)
    assert same(a @ a.inverse(), Pose.identity())
    assert same((a @ b).inverse(), b.inverse() @ a.inverse())
    points = rng.normal(size=(5, 3))
    assert np.allclose((a @ b).apply(points), a.apply(b.apply(points)), atol=1e-12)
    assert np.allclose(a.matrix() @ b.matrix(), (a @ b).matrix(), atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_angles_as_in_urdf(seed: int) -> None:
    rpy = np.random.default_rng(seed).uniform(-np.pi, np.pi, 3)
    assert np.allclose(
        Rotation.from_rpy(*rpy).matrix(), Reference.from_euler("xyz", rpy).as_matrix(), atol=1e-12
    )


@pytest.mark.parametrize("axis", np.eye(3).tolist())
def test_half_turns_survive_the_matrix(axis: Array) -> None:
    turn = Rotation.from_axis_angle(axis, np.pi)
    assert np.allclose(Rotation.from_matrix(turn.matrix()).matrix(), turn.matrix(), atol=1e-12)


def test_distance() -> None:
    a = Pose.of((0.0, 0.0, 0.0))
    b = Pose.of((3.0, 4.0, 0.0), Rotation.from_axis_angle((0.0, 0.0, 1.0), 0.5))
    gap_m, turn_rad = a.distance_to(b)
    assert gap_m == pytest.approx(5.0)
    assert turn_rad == pytest.approx(0.5)
    assert not a.almost_equal(b, within_m=5.1, within_rad=0.4)


@pytest.mark.parametrize(
    "wxyz", [(0.0, 0.0, 0.0, 0.0), (np.nan, 0, 0, 1), (1.0, 1.0, 0.0, 0.0), (1.0, 0.0, 0.0)]
)
def test_bad_quaternions_are_refused(wxyz: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="quaternion"):
        Rotation.from_wxyz(wxyz)


def test_other_bad_values_are_refused() -> None:
    with pytest.raises(ValueError, match="zero"):
        Rotation.from_axis_angle((0.0, 0.0, 0.0), 1.0)
    with pytest.raises(ValueError, match="rotation matrix"):
        Rotation.from_matrix(np.diag([1.0, 1.0, -1.0]))
    with pytest.raises(ValueError, match="position"):
        Pose.of((0.0, np.inf, 0.0))


def test_values_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Pose.identity().translation_m[0] = 1.0


def some_poses() -> list[Pose]:
    rng = np.random.default_rng(3)
    return [Pose.of(rng.normal(size=3), Rotation.from_rpy(*rng.uniform(-3.0, 3.0, 3))) for _ in range(5)]


def test_an_array_of_poses_has_the_poses_it_was_made_of() -> None:
    poses = some_poses()
    many = PoseArray.of(poses)
    assert PoseArray.of(many) is many and len(many) == 5 and len(PoseArray.of([])) == 0
    for found in (many, PoseArray.from_rows(many.translations_m, -many.wxyz)):
        for pose, one in zip(poses, found, strict=True):
            np.testing.assert_array_equal(one.translation_m, pose.translation_m)
            np.testing.assert_allclose(one.rotation.wxyz, pose.rotation.wxyz, atol=1e-15)
    assert isinstance(many[1:3], PoseArray)
    np.testing.assert_array_equal(many[1:3][-1].translation_m, poses[2].translation_m)
    with pytest.raises(IndexError):
        many[5]


def test_an_array_of_bad_poses_is_refused_with_the_index() -> None:
    many = PoseArray.of(some_poses())
    for rows, at, value in (("translations_m", 2, np.nan), ("wxyz", 3, 0.0), ("wxyz", 1, np.inf)):
        arrays = {name: getattr(many, name).copy() for name in ("translations_m", "wxyz")}
        arrays[rows][at] = value
        with pytest.raises(ValueError, match=f"pose {at} "):
            PoseArray.from_rows(**arrays)
    with pytest.raises(ValueError, match="shape"):
        PoseArray.from_rows(many.translations_m, many.wxyz[:4])
