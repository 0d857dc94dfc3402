"""The pose of an object by the corners of all of its tags together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.scene.tags import TagSpec
from perception_bridge.tags.pinhole import Pinhole
from perception_bridge.tags.tag_detector import FoundTag

CORNER_PX = 0.3
"""Deviation of a corner, pixels."""
WORST_PX = 3.0
"""The largest mean error of the corners with which a pose is believed, pixels."""
AMBIGUOUS_PX = 0.5
"""Two poses whose errors differ by less than this explain the corners equally well, pixels."""
NUDGE_PX = np.array([(0.01, 0.0), (0.0, 0.01), (-0.01, 0.005), (0.003, -0.01)])
"""Shifts that take four corners out of the place in which OpenCV finds no pose: a tag straight before the camera."""
SAME_RAD = 0.1
"""Poses that are turned by less than this are one, rad."""


@dataclass(frozen=True, slots=True, eq=False)
class BundlePose:
    """The measured pose of an object.

    Attributes:
        camera_T_object: The pose in the optical frame.
        position_std: Deviation of the position along its worst axis, m.
        rotation_std: The same of the rotation, rad. For a small flat tag it covers both poses that explain its corners.
        error_px: Root of the mean squared distance of the corners from where they are expected, pixels.
    """

    camera_T_object: Pose
    position_std: float
    rotation_std: float
    error_px: float


def tag_corners(size_m: float) -> Array:
    """Return the corners of a tag in its frame, (4, 3), m, in the order of ``FoundTag``.

    Args:
        size_m: Edge of its black square, m.
    """
    half = size_m / 2
    return np.array([(-half, half, 0.0), (half, half, 0.0), (half, -half, 0.0), (-half, -half, 0.0)])


def bundle_pose(tags: Sequence[tuple[TagSpec, FoundTag]], camera: Pinhole) -> BundlePose:
    """Return the pose of an object.

    Each tag alone gives up to two poses (IPPE); the best for all corners is refined by least squares (Levenberg and
    Marquardt). Deviations are those of the least squares for corners that are off by ``CORNER_PX``.

    Args:
        tags: The tags of the object that were found, one at least.
        camera: The camera.

    Raises:
        ValueError: No pose explains the corners.
    """
    points = np.concatenate([spec.pose().apply(tag_corners(spec.size)) for spec, _ in tags])
    pixels = np.concatenate([found.corners_px for _, found in tags])
    starts = [start for spec, found in tags for start in _of_one(spec, found, camera)]
    refined = [_refined(points, pixels, camera, start) for start in starts]
    whole = [one for one in refined if np.isfinite(one[2]) and one[1][2] > 0.0]
    if not whole:
        raise ValueError("no pose explains the corners of its tags")
    whole.sort(key=lambda one: one[2])
    turn, place, error = whole[0]
    if error > WORST_PX:
        text = f"the corners of its tags are {error:.1f} pixels beside where they belong"
        raise ValueError(f"{text}; check size and place of each tag in the table")
    pose = _pose(turn, place)
    position_std, rotation_std = _deviations(points, turn, place, camera)
    for other_turn, other_place, other_error in whole[1:]:
        angle = pose.rotation.angle_to(_pose(other_turn, other_place).rotation)
        if other_error - error < AMBIGUOUS_PX and angle > SAME_RAD:
            rotation_std = max(rotation_std, angle)
    return BundlePose(pose, position_std, rotation_std, error)


def _of_one(spec: TagSpec, found: FoundTag, camera: Pinhole) -> list[tuple[Array, Array]]:
    """Return the poses of the object by one of its tags, as rotation vectors and places in the camera."""
    turns, places, errors = _flat_poses(spec, found.corners_px, camera)
    if np.min(errors) > WORST_PX:  # OpenCV returns no turn at all where it is exactly half a turn
        turns, places, errors = _flat_poses(spec, found.corners_px + NUDGE_PX, camera)
    tag_T_object = spec.pose().inverse()
    made = [_pose(turn, place) @ tag_T_object for turn, place in zip(turns, places, strict=True)]
    return [(cv2.Rodrigues(one.rotation.matrix())[0], one.translation_m.reshape(3, 1)) for one in made]


def _flat_poses(
    spec: TagSpec, corners_px: Array, camera: Pinhole
) -> tuple[Sequence[Array], Sequence[Array], Array]:
    """Return up to two poses of the tag by IPPE: rotation vectors, places, and their errors [pixels]."""
    _, turns, places, errors = cv2.solvePnPGeneric(
        tag_corners(spec.size), corners_px, camera.matrix, camera.distortion, flags=cv2.SOLVEPNP_IPPE_SQUARE
    )
    return turns, places, np.ravel(errors)


def _refined(
    points: Array, pixels: Array, camera: Pinhole, start: tuple[Array, Array]
) -> tuple[Array, Array, float]:
    turn, place = cv2.solvePnPRefineLM(
        points, pixels, camera.matrix, camera.distortion, start[0].copy(), start[1].copy()
    )
    seen, _ = cv2.projectPoints(points, turn, place, camera.matrix, camera.distortion)
    error = float(np.sqrt(np.square(seen.reshape(-1, 2) - pixels).sum(axis=1).mean()))
    return turn, place, error


def _deviations(points: Array, turn: Array, place: Array, camera: Pinhole) -> tuple[float, float]:
    """Return the deviations of position [m] and rotation [rad] along their worst axes."""
    _, jacobian = cv2.projectPoints(points, turn, place, camera.matrix, camera.distortion)
    columns = jacobian[:, :6]
    covariance = CORNER_PX**2 * np.linalg.pinv(columns.T @ columns)
    rotation, position = (
        np.linalg.eigvalsh(covariance[:3, :3])[-1],
        np.linalg.eigvalsh(covariance[3:, 3:])[-1],
    )
    return float(np.sqrt(position)), float(np.sqrt(rotation))


def _pose(turn: Array, place: Array) -> Pose:
    return Pose.of(np.ravel(place), Rotation.from_matrix(cv2.Rodrigues(turn)[0]))
