"""Cameras as values, and as written: what they see where, and what is refused with which sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from handiwork_core.cameras.camera import LINK_T_OPTICAL, DepthEncoding, Intrinsics
from handiwork_core.cameras.camera_file import CameraFile, check_camera_names
from handiwork_core.config.dataclass_loader import ConfigError, parse


def read(**keys: Any) -> CameraFile:
    return parse(CameraFile, {"fov": 1.0, **keys}, "scene.yaml")


def test_the_optical_frame_is_that_of_rep_103() -> None:
    forward, left, up = np.eye(3)
    turn = LINK_T_OPTICAL.rotation.matrix()
    assert np.allclose(turn @ (0.0, 0.0, 1.0), forward)
    assert np.allclose(turn @ (1.0, 0.0, 0.0), -left)
    assert np.allclose(turn @ (0.0, 1.0, 0.0), -up)


def test_a_camera_sees_what_it_looks_at_in_the_centre_and_upright() -> None:
    camera = read(position=[1.0, 0.5, 0.8], look_at=[0.2, -0.1, 0.1]).build("overview")
    optical = (camera.parent_T_camera @ LINK_T_OPTICAL).inverse()
    at = camera.intrinsics.project(optical.apply([[0.2, -0.1, 0.1], [0.2, -0.1, 0.2]]))
    assert np.allclose(at[0], (319.5, 239.5))
    assert at[1, 0] == pytest.approx(319.5)
    assert at[1, 1] < 200.0  # what is higher, is higher in the image


def test_rays_are_the_inverse_of_the_projection() -> None:
    pinhole = Intrinsics(64, 48, (50.0, 60.0), (30.0, 25.0))
    points = pinhole.rays().reshape(-1, 3) * 1.7
    columns, rows = pinhole.project(points).T
    assert np.allclose(columns.reshape(48, 64), np.arange(64))
    assert np.allclose(rows.reshape(48, 64), np.arange(48)[:, None])


def test_the_angle_of_view_is_between_the_outer_edges_of_the_image() -> None:
    pinhole = Intrinsics.from_fov(100, 50, np.pi / 2.0)
    assert np.allclose(pinhole.project(np.array([[1.0, 0.0, 1.0]])), (99.5, 24.5))


def test_a_camera_keeps_what_is_written() -> None:
    keys = {"link": "hand", "rpy": [0.0, 0.1, 0.0], "focal": [50.0, 60.0], "centre": [1.0, 2.0], "fov": None}
    del keys["fov"]
    spec = parse(CameraFile, {**keys, "rate": 5.0, "depth_encoding": "16UC1"}, "robot.yaml")
    camera = spec.build("wrist")
    assert (camera.name, camera.link, camera.rate_hz) == ("wrist", "hand", 5.0)
    assert camera.intrinsics == Intrinsics(640, 480, (50.0, 60.0), (1.0, 2.0))
    assert camera.depth_encoding is DepthEncoding.MILLIMETRES
    assert (camera.link_frame, camera.optical_frame) == ("wrist_link", "wrist_optical_frame")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"focal": [1.0, 1.0]}, "one of fov and focal"),
        ({"fov": 0.0}, "fov: is 0 rad"),
        ({"width": 4}, "width: the image is 4 x 480"),
        ({"width": 40_000}, "4000000 pixels at most"),
        ({"centre": [1.0, 1.0]}, "centre: belongs to focal"),
        ({"rate": 0.0}, "rate: is 0 Hz"),
        ({"range": [2.0, 1.0]}, "range: is"),
        ({"depth_encoding": "8UC1"}, "write one of 32FC1, 16UC1"),
        ({"look_at": [1.0, 0.0, 0.0], "rpy": [0.0, 0.0, 0.0]}, "keep one"),
        ({"look_at": [0.0, 0.0, -1.0]}, "is along z"),
        ({"look_at": [0.0, 0.0, 0.0]}, "is along z"),
        ({"noise": {"depth": -1.0}}, "depth: is -1"),
        ({"fovv": 1.0}, "fov"),
    ],
)
def test_a_faulty_camera_is_refused_with_its_key(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read(**keys)


def test_names_of_cameras_are_names_of_topics() -> None:
    check_camera_names({"wrist_2": None})
    with pytest.raises(ValueError, match="'left-eye' is no name"):
        check_camera_names({"left-eye": None})
    with pytest.raises(ValueError, match="at most 16"):
        check_camera_names({f"c{i}": None for i in range(17)})
