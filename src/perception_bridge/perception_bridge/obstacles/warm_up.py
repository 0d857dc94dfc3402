"""Load or compile the kernels of the search for obstacles before the first image comes."""

from __future__ import annotations

import numpy as np

from handiwork_core.model.geometry import Pose

from .known_bodies import KnownBodies, KnownObjects
from .obstacle_map import CloudLook, DepthLook, ObstacleMap
from .settings import DepthSpec, ObstacleSettings


def warm_up() -> None:
    """Use each kernel once, on a few cells."""
    source = (DepthSpec("depth", "depth"),)
    settings = ObstacleSettings(source, size=(0.1, 0.1, 0.1), unseen="occupied", min_points=1)
    search, known = ObstacleMap(settings), KnownBodies(np.zeros((0, 4)), KnownObjects().shapes({}, {}))
    pixels = np.full((2, 2), 0.5, np.float32)
    search.look("depth", DepthLook(pixels, (1.0, 1.0), (0.5, 0.5), Pose.identity(), 0.0), known)
    search.look("cloud", CloudLook(np.zeros((1, 3), np.float32), Pose.identity(), 0.0), known)
    search.map(known)
