"""Draws what a camera sees. One thread makes, uses and closes it, because an OpenGL context belongs to a thread."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from handiwork_core.cameras.camera import Camera
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.world import WorldObject
from handiwork_core.robot.robot import Robot
from handiwork_core.scene.shapes import Color
from sim_bridge.cameras.decals import Decal
from sim_bridge.cameras.view_model import DAYLIGHT, Lighting, compile_view

Pixels = NDArray[np.uint8]
Depths = NDArray[np.float32]
Labels = NDArray[np.uint16]

LIBRARIES = ("egl", "osmesa", "glfw")
"""Libraries that draw, in the order in which they are tried: a GPU or a CPU without a screen, a CPU, a screen."""
GL_R_OPTICAL = Rotation.from_matrix([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])
"""Turn of an optical frame, z forward and y down, in the simulator's camera, which looks along -z with y up."""
PROBE_S = 60.0
"""The longest wait for the trial of a library, s."""
PROBE = """
import mujoco
renderer = mujoco.Renderer(mujoco.MjModel.from_xml_string("<mujoco/>"), 8, 8)
renderer.render()
renderer.close()
"""


class Drawn(NamedTuple):
    """An image.

    Attributes:
        color: Red, green, blue, (height, width, 3); None if it was not wanted.
        depth: Depth along the optical axis, (height, width), m: infinite beyond the range; None if not wanted.
        labels: Number of the body in each pixel, (height, width): 0 for none, else 1 + its place in
            ``SceneRenderer.bodies``; None if not wanted.
    """

    color: Pixels | None
    depth: Depths | None
    labels: Labels | None = None


def choose_library(environment: Mapping[str, str]) -> str:
    """Return the first library that draws on this machine, tried in processes of their own.

    Args:
        environment: Variables; ``MUJOCO_GL`` names the only one to try.

    Raises:
        ValueError: None draws; the message has the reason of each, and what to do.
    """
    wanted = environment.get("MUJOCO_GL", "").lower()
    reasons = []
    for name in (wanted,) if wanted else LIBRARIES:
        reason = _why_not(name, {**environment, "MUJOCO_GL": name})
        if not reason:
            return name
        reasons.append(f"{name}: {reason}")
    raise ValueError(
        f"no OpenGL library draws on this machine ({'; '.join(reasons)}); install Mesa's EGL "
        "(apt install libegl1 libgl1-mesa-dri) or OSMesa (apt install libosmesa6), or start without cameras"
    )


def _why_not(name: str, environment: Mapping[str, str]) -> str:
    try:
        run = subprocess.run(
            [sys.executable, "-c", PROBE],
            env=dict(environment), capture_output=True, text=True, timeout=PROBE_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"has not drawn within {PROBE_S:g} s"
    if run.returncode == 0:
        return ""
    lines = [line for line in run.stderr.splitlines() if line.strip()]
    return lines[-1].strip() if lines else f"the trial ended with code {run.returncode}"


class SceneRenderer:
    """Robot and objects, drawn where they are measured. It owns its copy of the model and its data.

    Args:
        library: Name of the OpenGL library, see ``choose_library``; one per process.
        robot: The robot.
        world_T_base: Pose of its root link.
        cameras: The cameras.
        colors: Colours of objects by name.
        decals: Pictures on objects by the objects' names.
    """

    def __init__(
        self,
        library: str,
        robot: Robot,
        world_T_base: Pose,
        cameras: Sequence[Camera],
        colors: Mapping[str, Color],
        decals: Mapping[str, Sequence[Decal]] | None = None,
    ) -> None:
        os.environ["MUJOCO_GL"] = library  # read by the import
        import mujoco  # heavy, and needs the choice of the library

        self._mj: Any = mujoco
        self._robot, self._world_T_base = robot, world_T_base
        self._cameras, self._colors = tuple(cameras), colors
        self._decals, self._lighting = decals or {}, DAYLIGHT
        self._textures: Mapping[str, Pixels] = {}
        self._contexts: dict[tuple[int, int], Any] = {}
        self._show(())

    def dress(
        self,
        cameras: Sequence[Camera],
        colors: Mapping[str, Color],
        lighting: Lighting = DAYLIGHT,
        textures: Mapping[str, Pixels] | None = None,
    ) -> None:
        """Take other cameras, colours, textures and light, from the next ``show`` on.

        Args:
            cameras: The cameras.
            colors: Colours of objects by name; the others are grey.
            lighting: The light.
            textures: Textures of objects by name, (rows, columns, 3), in place of their colours.
        """
        self._cameras, self._colors, self._lighting = tuple(cameras), colors, lighting
        self._textures = textures or {}

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies in the order of their labels: the objects, then ``<robot>/<link>``."""
        return self._bodies

    def show(self, objects: Iterable[WorldObject]) -> None:
        """Take other objects.

        Args:
            objects: Their geometry.

        Raises:
            ValueError: The simulator refuses one of them; the objects stay as they were.
        """
        self._show(objects)

    def _show(self, objects: Iterable[WorldObject]) -> None:
        items = tuple(objects)
        model = compile_view(
            self._mj,
            self._robot,
            self._world_T_base,
            self._cameras,
            items,
            self._colors,
            self._decals,
            self._lighting,
            self._textures,
        )
        self.close()
        self._model, self._data = model, self._mj.MjData(model)
        self._mocap = {item.name: int(model.body(item.name).mocapid[0]) for item in items}
        owners = [model.body(int(body)).name for body in model.geom_bodyid]
        names = [item.name for item in items]
        self._bodies = (*names, *(name for name in dict.fromkeys(owners) if name not in self._mocap))
        number = {name: i for i, name in enumerate(self._bodies, 1)}
        # The last entry is that of pixels without a geom, whose number is -1.
        self._labels = np.array([*(number[name] for name in owners), 0], dtype=np.uint16)

    def place(self, joints: Mapping[str, float], poses: Mapping[str, Pose]) -> None:
        """Set the robot and the objects as they were measured.

        Args:
            joints: Joint positions by name, rad or m; the others stay.
            poses: Poses of objects in ``world`` by name; unknown objects are left out.
        """
        model, data = self._model, self._data
        for name, value in joints.items():
            index = self._mj.mj_name2id(model, self._mj.mjtObj.mjOBJ_JOINT, f"{self._robot.name}/{name}")
            if index >= 0:
                data.qpos[model.jnt_qposadr[index]] = value
        for name, pose in poses.items():
            if (index := self._mocap.get(name, -1)) >= 0:
                data.mocap_pos[index], data.mocap_quat[index] = pose.translation_m, pose.rotation.wxyz
        self._mj.mj_kinematics(model, data)
        self._mj.mj_camlight(model, data)

    def optical_pose(self, camera: Camera) -> Pose:
        """Return the pose of a camera's optical frame in ``world``, as it was placed.

        Args:
            camera: The camera.
        """
        seen = self._data.camera(f"camera/{camera.name}")
        turn = Rotation.from_matrix(np.array(seen.xmat).reshape(3, 3)) @ GL_R_OPTICAL
        return Pose.of(np.array(seen.xpos), turn)

    def draw(self, camera: Camera, *, color: bool, depth: bool, labels: bool = False) -> Drawn:
        """Draw what a camera sees.

        Args:
            camera: The camera.
            color: Whether the colours are wanted.
            depth: Whether the depths are wanted.
            labels: Whether the number of the body in each pixel is wanted.
        """
        near, far = camera.range_m
        self._model.vis.map.znear, self._model.vis.map.zfar = near, far
        context = self._context(camera)
        context.update_scene(self._data, camera=f"camera/{camera.name}")
        colors = np.array(context.render()) if color else None
        depths = None
        if depth:
            context.enable_depth_rendering()
            depths = np.array(context.render())
            context.disable_depth_rendering()
            depths[depths >= 0.999 * far] = np.inf
        return Drawn(colors, depths, self._labelled(context) if labels else None)

    def _labelled(self, context: Any) -> Labels:  # noqa: ANN401 a renderer of the simulator
        context.enable_segmentation_rendering()
        drawn = context.render()
        context.disable_segmentation_rendering()
        is_geom = drawn[..., 1] == int(self._mj.mjtObj.mjOBJ_GEOM)
        numbers: Labels = self._labels[np.where(is_geom, drawn[..., 0], -1)]
        return numbers

    def _context(self, camera: Camera) -> Any:  # noqa: ANN401 a renderer of the simulator
        size = (camera.intrinsics.height, camera.intrinsics.width)
        if size not in self._contexts:
            made = self._contexts[size] = self._mj.Renderer(self._model, *size)
            made.scene.flags[self._mj.mjtRndFlag.mjRND_SHADOW] = False
            made.scene.flags[self._mj.mjtRndFlag.mjRND_REFLECTION] = False
        return self._contexts[size]

    def close(self) -> None:
        """Release the OpenGL contexts."""
        for context in self._contexts.values():
            context.close()
        self._contexts = {}
