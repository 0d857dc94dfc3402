"""Tags in drawn images: ids, poses by one tag and by several, and what is refused in words."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.scene.tags import TagSpec
from perception_bridge.tags.bundle_pose import bundle_pose, tag_corners
from perception_bridge.tags.pinhole import Pinhole
from perception_bridge.tags.tag_detector import FoundTag
from perception_bridge.tags.tag_finder import TagFinder

SIZE_M, MODULE_PX = 0.04, 32
K = np.array([[900.0, 0.0, 639.5], [0.0, 900.0, 479.5], [0.0, 0.0, 1.0]])
CAMERA = Pinhole.of(1280, 960, K.ravel().tolist(), "plumb_bob", [0.0] * 5)
RIGHT, UP = TagSpec(3, SIZE_M, (0.0, 0.05, 0.0)), TagSpec(7, SIZE_M, (0.0, -0.05, 0.0), (0.4, 0.0, 0.5))
TAGS = {"box": (RIGHT, UP), "cup": (TagSpec(20, SIZE_M),)}
FACING = Rotation.from_axis_angle((1.0, 0.0, 0.0), np.pi)
"""A tag that faces the camera, upright in its image."""


def drawn(*tags: tuple[TagSpec, Pose]) -> NDArray[np.uint8]:
    """Return an image of tags on objects, whose poses in the camera are given."""
    image = np.full((960, 1280), 120, np.uint8)
    family = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    for spec, camera_T_object in tags:
        square = cv2.aruco.generateImageMarker(family, spec.id, 8 * MODULE_PX)
        paper = np.pad(square, MODULE_PX, constant_values=255)
        points = (camera_T_object @ spec.pose()).apply(tag_corners(spec.size * 10 / 8))
        pixels = (points @ K.T)[:, :2] / points[:, 2:]
        edge = len(paper) - 0.5
        source = np.array([(-0.5, -0.5), (edge, -0.5), (edge, edge), (-0.5, edge)])
        warp, _ = cv2.findHomography(source, pixels)
        size = (1280, 960)
        inside = cv2.warpPerspective(np.full_like(paper, 255), warp, size)
        picture = cv2.warpPerspective(paper, warp, size, flags=cv2.INTER_AREA)
        image = np.where(inside > 127, picture, image)
    return np.asarray(cv2.GaussianBlur(image, (3, 3), 0.6), np.uint8)


def leaning(angle_rad: float, z_m: float = 0.6) -> Pose:
    return Pose.of((0.05, -0.03, z_m), Rotation.from_axis_angle((0.0, 1.0, 0.0), angle_rad) @ FACING)


def test_the_pose_of_an_object_comes_from_all_of_its_tags() -> None:
    true = leaning(0.4)
    seen, faults = TagFinder(TAGS).find(drawn((RIGHT, true), (UP, true)), CAMERA)
    assert [one.label for one in seen] == ["box"]
    assert not faults
    distance_m, angle_rad = seen[0].pose.camera_T_object.distance_to(true)
    assert distance_m < 0.004
    assert angle_rad < np.deg2rad(0.5)
    assert distance_m < 4.0 * seen[0].pose.position_std


def test_one_tag_that_faces_the_camera_has_an_uncertain_rotation() -> None:
    finder = TagFinder(TAGS)
    flat, _ = finder.find(drawn((TAGS["cup"][0], leaning(0.1, 1.2))), CAMERA)
    steep, _ = finder.find(drawn((TAGS["cup"][0], leaning(0.9))), CAMERA)
    assert flat[0].pose.rotation_std > 0.1
    assert steep[0].pose.rotation_std < 0.02
    assert flat[0].pose.camera_T_object.distance_to(leaning(0.1, 1.2))[0] < 0.02


@pytest.mark.parametrize("quarter", range(4))
def test_a_tag_straight_before_the_camera_is_found_at_every_quarter_turn(quarter: int) -> None:
    """OpenCV's IPPE returns no rotation where the true one is exactly half a turn."""
    true = Pose.of((0.0, 0.0, 0.5), Rotation.from_axis_angle((0.0, 0.0, 1.0), quarter * np.pi / 2) @ FACING)
    spec = TAGS["cup"][0]
    points = true.apply(tag_corners(spec.size)) @ K.T
    corners = np.round(points[:, :2] / points[:, 2:], 9)
    pose = bundle_pose([(spec, FoundTag(spec.id, corners))], CAMERA).camera_T_object
    distance_m, angle_rad = pose.distance_to(true)
    assert distance_m < 1e-4
    assert angle_rad < 1e-2


def test_a_tag_that_is_seen_twice_is_not_believed() -> None:
    near, far = Pose.of((-0.1, 0.0, 0.6), FACING), Pose.of((0.1, 0.0, 0.6), FACING)
    seen, faults = TagFinder(TAGS).find(drawn((TAGS["cup"][0], near), (TAGS["cup"][0], far)), CAMERA)
    assert not seen
    assert faults == ["tag 20 is seen at 2 places; none is believed; take all but one of these tags away"]


def test_tags_that_are_not_where_the_table_says_are_named() -> None:
    moved = TagSpec(UP.id, SIZE_M, (0.03, -0.05, 0.0), UP.rpy)
    seen, faults = TagFinder(TAGS).find(drawn((RIGHT, leaning(0.4)), (moved, leaning(0.4))), CAMERA)
    assert not seen
    assert "pixels beside where they belong; check size and place of each tag" in faults[0]


def test_tags_of_nobody_and_an_empty_image_are_nothing() -> None:
    finder = TagFinder(TAGS)
    assert finder.find(drawn((TagSpec(99, SIZE_M), leaning(0.0))), CAMERA) == ([], [])
    assert finder.find(np.zeros((960, 1280), np.uint8), CAMERA) == ([], [])


@pytest.mark.parametrize(
    ("k", "model", "d", "words"),
    [
        ([float("nan")] * 9, "plumb_bob", [0.0] * 5, "not finite"),
        ([0.0] * 9, "plumb_bob", [0.0] * 5, "focal lengths 0 and 0"),
        (K.ravel().tolist(), "equidistant", [0.0] * 4, "'equidistant' is not known"),
        (K.ravel().tolist(), "plumb_bob", [0.0] * 8, "8 coefficients, and plumb_bob has"),
    ],
)
def test_a_calibration_that_cannot_be_true_is_named(
    k: list[float], model: str, d: list[float], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Pinhole.of(1280, 960, k, model, d)
