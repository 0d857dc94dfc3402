"""The ChArUco board: a chessboard with a marker in each white square, so that a part of it is enough."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array, Pose, Rotation
from perception_bridge.tags.pinhole import Pinhole

Gray = NDArray[np.uint8]

LEAST_CORNERS = 8
"""Fewer corners of the board do not count as a look."""
MARKERS = 250
"""Markers of the dictionary 5X5_250."""


@dataclass(frozen=True, slots=True)
class BoardSpec:
    """A board as it was printed.

    Its frame is in the corner of its upper left square: x to the right, y down, z into the board, as OpenCV has it.

    Attributes:
        columns: Squares from left to right.
        rows: Squares from top to bottom.
        square: Edge of a square, m; measure it on the print.
        marker: Edge of a marker, m.
    """

    columns: int = 7
    rows: int = 5
    square: float = 0.030
    marker: float = 0.022

    def __post_init__(self) -> None:
        if min(self.columns, self.rows) < 3 or self.columns * self.rows > 2 * MARKERS:
            size = f"{self.columns} x {self.rows}"
            raise ValueError(
                f"the board has {size} squares; give 3 or more each, and {2 * MARKERS} in all at most"
            )
        if not 0.0 < self.marker < self.square:
            text = f"the board has markers of {self.marker:g} m in squares of {self.square:g} m"
            raise ValueError(f"{text}; give edges in metres, the marker smaller than the square")

    def _board(self) -> cv2.aruco.CharucoBoard:
        markers = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_250)
        return cv2.aruco.CharucoBoard((self.columns, self.rows), self.square, self.marker, markers)

    @property
    def size_m(self) -> tuple[float, float]:
        """Width and height of all squares, m."""
        return self.columns * self.square, self.rows * self.square

    def draw(self, square_px: int) -> Gray:
        """Return the board as an image without a margin.

        Args:
            square_px: Edge of a square, pixels.
        """
        size = (self.columns * square_px, self.rows * square_px)
        return np.asarray(self._board().generateImage(size, marginSize=0), np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class BoardView:
    """The corners of the board in an image.

    Attributes:
        points: Corners in the board's frame, (n, 3), m.
        pixels: The same in the image, (n, 2), pixels.
        camera_T_board: The pose that explains them best.
        error_px: Root of the mean squared error of that pose, pixels.
    """

    points: Array
    pixels: Array
    camera_T_board: Pose
    error_px: float


class BoardFinder:
    """Finds the board in images.

    Args:
        spec: The board.
    """

    def __init__(self, spec: BoardSpec) -> None:
        self._detector = cv2.aruco.CharucoDetector(spec._board())

    def find(self, gray: Gray, camera: Pinhole) -> BoardView:
        """Find the board.

        Args:
            gray: The image, (rows, columns).
            camera: The camera.

        Raises:
            ValueError: Too little of the board is seen; the message says how much.
        """
        pixels, ids, _, _ = self._detector.detectBoard(gray)
        count = 0 if ids is None else len(ids)
        if count < LEAST_CORNERS:
            text = f"{count} corners of the board are seen, {LEAST_CORNERS} are needed"
            raise ValueError(f"{text}; show more of it, sharp and evenly lit, and check its size")
        points = np.asarray(self._detector.getBoard().getChessboardCorners(), float)[np.ravel(ids)]
        found = np.asarray(pixels, float).reshape(-1, 2)
        ok, turn, place = cv2.solvePnP(points, found, camera.matrix, camera.distortion)
        if not ok:
            raise ValueError("no pose explains the corners of the board")
        turn, place = cv2.solvePnPRefineLM(points, found, camera.matrix, camera.distortion, turn, place)
        seen, _ = cv2.projectPoints(points, turn, place, camera.matrix, camera.distortion)
        error = float(np.sqrt(np.square(seen.reshape(-1, 2) - found).sum(axis=1).mean()))
        pose = Pose.of(np.ravel(place), Rotation.from_matrix(cv2.Rodrigues(turn)[0]))
        return BoardView(points, found, pose, error)
