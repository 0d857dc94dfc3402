"""Files of a recording: an animated WebP, and a picture of its best moment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image as Pictures

from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import WorldObject
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import Robot

from .camera import CAMERA, SUN, Camera, Sun
from .drawing import draw
from .palette import color_of
from .rasterizer import Image
from .recorder import PERIOD_S, FilmRecording, Instant
from .solids import BodyTriangles, joined, link_solids, solid_of

FILM_PX, STILL_PX = (480, 300), (960, 600)
EDGE_M = 0.004
WIDE_M = 3.0
"""A static body that is wider than this is ground, m; ground is drawn without end."""
MOST_FRAMES = 400
"""A longer recording is thinned out, and played at its own speed all the same."""
OVER_M, LIFTED_M = 0.06, 0.10


def write_film(frames: Sequence[Image], period_s: float, path: Path) -> None:
    """Write frames as an animated WebP that repeats.

    Args:
        frames: Pictures, (h, w, 3) each, sRGB.
        period_s: Time per frame, s.
        path: The file; its folder is made.

    Raises:
        ValueError: there is no frame.
        OSError: the file cannot be written.
    """
    if not frames:
        raise ValueError("a film needs at least one frame")
    path.parent.mkdir(parents=True, exist_ok=True)
    first, *others = (Pictures.fromarray(frame) for frame in frames)
    duration_ms = round(1e3 * period_s)
    first.save(
        path, save_all=True, append_images=others, duration=duration_ms, loop=0, quality=72, method=1
    )  # fmt: skip


def write_still(frame: Image, path: Path) -> None:
    """Write a frame as a PNG.

    Args:
        frame: Picture, (h, w, 3), sRGB.
        path: The file; its folder is made.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    Pictures.fromarray(frame).save(path, optimize=True)


def best_moment(instants: Sequence[Instant], name: str, container: str) -> int:
    """Return the index of the instant when the object is lifted highest over the container; the middle one without it.

    Args:
        instants: The recording's instants, one or more.
        name: Name of the object.
        container: Name of the container.
    """
    best, highest = len(instants) // 2, -np.inf
    for index, instant in enumerate(instants):
        if name not in instant.objects or container not in instant.objects:
            continue
        away = instant.objects[name].translation_m - instant.objects[container].translation_m
        if np.hypot(away[0], away[1]) < OVER_M and away[2] > max(highest, LIFTED_M):
            best, highest = index, float(away[2])
    return best


class Projection:
    """Draws instants of a recording.

    Args:
        recording: The recording, with one instant or more.
        robot: The robot.
        robot_dir: Folder of its description, with the meshes.
        camera: The camera.
        sun: The light.
        marks: Further solids in ``world`` that do not move, such as a path.
    """

    def __init__(
        self,
        recording: FilmRecording,
        robot: Robot,
        robot_dir: Path,
        camera: Camera = CAMERA,
        sun: Sun = SUN,
        marks: Sequence[BodyTriangles] = (),
    ) -> None:
        self._recording, self._robot, self._camera, self._sun = recording, robot, camera, sun
        first = recording.instants[0].objects
        still, self._moving = [], {}
        for link, solid in link_solids(robot, robot_dir).items():
            self._moving[f"{robot.name}/{link}"] = solid
        for name, body in recording.objects.items():
            solid = _body(body)
            if not body.is_static:
                self._moving[name] = solid
            elif name in first and np.ptp(solid.corners.reshape(-1, 3), axis=0)[:2].max() < WIDE_M:
                still.append(solid.moved(first[name]))
        self._ground_z = float(joined(still).corners[..., 2].min()) if still else 0.0
        self._still = joined([*still, *marks])

    def frames(self, instants: Sequence[Instant], size_px: tuple[int, int]) -> list[Image]:
        """Return pictures of instants, (h, w, 3) each; see ``draw``.

        Args:
            instants: The instants.
            size_px: Width and height, px.
        """
        poses = [self._poses(instant) for instant in instants]
        return draw(self._moving, self._still, self._ground_z, size_px, poses, self._camera, self._sun)

    def _poses(self, instant: Instant) -> dict[str, Pose]:
        links = link_poses(self._robot, instant.joints)
        root = self._recording.world_T_root
        return {**instant.objects, **{f"{self._robot.name}/{name}": root @ links[name] for name in links}}


def render(
    recording: FilmRecording, robot: Robot, robot_dir: Path, name: str, container: str, folder: Path
) -> None:
    """Write ``demo.webp`` and ``demo.png``.

    Args:
        recording: The recording, with one instant or more.
        robot: The robot.
        robot_dir: Folder of its description, with the meshes.
        name: Name of the object that is lifted, for the still.
        container: Name of its container.
        folder: Folder of the files.

    Raises:
        OSError: a file cannot be written.
    """
    projection = Projection(recording, robot, robot_dir)
    instants = recording.instants
    best = instants[best_moment(instants, name, container)]
    write_still(projection.frames([best], STILL_PX)[0], folder / "demo.png")
    skip = -(-len(instants) // MOST_FRAMES)
    write_film(projection.frames(instants[::skip], FILM_PX), skip * PERIOD_S, folder / "demo.webp")


def _body(body: WorldObject) -> BodyTriangles:
    color = color_of(body.name, body.is_static)
    return joined([solid_of(shape, color, EDGE_M) for shape in body.shapes])
