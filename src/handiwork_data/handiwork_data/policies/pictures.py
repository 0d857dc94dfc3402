"""Pictures of a simulation in lock-step."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

from handiwork_core.cameras.camera import Camera, Intrinsics
from handiwork_core.config.dataclass_loader import nearest
from handiwork_data.lock_step.cell import LockStepCell
from handiwork_policy.loop.ports import Pictures
from handiwork_policy.loop.settings import CameraInput
from sim_bridge.cameras.camera_list import all_cameras
from sim_bridge.cameras.renderer import SceneRenderer, choose_library


class PictureSource(Protocol):
    """Makes the pictures of a cell."""

    def pictures(self) -> Pictures:
        """Return the pictures of now by key, (h, w, 3) each."""
        ...

    def close(self) -> None:
        """Release what draws; nothing is drawn any more."""
        ...


class NoCameras:
    """A policy that sees nothing."""

    def pictures(self) -> Pictures:
        """Return nothing."""
        return {}

    def close(self) -> None:
        """Do nothing."""


class CellCameras:
    """Draws what the cameras of scene and robot see, in the sizes that a policy wants.

    The field of view is the camera's; a picture of another shape is the camera's own, stretched. Objects have the
    colours of the scene.

    Args:
        cell: The cell.
        cameras: The pictures; one thread makes and uses them.

    Raises:
        ValueError: There is no such camera, or nothing draws on this machine.
    """

    def __init__(self, cell: LockStepCell, cameras: Sequence[CameraInput]) -> None:
        known = {camera.name: camera for camera in all_cameras(cell.robot, cell.scene)}
        self._cell = cell
        self._cameras: dict[str, Camera] = {}
        for one in cameras:
            name = one.camera or one.key
            if name not in known:
                raise ValueError(f"camera {one.key!r}: no camera {name!r}; {nearest(name, sorted(known))}")
            self._cameras[one.key] = _sized(replace(known[name], name=f"policy {one.key}"), one)
        library = _library(os.environ.get("MUJOCO_GL", ""))
        if os.environ.get("MUJOCO_GL") != library:  # the simulation has been imported without it
            raise ValueError(f"nothing draws in this process; start it with MUJOCO_GL={library}")
        drawn = tuple(self._cameras.values())
        colors = {item.name: item.color for item in cell.scene.objects}
        self._renderer = SceneRenderer(library, cell.robot, cell.scene.world_T_base, drawn, colors)
        self._renderer.show(list(cell.objects.values()))

    def pictures(self) -> Pictures:
        """See ``PictureSource``."""
        world = self._cell.snapshot()
        poses = {name: state.world_T_object for name, state in world.states.items()}
        self._renderer.place(world.joints.position, poses)
        made = {}
        for key, camera in self._cameras.items():
            color = self._renderer.draw(camera, color=True, depth=False).color
            assert color is not None
            made[key] = color
        return made

    def close(self) -> None:
        """See ``PictureSource``."""
        self._renderer.close()


@lru_cache(maxsize=1)
def _library(wanted: str) -> str:
    """Return the library that draws; the trial of each takes a process, so that it is made once."""
    return choose_library({**os.environ, "MUJOCO_GL": wanted})


def _sized(camera: Camera, wanted: CameraInput) -> Camera:
    lens = camera.intrinsics
    x, y = wanted.width / lens.width, wanted.height / lens.height
    (fx, fy), (cx, cy) = lens.focal_px, lens.centre_px
    centre = (x * (cx + 0.5) - 0.5, y * (cy + 0.5) - 0.5)
    sized = Intrinsics(wanted.width, wanted.height, (x * fx, y * fy), centre)
    return replace(camera, intrinsics=sized)
