"""The pose of a camera by looks at a board from several poses of the hand: OpenCV's solvers, then least squares.

With A the pose of the hand in the robot's root and B that of the board in the camera, one and the same X (camera) and Y
(board) satisfy A X B = Y for a camera on the hand, and A Y = X B for a camera beside the robot with the board on the
hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import cv2
import numpy as np
from scipy.optimize import least_squares

from handiwork_core.model.geometry import Array, Pose, Rotation
from perception_bridge.calibration.board import BoardView
from perception_bridge.tags.pinhole import Pinhole

LEAST_LOOKS = 6
LEAST_TURN_RAD = 0.3
"""The hand must turn by this between two looks, and about two axes, rad."""
LEAST_AXES_RAD = 0.3
"""Least angle between two axes about which it turned, rad."""
SOLVERS = {
    "Tsai": cv2.CALIB_HAND_EYE_TSAI,
    "Park": cv2.CALIB_HAND_EYE_PARK,
    "Horaud": cv2.CALIB_HAND_EYE_HORAUD,
    "Andreff": cv2.CALIB_HAND_EYE_ANDREFF,
    "Daniilidis": cv2.CALIB_HAND_EYE_DANIILIDIS,
}
JOINT_SOLVERS = {"Shah": cv2.CALIB_ROBOT_WORLD_HAND_EYE_SHAH, "Li": cv2.CALIB_ROBOT_WORLD_HAND_EYE_LI}
REFINED = "refined"


class Mount(Enum):
    """The place of the camera."""

    ON_HAND = "eye_in_hand"
    FIXED = "eye_to_hand"


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """One look at the board.

    Attributes:
        root_T_hand: Pose of the hand in the robot's root link.
        view: The corners of the board.
    """

    root_T_hand: Pose
    view: BoardView


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The result of one solver.

    Attributes:
        solver: Its name.
        parent_T_camera: Pose of the optical frame in the hand, or in the robot's root link.
        other_T_board: Pose of the board in the robot's root link, or in the hand.
        error_px: Root of the mean squared distance of all corners from where they are expected, pixels.
        spread_m: Root of the mean squared distance of the board by each look from its place by all, m.
        spread_rad: The same of its rotation, rad.
        look_px: The error of each look, pixels.
    """

    solver: str
    parent_T_camera: Pose
    other_T_board: Pose
    error_px: float
    spread_m: float
    spread_rad: float
    look_px: tuple[float, ...]


def solve(looks: Sequence[Look], mount: Mount, camera: Pinhole) -> list[Solution]:
    """Return the results of all solvers, the best first: that of least squares over all corners.

    Args:
        looks: The looks.
        mount: The place of the camera.
        camera: The camera.

    Raises:
        ValueError: The looks are too few or too much alike, or no solver has a result; the message says what to do.
    """
    check_looks(looks)
    starts = {name: _started(name, looks, mount) for name in (*SOLVERS, *JOINT_SOLVERS)}
    made = [_judged(name, one, looks, mount, camera) for name, one in starts.items() if one is not None]
    if not made:
        raise ValueError("no solver has a result for these looks; record more, with other turns of the hand")
    made.sort(key=lambda one: one.error_px)
    refined = _judged(REFINED, _refined(made[0], looks, mount, camera), looks, mount, camera)
    return [refined, *made]


def check_looks(looks: Sequence[Look]) -> None:
    """Check that the looks determine the pose.

    Args:
        looks: The looks.

    Raises:
        ValueError: They do not; the message says what to do.
    """
    if len(looks) < LEAST_LOOKS:
        raise ValueError(
            f"{len(looks)} looks at the board are too few; record {LEAST_LOOKS} or more, better 15"
        )
    first = looks[0].root_T_hand.rotation
    axes = list[Array]()
    for look in looks[1:]:
        turn = cv2.Rodrigues((first.inverse() @ look.root_T_hand.rotation).matrix())[0].ravel()
        if (angle := float(np.linalg.norm(turn))) > LEAST_TURN_RAD:
            axes.append(turn / angle)
    widest = max((float(np.linalg.norm(np.cross(a, b))) for a in axes for b in axes), default=0.0)
    if widest < np.sin(LEAST_AXES_RAD):
        what = "did not turn enough" if not axes else "turned about one axis only"
        raise ValueError(
            f"the hand {what}; turn it by 20 degrees and more, about two axes, between the looks"
        )


def _started(name: str, looks: Sequence[Look], mount: Mount) -> tuple[Pose, Pose] | None:
    """Return the poses of camera and board by one of OpenCV's solvers; None where it has none."""
    # A camera beside the robot is one on the hand of a robot that is turned inside out.
    hands = [one.root_T_hand if mount is Mount.ON_HAND else one.root_T_hand.inverse() for one in looks]
    boards = [one.view.camera_T_board for one in looks]
    try:
        if name in SOLVERS:
            turn, place = cv2.calibrateHandEye(*_split(hands), *_split(boards), method=SOLVERS[name])
        else:
            inverse = [pose.inverse() for pose in hands]
            _, _, turn, place = cv2.calibrateRobotWorldHandEye(
                *_split(boards), *_split(inverse), method=JOINT_SOLVERS[name]
            )
            turn, place = turn.T, -turn.T @ place
        camera = Pose.of(np.ravel(place), Rotation.from_matrix(_orthonormal(turn)))
    except (cv2.error, ValueError):
        return None
    if not np.isfinite(camera.matrix()).all():
        return None
    return camera, _mean([hand @ camera @ board for hand, board in zip(hands, boards, strict=True)])


def _split(poses: Sequence[Pose]) -> tuple[list[Array], list[Array]]:
    return [pose.rotation.matrix() for pose in poses], [pose.translation_m.reshape(3, 1) for pose in poses]


def _orthonormal(matrix: Array) -> Array:
    u, _, vt = np.linalg.svd(np.asarray(matrix, float))
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    return np.asarray(u @ flip @ vt)


def _mean(poses: Sequence[Pose]) -> Pose:
    """Return the mean of poses that are close to each other."""
    place = np.mean([pose.translation_m for pose in poses], axis=0)
    return Pose.of(
        place, Rotation.from_matrix(_orthonormal(np.sum([pose.rotation.matrix() for pose in poses], axis=0)))
    )


def _expected(look: Look, camera: Pose, board: Pose, mount: Mount) -> Pose:
    """Return the pose of the board in the camera of a look."""
    hand = look.root_T_hand if mount is Mount.ON_HAND else look.root_T_hand.inverse()
    return camera.inverse() @ hand.inverse() @ board


def _residuals(poses: tuple[Pose, Pose], looks: Sequence[Look], mount: Mount, camera: Pinhole) -> list[Array]:
    """Return the errors of the corners of each look, (n, 2), pixels."""
    found = []
    for look in looks:
        pose = _expected(look, *poses, mount)
        turn = cv2.Rodrigues(pose.rotation.matrix())[0]
        seen, _ = cv2.projectPoints(
            look.view.points, turn, pose.translation_m, camera.matrix, camera.distortion
        )
        found.append(seen.reshape(-1, 2) - look.view.pixels)
    return found


def _refined(start: Solution, looks: Sequence[Look], mount: Mount, camera: Pinhole) -> tuple[Pose, Pose]:
    """Return the poses with the least squared error of all corners; a corner far off counts less (soft L1)."""
    first = (start.parent_T_camera, start.other_T_board)

    def moved(x: Array) -> tuple[Pose, Pose]:
        steps = [
            Pose.of(part[3:], Rotation.from_matrix(cv2.Rodrigues(part[:3])[0])) for part in (x[:6], x[6:])
        ]
        return first[0] @ steps[0], first[1] @ steps[1]

    def errors(x: Array) -> Array:
        return np.concatenate([one.ravel() for one in _residuals(moved(x), looks, mount, camera)])

    return moved(least_squares(errors, np.zeros(12), loss="soft_l1", x_scale=0.01).x)


def _judged(
    name: str, poses: tuple[Pose, Pose], looks: Sequence[Look], mount: Mount, camera: Pinhole
) -> Solution:
    squared = [np.square(one).sum(axis=1) for one in _residuals(poses, looks, mount, camera)]
    off = [one.view.camera_T_board.distance_to(_expected(one, *poses, mount)) for one in looks]
    spread = np.sqrt(np.mean(np.square(off), axis=0))
    return Solution(
        name,
        *poses,
        error_px=float(np.sqrt(np.concatenate(squared).mean())),
        spread_m=float(spread[0]),
        spread_rad=float(spread[1]),
        look_px=tuple(float(np.sqrt(one.mean())) for one in squared),
    )
