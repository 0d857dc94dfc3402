"""A film of a stack being built, drawn by the film of the demo: no display, no graphics card."""

from __future__ import annotations

from pathlib import Path

from handiwork_core.model.geometry import Pose, frozen
from handiwork_viz.film.camera import Camera, Sun
from handiwork_viz.film.film import (
    FILM_PX,
    STILL_PX,
    Projection,
    write_film,
    write_still,
)
from handiwork_viz.film.recorder import PERIOD_S, FilmRecording, Instant

from .episode import Episode
from .simulated_cell import ROOT

FASTER = 15.0
"""Simulated seconds per second of film."""
CAMERA = Camera(frozen([3.2, -2.45, 1.5]), frozen([0.3, 0.1, -0.05]), 34.0)
SUN = Sun(frozen([0.35, -0.55, 1.0]), frozen([0.4, 0.1, -0.2]), reach_m=2.2)


class Filming:
    """Records an instant of an episode for each frame; ``write`` draws them."""

    def __init__(self) -> None:
        self._instants: list[Instant] = []
        self._next_s = 0.0

    def __call__(self, episode: Episode) -> None:
        """Record all poses, if it is time.

        Args:
            episode: The episode.
        """
        if episode.time_s < self._next_s:
            return
        self._next_s += FASTER * PERIOD_S
        joints = episode.cell.world.joints().position
        names = episode.cell.world.joint_names
        bins = episode.cell.bins()
        poses = {name: bins[name].world_T_object for name in bins}
        if not self._instants:
            objects = episode.cell.world.scene.objects
            poses |= {item.name: item.world_T_object for item in objects if item.body.is_static}
        self._instants.append(Instant(dict(zip(names, joints.tolist(), strict=True)), poses))

    def write(self, episode: Episode, path: Path) -> None:
        """Write the film, an animated WebP, and beside it a PNG of its end.

        Args:
            episode: The episode.
            path: The file of the film.

        Raises:
            OSError: a file cannot be written.
        """
        robot = episode.cell.robot
        objects = {item.name: item.body for item in episode.cell.world.scene.objects if item.name != "table"}
        recording = FilmRecording(objects, Pose.identity(), tuple(self._instants))
        folder = ROOT / "src/robot_description/robots" / robot.name
        projection = Projection(recording, robot, folder, CAMERA, SUN)
        write_still(projection.frames(self._instants[-1:], STILL_PX)[0], path.with_suffix(".png"))
        write_film(projection.frames(self._instants, FILM_PX), PERIOD_S, path)
