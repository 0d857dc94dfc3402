"""Finds AprilTags of the family 36h11 in an image."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Array

Gray = NDArray[np.uint8]

SMALLEST_PX = 16.0
"""The shortest edge of a tag that counts, pixels: 2 for each module."""


PIXEL_CENTRE_PX = 0.5
"""The centre of the first pixel for that refinement; for a camera matrix it is 0."""


@dataclass(frozen=True, slots=True, eq=False)
class FoundTag:
    """A tag in an image.

    Attributes:
        id: Its number.
        corners_px: Upper left, upper right, lower right and lower left corner of the tag as it is printed, (4, 2).
    """

    id: int
    corners_px: Array


class TagDetector:
    """OpenCV's detector, with the corners where lines along the edges meet."""

    def __init__(self) -> None:
        family = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
        settings = cv2.aruco.DetectorParameters()
        # Lines along the edges: corners of other refinements jump to those of the modules of a small tag.
        settings.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_APRILTAG
        settings.minMarkerPerimeterRate = 0.01
        # Noise flips bits of small tags; the family's own distance of 11 bits still tells them apart.
        settings.errorCorrectionRate = 0.6
        self._detector = cv2.aruco.ArucoDetector(family, settings)

    def find(self, gray: Gray) -> tuple[list[FoundTag], list[str]]:
        """Find the tags of an image.

        Args:
            gray: The image, (rows, columns).

        Returns:
            Tags that are seen once; and a sentence for each that is seen more often, of which none is believed.
        """
        corners, ids, _ = self._detector.detectMarkers(gray)
        found = dict[int, list[FoundTag]]()
        for number, quad in zip(np.ravel(ids).tolist() if ids is not None else (), corners, strict=True):
            points = np.asarray(quad, dtype=float).reshape(4, 2) - PIXEL_CENTRE_PX
            edges = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1)
            if edges.min() >= SMALLEST_PX:
                found.setdefault(int(number), []).append(FoundTag(int(number), points))
        faults = [
            f"tag {number} is seen at {len(same)} places; none is believed; take all but one of these tags away"
            for number, same in found.items()
            if len(same) > 1
        ]
        return [same[0] for same in found.values() if len(same) == 1], faults
