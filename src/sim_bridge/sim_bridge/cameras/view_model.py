"""The model that cameras look at: the robot, the objects where they are measured, and no physics.

The simulator's module is an argument, because ``renderer.py`` imports it.
"""

# ruff: noqa: ANN401 the simulator's module is an argument

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handiwork_core.cameras.camera import Camera
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_core.robot.robot import Robot
from handiwork_core.scene.bounds import world_aabb
from handiwork_core.scene.shapes import GREY, Color
from sim_bridge.cameras.decals import Decal, add_decals
from sim_bridge.mujoco.world_model import add_robot, add_shape

LINK_R_GL = Rotation.from_matrix([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Turn of the simulator's camera, which looks along -z with y up, in a camera's link frame."""

LIGHT = 0.3
"""Ambient and diffuse light that comes from the camera."""
SUN = 0.7
"""Diffuse light of the lamp above the scene."""
REPEATS = 2.0
"""Pictures of a texture along the greatest extent of an object."""


@dataclass(frozen=True, slots=True)
class Lighting:
    """The light of a scene.

    Attributes:
        factor: Factor on all lights; 1: as the cameras of a simulation have it.
        direction: Direction in which the lamp above the scene shines, in ``world``.
    """

    factor: float = 1.0
    direction: tuple[float, float, float] = (0.2, 0.3, -1.0)


DAYLIGHT = Lighting()


def compile_view(
    mj: Any,
    robot: Robot,
    world_T_base: Pose,
    cameras: Sequence[Camera],
    objects: Iterable[WorldObject],
    colors: Mapping[str, Color],
    decals: Mapping[str, Sequence[Decal]],
    lighting: Lighting = DAYLIGHT,
    textures: Mapping[str, NDArray[np.uint8]] | None = None,
) -> Any:
    """Build the model. Objects are mocap bodies of their own names, cameras have theirs.

    Args:
        mj: The simulator's module.
        robot: The robot, drawn by its collision shapes.
        world_T_base: Pose of its root link.
        cameras: The cameras.
        objects: Geometry of the objects, parts among them.
        colors: Colours by the objects' names; the others are grey.
        decals: Pictures on objects by the objects' names.
        lighting: The light.
        textures: Textures by the objects' names, (rows, columns, 3), in place of their colours.

    Returns:
        The compiled model.

    Raises:
        ValueError: The simulator refuses the robot or an object; the message is its own.
    """
    spec = mj.MjSpec()
    spec.visual.global_.offwidth = max((c.intrinsics.width for c in cameras), default=8)
    spec.visual.global_.offheight = max((c.intrinsics.height for c in cameras), default=8)
    spec.visual.headlight.ambient = spec.visual.headlight.diffuse = [lighting.factor * LIGHT] * 3
    spec.visual.headlight.specular = (0.0, 0.0, 0.0)
    sun = [lighting.factor * SUN] * 3
    spec.worldbody.add_light(
        pos=(0.0, 0.0, 4.0), dir=lighting.direction, diffuse=sun, castshadow=False, type=_sun(mj)
    )
    add_robot(mj, spec, robot, world_T_base)
    for item in objects:
        body = spec.worldbody.add_body(name=item.name, mocap=True)
        texture = (textures or {}).get(item.name)
        if texture is not None:
            _add_texture(mj, spec, item, texture)
        for index, shape in enumerate(item.shapes):
            geom = _add_drawn(mj, spec, body, shape, f"{item.name}/{index}")
            geom.contype = geom.conaffinity = 0
            geom.rgba = colors.get(item.name, GREY)
            if texture is not None:
                geom.material, geom.rgba = item.name, (1.0, 1.0, 1.0, geom.rgba[3])
        add_decals(mj, spec, body, decals.get(item.name, ()))
    for camera in cameras:
        _add_camera(mj, spec, robot, camera)
    model = spec.compile()
    model.stat.extent = 1.0  # so that the planes of the frustum are in metres
    return model


def _add_texture(mj: Any, spec: Any, item: WorldObject, pixels: NDArray[np.uint8]) -> None:
    """Add a material of an object's name; its picture is repeated twice along the object's greatest extent."""
    rows, columns, _ = pixels.shape
    made = spec.add_texture(name=item.name, type=mj.mjtTexture.mjTEXTURE_2D, width=columns, height=rows)
    made.nchannel, made.data = 3, pixels.tobytes()
    low, high = world_aabb(item, Pose.identity())
    material = spec.add_material(name=item.name, specular=0.0, texuniform=True)
    material.texrepeat = [REPEATS / float((high - low).max())] * 2
    material.textures[mj.mjtTextureRole.mjTEXROLE_RGB] = item.name


def _sun(mj: Any) -> Any:
    return mj.mjtLightType.mjLIGHT_DIRECTIONAL


def _add_drawn(mj: Any, spec: Any, body: Any, shape: Shape, name: str) -> Any:
    if shape.kind is not ShapeKind.MESH:
        return add_shape(mj, spec, body, shape, name)
    assert shape.vertices is not None
    assert shape.triangles is not None
    mesh = spec.add_mesh(name=name, uservert=shape.vertices.ravel(), userface=shape.triangles.ravel())
    mesh.inertia = mj.mjtMeshInertia.mjMESH_INERTIA_SHELL
    placed = shape.object_T_shape
    geom = body.add_geom(name=name, type=mj.mjtGeom.mjGEOM_MESH, pos=placed.translation_m)
    geom.quat, geom.meshname = placed.rotation.wxyz, name
    return geom


def _add_camera(mj: Any, spec: Any, robot: Robot, camera: Camera) -> None:
    parent = spec.body(f"{robot.name}/{camera.link}") if camera.link else spec.worldbody
    pose, pinhole = camera.parent_T_camera, camera.intrinsics
    size = np.array([pinhole.width, pinhole.height], dtype=float)
    made = parent.add_camera(name=f"camera/{camera.name}", pos=pose.translation_m)
    made.quat = (pose.rotation @ LINK_R_GL).wxyz
    made.resolution = size
    made.sensor_size = size * 1e-5  # any size of a pixel: only its ratio to the focal length counts
    made.focal_pixel = pinhole.focal_px
    # The simulator counts from the principal point to the centre of the image; (0, 0) is the centre of a pixel.
    made.principal_pixel = (size - 1.0) / 2.0 - np.array(pinhole.centre_px)
