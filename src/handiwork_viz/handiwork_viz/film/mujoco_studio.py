"""Pictures by MuJoCo's renderer, on a GPU or by Mesa, where EGL or OSMesa draws on this machine."""

# ruff: noqa: ANN401 MuJoCo is optional, and its types cannot be named without it

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from handiwork_core.model.geometry import Array, Pose

from .camera import CAMERA, SUN, Camera, Sun
from .rasterizer import Image
from .solids import BodyTriangles

LIBRARIES = ("egl", "osmesa")
PROBE_S = 60.0
"""The longest wait for the trial of a library, s."""
PROBE = """
import mujoco
renderer = mujoco.Renderer(mujoco.MjModel.from_xml_string("<mujoco/>"), 8, 8)
renderer.render()
renderer.close()
"""
CONTEXTS = "mujoco.rendering.classic.gl_context"
"""MuJoCo's module that chooses the library when it is imported."""
GROUND_RGBA, WIDE_M = (0.72, 0.74, 0.77, 1.0), 30.0
SKY_TOP, SKY_BELOW = (0.72, 0.80, 0.90), (0.92, 0.95, 0.97)
AWAY = (0.0, 0.0, -1e3)
"""The place of a body without a pose."""


@cache
def drawing_library() -> str:
    """Return the library with which MuJoCo draws here; empty if none does. It is tried in a process of its own.

    A wrong driver ends the process that tries it. ``MUJOCO_GL`` names the only library to try, or ``disable``.
    """
    wanted = os.environ.get("MUJOCO_GL", "").lower()
    for name in (wanted,) if wanted else LIBRARIES:
        try:
            command = [sys.executable, "-c", PROBE]
            environment = {**os.environ, "MUJOCO_GL": name}
            run = subprocess.run(command, env=environment, capture_output=True, timeout=PROBE_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if run.returncode == 0:
            return name
    return ""


class MujocoStudio:
    """Draws the same bodies again and again. One thread makes, uses and closes it: OpenGL belongs to a thread.

    Args:
        moving: Solids of bodies in their own frames, by name.
        still: Solids in ``world``.
        ground_z: Height of the ground, m.
        size_px: Width and height, px.
        camera: The camera.
        sun: The light.

    Raises:
        ValueError: Nothing draws here, or MuJoCo refuses a solid.
    """

    def __init__(
        self,
        moving: Mapping[str, BodyTriangles],
        still: BodyTriangles,
        ground_z: float,
        size_px: tuple[int, int],
        camera: Camera = CAMERA,
        sun: Sun = SUN,
    ) -> None:
        library = drawing_library()
        if not library:
            raise ValueError("neither EGL nor OSMesa draws on this machine")
        mj = self._mj = _mujoco(library)
        spec = mj.MjSpec()
        _light(mj, spec, size_px, camera, sun)
        ground = spec.worldbody.add_geom(type=mj.mjtGeom.mjGEOM_PLANE, size=[WIDE_M, WIDE_M, 0.1])
        ground.pos, ground.rgba = [0.0, 0.0, ground_z], GROUND_RGBA
        _add(mj, spec, spec.worldbody, "still", still)
        names = [name for name, solid in moving.items() if len(solid.corners)]
        for number, name in enumerate(names):
            body = spec.worldbody.add_body(name=f"body {number}", mocap=True)
            _add(mj, spec, body, f"body {number}", moving[name])
        self._model = spec.compile()
        self._data = mj.MjData(self._model)
        self._mocap = {
            name: int(self._model.body(f"body {number}").mocapid[0]) for number, name in enumerate(names)
        }
        try:
            self._renderer = mj.Renderer(self._model, size_px[1], size_px[0])
        except Exception as error:  # each driver has errors of its own
            raise ValueError(f"MuJoCo's renderer does not start: {error}") from error

    def take(self, poses: Mapping[str, Pose]) -> Image:
        """Return the picture with each moving body that has a pose.

        Args:
            poses: Poses of bodies in ``world``, by name; bodies without a pose are left out.

        Returns:
            (h, w, 3), sRGB.
        """
        for name, number in self._mocap.items():
            pose = poses.get(name)
            self._data.mocap_pos[number] = AWAY if pose is None else pose.translation_m
            if pose is not None:
                self._data.mocap_quat[number] = pose.rotation.wxyz
        self._mj.mj_kinematics(self._model, self._data)
        self._mj.mj_camlight(self._model, self._data)
        self._renderer.update_scene(self._data, camera="view")
        return np.array(self._renderer.render(), dtype=np.uint8)

    def close(self) -> None:
        """Free the OpenGL context."""
        self._renderer.close()


def _mujoco(library: str) -> Any:
    """Import MuJoCo with a library, also where it was imported before, as by a simulation, with another one."""
    is_new = "mujoco" not in sys.modules
    os.environ["MUJOCO_GL"] = library
    import mujoco

    if not is_new and CONTEXTS in sys.modules:
        importlib.reload(sys.modules[CONTEXTS])
    return mujoco


def _light(mj: Any, spec: Any, size_px: tuple[int, int], camera: Camera, sun: Sun) -> None:
    look = spec.visual.global_
    look.offwidth, look.offheight, look.fovy = size_px[0], size_px[1], camera.height_deg
    spec.visual.quality.shadowsize = 4096
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.45] * 3, [0.15] * 3
    spec.visual.map.zfar = 60.0
    spec.stat.extent, spec.stat.center = 2.0, sun.center
    sky = spec.add_texture(name="sky", type=mj.mjtTexture.mjTEXTURE_SKYBOX, width=64, height=384)
    sky.builtin, sky.rgb1, sky.rgb2 = mj.mjtBuiltin.mjBUILTIN_GRADIENT, SKY_TOP, SKY_BELOW
    away = sun.direction / np.linalg.norm(sun.direction)
    light = spec.worldbody.add_light(name="sun", pos=(sun.center + 3.0 * away), dir=-away)
    light.type, light.castshadow = mj.mjtLightType.mjLIGHT_DIRECTIONAL, True
    light.diffuse, light.specular = [0.55] * 3, [0.15] * 3
    axes = camera.view(size_px[1])[1:3]
    view = spec.worldbody.add_camera(name="view", pos=camera.eye, fovy=camera.height_deg)
    view.alt.type = mj.mjtOrientation.mjORIENTATION_XYAXES
    view.alt.xyaxes = axes.ravel()


def _add(mj: Any, spec: Any, body: Any, name: str, solid: BodyTriangles) -> None:
    """Add the triangles of each colour as a mesh that nothing touches."""
    for number, (color, corners) in enumerate(_by_color(solid)):
        points, index = np.unique(
            np.round(corners.reshape(-1, 3), 6).astype(np.float32), axis=0, return_inverse=True
        )
        mesh = spec.add_mesh(name=f"{name} mesh {number}", inertia=mj.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        mesh.uservert, mesh.userface = points.ravel(), index.ravel().astype(np.int32)
        geom = body.add_geom(
            type=mj.mjtGeom.mjGEOM_MESH, meshname=mesh.name, contype=0, conaffinity=0, mass=0.0
        )
        geom.rgba = (*np.power(np.clip(color, 0.0, 1.0), 1.0 / 2.2), 1.0)


def _by_color(solid: BodyTriangles) -> Iterator[tuple[Array, Array]]:
    """Yield each colour with its triangles; those without an area are left out."""
    edges = solid.corners[:, 1:] - solid.corners[:, :1]
    has_area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) > 1e-12
    corners, colors = solid.corners[has_area], solid.colors[has_area]
    if len(corners):
        found, index = np.unique(np.round(colors, 4), axis=0, return_inverse=True)
        for number, color in enumerate(found):
            yield color, corners[index.ravel() == number]
