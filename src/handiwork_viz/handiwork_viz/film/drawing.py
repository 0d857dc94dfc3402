"""Draws bodies by MuJoCo's renderer where it draws on this machine, and by the rasterizer of this package elsewhere."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from handiwork_core.model.geometry import Pose

from .camera import CAMERA, SUN, Camera, Sun
from .mujoco_studio import MujocoStudio
from .picture import Studio
from .rasterizer import Image
from .solids import BodyTriangles

log = logging.getLogger(__name__)


def draw(
    moving: Mapping[str, BodyTriangles],
    still: BodyTriangles,
    ground_z: float,
    size_px: tuple[int, int],
    poses: Sequence[Mapping[str, Pose]] = ({},),
    camera: Camera = CAMERA,
    sun: Sun = SUN,
) -> list[Image]:
    """Return pictures, (h, w, 3) each, sRGB.

    Args:
        moving: Solids of bodies in their own frames, by name.
        still: Solids in ``world``.
        ground_z: Height of the ground, m.
        size_px: Width and height, px.
        poses: For each picture the poses of bodies in ``world``, by name; bodies without a pose are left out.
        camera: The camera.
        sun: The light.
    """
    parts = (moving, still, ground_z, size_px, camera, sun)
    try:
        renderer = MujocoStudio(*parts)
    except (ImportError, ValueError) as error:
        log.info("pictures are drawn without MuJoCo's renderer: %s", error)
    else:
        try:
            return [renderer.take(one) for one in poses]
        finally:
            renderer.close()
    studio = Studio(*parts)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(studio.take, poses))
