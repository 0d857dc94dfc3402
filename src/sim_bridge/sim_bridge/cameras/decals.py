"""Flat pictures on objects, such as AprilTags and calibration boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from handiwork_core.model.geometry import Pose
from handiwork_core.scene.tags import TagSpec

MODULES, MODULE_PX = 8, 16
"""Edge of a tag's black square in its modules, and that of a module in pixels."""
HEIGHT_M = 0.0002
"""Height of a picture over the surface, m, so that neither hides the other."""


@dataclass(frozen=True, slots=True, eq=False)
class Decal:
    """A picture on an object.

    Attributes:
        object_T_decal: Pose of its middle: x to the right of the picture, y up, z out of it.
        size_m: Width and height, m.
        gray: Its pixels, (rows, columns), 0 to 255.
    """

    object_T_decal: Pose
    size_m: tuple[float, float]
    gray: NDArray[np.uint8]


def tag_decal(tag: TagSpec) -> Decal:
    """Return the picture of a tag, with a white border of one module.

    Args:
        tag: The tag.
    """
    family = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    square = cv2.aruco.generateImageMarker(family, tag.id, MODULES * MODULE_PX)
    gray = np.pad(square, MODULE_PX, constant_values=255)
    edge_m = tag.size * (MODULES + 2) / MODULES
    return Decal(tag.pose(), (edge_m, edge_m), gray)


def add_decals(mj: Any, spec: Any, body: Any, decals: Sequence[Decal]) -> None:  # noqa: ANN401 the simulator's module
    """Put pictures on a body that is drawn.

    Args:
        mj: The simulator's module.
        spec: The model.
        body: The body.
        decals: The pictures.
    """
    for index, decal in enumerate(decals):
        name = f"{body.name}/decal_{index}"
        rows, columns = decal.gray.shape
        made = spec.add_texture(name=name, type=mj.mjtTexture.mjTEXTURE_2D, width=columns, height=rows)
        made.nchannel, made.data = 3, np.repeat(decal.gray[..., None], 3, axis=2).tobytes()
        material = spec.add_material(name=name, emission=0.4, specular=0.0)
        material.textures[mj.mjtTextureRole.mjTEXROLE_RGB] = name
        mesh = spec.add_mesh(name=name, inertia=mj.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        x, y = decal.size_m[0] / 2, decal.size_m[1] / 2
        corners = [(-x, -y, 0.0), (x, -y, 0.0), (x, y, 0.0), (-x, y, 0.0), (0.0, 0.0, -HEIGHT_M)]
        mesh.uservert = np.ravel(corners)
        mesh.userface = np.ravel([(0, 1, 2), (0, 2, 3), (1, 0, 4), (2, 1, 4), (3, 2, 4), (0, 3, 4)])
        # The point below, without which it would be no solid, has the colour of the border.
        mesh.usertexcoord = np.ravel([(0, 1), (1, 1), (1, 0), (0, 0), (0, 0)]).astype(float)
        pose = decal.object_T_decal @ Pose.of((0.0, 0.0, HEIGHT_M))
        geom = body.add_geom(name=name, type=mj.mjtGeom.mjGEOM_MESH, pos=pose.translation_m)
        geom.quat, geom.meshname, geom.material = pose.rotation.wxyz, name, name
        geom.contype = geom.conaffinity = 0
