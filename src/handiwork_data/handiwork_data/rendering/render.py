"""Draws the recorded states of episodes again, in several processes; what is there already is skipped."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from handiwork_core.cameras.camera import Camera
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import Scene, load_scene
from handiwork_data.dataset.folder import DatasetFolder
from handiwork_data.dataset.generate import Shard, Sources, check_same
from handiwork_data.dataset.pool import deal
from handiwork_data.episodes.episode import Column, Episode, EpisodeError, EpisodeMeta, decode, digest_of
from handiwork_data.episodes.recorder import as_row
from handiwork_data.episodes.settings import EpisodeSettings, draw, read_task_file
from sim_bridge.cameras.images import in_millimetres, noisy_color, noisy_depth
from sim_bridge.cameras.renderer import Pixels, SceneRenderer, choose_library

from .image_folder import CameraMeta, ImageFolder, ImagesAbout
from .video import VideoWriter, need_av
from .views import Dressed, Views, draw_look, read_views


@dataclass(frozen=True)
class RenderOrder:
    """What is drawn, and where it goes.

    Attributes:
        sources: The files that the episodes were made from.
        folder: The data set.
        name: Name of the pictures.
        cameras: Cameras; see ``read_views``.
        outputs: What is drawn: some of ``OUTPUTS``.
        seed: Seed of the looks.
    """

    sources: Sources
    folder: DatasetFolder
    name: str
    cameras: str
    outputs: tuple[str, ...]
    seed: int


@dataclass(frozen=True)
class RenderRow:
    """What became of one episode.

    Attributes:
        episode: Its number.
        frames: Pictures that were drawn, over all cameras.
        wall_s: Time that it took, s of steady time.
        fault: Why it was not drawn; empty where it was.
    """

    episode: int
    frames: int
    wall_s: float
    fault: str = ""


@dataclass(frozen=True, eq=False)
class Still:
    """A picture of one moment of an episode.

    Attributes:
        meta: What the episode is.
        picture: Red, green, blue, (height, width, 3).
    """

    meta: EpisodeMeta
    picture: Pixels


def stills(order: RenderOrder, moments: Sequence[tuple[int, float]], workers: int = 1) -> list[Still]:
    """Draw one moment of each of some episodes with the first camera.

    Args:
        order: What is drawn.
        moments: Numbers of the episodes, and shares of their samples, 0 to 1.
        workers: Number of processes.

    Returns:
        The pictures, in the order of the numbers.

    Raises:
        ConfigError: A file is wrong, the data set was made otherwise, or nothing draws on this machine.
        EpisodeError: An episode is missing or damaged, or cannot be drawn.
    """
    check_same(order.folder, order.sources)
    drawn = deal(_still, moments, workers, _begin_worker, (order, _library()))
    return sorted(drawn, key=lambda one: one.meta.episode)


def render(order: RenderOrder, numbers: Sequence[int], shard: Shard, workers: int) -> Iterator[RenderRow]:
    """Draw the episodes that have no pictures yet.

    Args:
        order: What is drawn.
        numbers: Numbers of the episodes.
        shard: Shard of the episodes, for the lock.
        workers: Number of processes.

    Yields:
        What became of each episode; one that is damaged does not stop the others.

    Raises:
        ConfigError: A file is wrong, the data set was made otherwise, or nothing draws on this machine.
        EpisodeError: A package is missing, or a process was ended.
    """
    check_same(order.folder, order.sources)
    if "color" in order.outputs:
        need_av()
    robot, scene = load_robot(order.sources.robot), load_scene(order.sources.scene)
    views = read_views(order.cameras, robot, scene)
    names = tuple(camera.name for camera in views.cameras)
    images = ImageFolder(order.folder, order.name)
    images.begin(ImagesAbout(names, views.digest, order.outputs, order.seed))
    with images.locked(shard.name):
        missing = [n for n in numbers if not all(images.values(n, name).exists() for name in names)]
        if missing:
            yield from deal(_work, missing, workers, _begin_worker, (order, _library()))


def _library() -> str:
    try:
        return choose_library(os.environ)
    except ValueError as error:
        raise ConfigError("render", [str(error)]) from error


class EpisodePainter:
    """Draws episodes; one thread makes and uses it.

    Args:
        order: What is drawn.
        library: OpenGL library, see ``choose_library``.
    """

    def __init__(self, order: RenderOrder, library: str) -> None:
        self._order = order
        self._robot: Robot = load_robot(order.sources.robot)
        self._scene: Scene = load_scene(order.sources.scene)
        self._settings: EpisodeSettings = read_task_file(order.sources.task).settings
        self._views: Views = read_views(order.cameras, self._robot, self._scene)
        self._images = ImageFolder(order.folder, order.name)
        self._renderer = SceneRenderer(
            library, self._robot, self._scene.world_T_base, self._views.cameras, {}
        )

    def paint(self, number: int) -> RenderRow:
        """Draw an episode.

        Args:
            number: Number of the episode.
        """
        begun_s = time.monotonic()
        try:
            frames = self._paint(number)
        except EpisodeError as error:
            return RenderRow(number, 0, time.monotonic() - begun_s, str(error))
        return RenderRow(number, frames, time.monotonic() - begun_s)

    def still(self, number: int, share: float) -> Still:
        """Draw one moment of an episode with the first camera.

        Args:
            number: Number of the episode.
            share: The moment, as a share of the samples of the episode, 0 to 1.

        Raises:
            EpisodeError: The episode is missing or damaged, or cannot be drawn.
        """
        episode, _digest, dressed = self._begin(number)
        sample = round(share * (len(episode.columns["time"]) - 1))
        self._renderer.place(*state_of(episode, sample))
        drawn = self._renderer.draw(dressed.cameras[0], color=True, depth=False, labels=False)
        assert drawn.color is not None
        return Still(episode.meta, drawn.color)

    def _begin(self, number: int) -> tuple[Episode, str, Dressed]:
        """Read an episode, and show its objects in its look."""
        path = self._order.folder.file_of(number)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise EpisodeError(f"{path} cannot be read: {error.strerror}; generate it again") from error
        episode = decode(data, str(path))
        scene = draw(self._settings, self._scene, number).scene
        dressed = draw_look(self._views, scene, number, self._order.seed)
        self._renderer.dress(dressed.cameras, dressed.colors, dressed.lighting, dressed.textures)
        try:
            self._renderer.show([item.body for item in scene.objects])
        except ValueError as error:
            raise EpisodeError(f"episode {number} cannot be drawn: {error}; leave it out") from error
        return episode, digest_of(data), dressed

    def _paint(self, number: int) -> int:
        episode, digest, dressed = self._begin(number)
        return sum(self._take(episode, digest, dressed, camera) for camera in dressed.cameras)

    def _take(self, episode: Episode, digest: str, dressed: Dressed, camera: Camera) -> int:
        """Draw what one camera sees; return the number of pictures."""
        number, images, outputs = episode.meta.episode, self._images, self._order.outputs
        if images.values(number, camera.name).exists():
            return 0
        count, pinhole = len(episode.columns["time"]), camera.intrinsics
        rng = np.random.default_rng([number, self._order.seed, dressed.cameras.index(camera), 24])
        values: dict[str, list[Column]] = {}
        with ExitStack() as stack:
            writer = None
            if "color" in outputs:
                part = stack.enter_context(images.part(images.video(number, camera.name)))
                writer = stack.enter_context(
                    VideoWriter(part, pinhole.width, pinhole.height, episode.meta.rate_hz)
                )
            for sample in range(count):
                self._renderer.place(*state_of(episode, sample))
                drawn = self._renderer.draw(
                    camera, color=writer is not None, depth="depth" in outputs, labels="labels" in outputs
                )
                if writer is not None and drawn.color is not None:
                    writer.add(noisy_color(drawn.color, camera.noise, rng))
                if drawn.depth is not None:
                    seen = in_millimetres(noisy_depth(drawn.depth, camera.noise, rng))
                    values.setdefault("depth_mm", []).append(seen)
                if drawn.labels is not None:
                    values.setdefault("labels", []).append(drawn.labels)
                pose = as_row(self._renderer.optical_pose(camera))
                values.setdefault("world_T_optical", []).append(pose)
        meta = CameraMeta(
            number, digest, camera.name, camera.link, pinhole.width, pinhole.height, episode.meta.rate_hz,
            self._renderer.bodies,
        )  # fmt: skip
        columns = {name: np.array(rows) for name, rows in values.items()}
        images.write_values(meta, {**columns, "intrinsics": pinhole.matrix()})
        return count


def state_of(episode: Episode, sample: int) -> tuple[dict[str, float], dict[str, Pose]]:
    """Return the joint positions and the poses of the objects at a sample, by name.

    Args:
        episode: The episode.
        sample: Row of its columns.
    """
    meta, columns = episode.meta, episode.columns
    joints = dict(zip(meta.joints, columns["joint_position"][sample].tolist(), strict=True))
    rows = columns["object_pose"][sample]
    poses = {
        name: Pose.of(row[:3], Rotation.from_wxyz(row[3:]))
        for name, row in zip(meta.objects, rows, strict=True)
    }
    return joints, poses


class _Worker:
    """What a process of the pool keeps."""

    painter: EpisodePainter


def _begin_worker(order: RenderOrder, library: str) -> None:
    _Worker.painter = EpisodePainter(order, library)


def _work(number: int) -> RenderRow:
    return _Worker.painter.paint(number)


def _still(moment: tuple[int, float]) -> Still:
    return _Worker.painter.still(*moment)
