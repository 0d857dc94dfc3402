"""What both versions of LeRobot's format share: the rows of an episode, its statistics, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handiwork_data.episodes.episode import Episode, EpisodeError
from handiwork_data.rendering.image_folder import CameraMeta
from handiwork_data.rendering.video import read_frames

from . import statistics
from .name_maps import Feature, Features
from .source import Source
from .statistics import Stats

SAMPLED = 32
"""Pictures of an episode whose colours are measured."""
TYPES = {"bool": "bool", "float32": "float32"}


@dataclass(frozen=True, eq=False)
class Rows:
    """An episode as rows.

    Attributes:
        index: Its place in the exported data set.
        begin: Row of the data set with which it begins.
        episode: The episode.
        features: Its columns.
        task: Number of its sentence.
        stats: Statistics by feature.
    """

    index: int
    begin: int
    episode: Episode
    features: tuple[Feature, ...]
    task: int
    stats: dict[str, Stats]

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.features[0].values)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns that every data set has, each (n,)."""
        numbers = np.arange(self.count, dtype=np.int64)
        return {
            "timestamp": (numbers / self.episode.meta.rate_hz).astype(np.float32),
            "frame_index": numbers,
            "episode_index": np.full(self.count, self.index, dtype=np.int64),
            "index": self.begin + numbers,
            "task_index": np.full(self.count, self.task, dtype=np.int64),
        }


@dataclass(frozen=True)
class Plan:
    """What is exported, and under which names.

    Attributes:
        source: The episodes.
        features: Makes the columns of an episode.
        video_key: Returns the name of a camera's feature.
        tick: Called for each episode.
    """

    source: Source
    features: Features
    video_key: Callable[[str], str]
    tick: Callable[[], None]


class Reader:
    """Reads episodes in order, and checks that all have the same columns.

    Args:
        plan: What is exported.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.tasks: dict[str, int] = {}
        self.shapes: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.cameras: dict[str, CameraMeta] = {}
        self.stats: dict[str, list[Stats]] = {}
        self.rate_hz = 0
        self.rows = self.episodes = 0

    def __iter__(self) -> Iterator[Rows]:
        """Yield the episodes.

        Raises:
            EpisodeError: One is damaged, or has other columns, another rate or other pictures than the first.
        """
        for number in self._plan.source.numbers:
            made = self._rows(self._plan.source.read(number))
            for name, one in made.stats.items():
                self.stats.setdefault(name, []).append(one)
            yield made
            self.rows, self.episodes = self.rows + made.count, self.episodes + 1
            self._plan.tick()

    def together(self) -> dict[str, Stats]:
        """Return the statistics of all episodes, by feature."""
        return {name: statistics.together(parts) for name, parts in self.stats.items()}

    def _rows(self, episode: Episode) -> Rows:
        meta, features = episode.meta, self._plan.features(episode, self._plan.source)
        shapes = {one.name: (one.values.dtype.name, one.names) for one in features}
        self.rate_hz, self.shapes = self.rate_hz or meta.rate_hz, self.shapes or shapes
        if (meta.rate_hz, shapes) != (self.rate_hz, self.shapes):
            other = sorted({*shapes.items()} ^ {*self.shapes.items()})
            what = f"column {other[0][0]!r}" if other else f"rate {meta.rate_hz} Hz"
            text = f"episode {meta.episode} differs from the first in {what}"
            raise EpisodeError(f"{text}; export the two kinds apart")
        stats = {one.name: statistics.of_rows(one.values) for one in features}
        count = len(features[0].values)
        for camera in self._plan.source.cameras:
            stats[self._plan.video_key(camera)] = self._colors(meta.episode, camera, count)
        task = self.tasks.setdefault(meta.instruction or meta.task, len(self.tasks))
        made = Rows(self.episodes, self.rows, episode, tuple(features), task, stats)
        stats.update({name: statistics.of_rows(value[:, None]) for name, value in made.columns().items()})
        return made

    def _colors(self, number: int, camera: str, count: int) -> Stats:
        source = self._plan.source
        seen, first = source.camera_meta(number, camera), self.cameras
        there = first.setdefault(camera, seen)
        if (seen.width, seen.height, seen.rate_hz) != (there.width, there.height, there.rate_hz):
            text = f"the pictures of camera {camera!r} in episode {number} have another size"
            raise EpisodeError(f"{text}; render all with one file of cameras")
        assert source.images is not None
        wanted = {int(one) for one in np.linspace(0, count - 1, min(SAMPLED, count))}
        frames = read_frames(source.images.video(number, camera), wanted)
        if len(frames) < len(wanted):
            path = source.images.video(number, camera)
            raise EpisodeError(f"{path} has too few frames; delete it and its .npz, then render it again")
        return statistics.of_frames(frames)


def features_info(reader: Reader, video_key: Callable[[str], str]) -> dict[str, Any]:
    """Return the key ``features`` of ``info.json``.

    Args:
        reader: Has read all episodes.
        video_key: Returns the name of a camera's feature.
    """
    found: dict[str, Any] = {}
    for name, (kind, names) in reader.shapes.items():
        found[name] = {"dtype": TYPES[kind], "shape": [len(names)], "names": list(names)}
    for camera, meta in reader.cameras.items():
        found[video_key(camera)] = {
            "dtype": "video",
            "shape": [meta.height, meta.width, 3],
            "names": ["height", "width", "channels"],
            "info": {
                "video.height": meta.height,
                "video.width": meta.width,
                "video.codec": "h264",
                "video.pix_fmt": "yuv420p",
                "video.is_depth_map": False,
                "video.fps": reader.rate_hz,
                "video.channels": 3,
                "has_audio": False,
            },
        }
    found["timestamp"] = {"dtype": "float32", "shape": [1], "names": None}
    for name in ("frame_index", "episode_index", "index", "task_index"):
        found[name] = {"dtype": "int64", "shape": [1], "names": None}
    return found


def about_episode(source: Source, episode: Episode) -> dict[str, Any]:
    """Return what the table of episodes says of one beside LeRobot's own columns.

    Args:
        source: Where it comes from.
        episode: The episode.
    """
    meta, about = episode.meta, source.about
    stages = [asdict(stage) for stage in meta.stages]
    return {
        "handiwork/seed": meta.episode,
        "handiwork/success": meta.success,
        "handiwork/verdict": meta.verdict,
        "handiwork/margin": meta.margin,
        "handiwork/code": meta.code,
        "handiwork/failed_stage": meta.failed_stage,
        "handiwork/reason": meta.reason,
        "handiwork/duration_s": meta.duration_s,
        "handiwork/instruction": meta.instruction,
        "handiwork/task": meta.task,
        "handiwork/task_digest": meta.task_digest,
        "handiwork/robot": meta.robot,
        "handiwork/robot_digest": about.robot_digest,
        "handiwork/scene": meta.scene,
        "handiwork/scene_digest": about.scene_digest,
        "handiwork/version": meta.version,
        "handiwork/labels": json.dumps(dict(zip(meta.objects, meta.labels, strict=False))),
        "handiwork/stages": json.dumps(stages),
    }


def plain(stats: dict[str, Stats]) -> dict[str, dict[str, Any]]:
    """Return statistics as lists, for JSON.

    Args:
        stats: Statistics by feature.
    """
    return {name: {key: value.tolist() for key, value in one.items()} for name, one in stats.items()}


def need_arrow() -> tuple[Any, Any]:
    """Return the modules ``pyarrow`` and ``pyarrow.parquet``.

    Raises:
        EpisodeError: They are missing.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise EpisodeError("pyarrow is missing; install requirements/data.txt") from error
    return pyarrow, parquet


def table_of(arrow: Any, rows: Rows) -> Any:  # noqa: ANN401 - pyarrow may be missing
    """Return the rows of an episode as a table of Arrow.

    Args:
        arrow: The module ``pyarrow``.
        rows: The rows.
    """
    columns: dict[str, Any] = {}
    for one in rows.features:
        flat = arrow.array(one.values.reshape(-1))
        width = one.values.shape[1]
        columns[one.name] = flat if width == 1 else arrow.FixedSizeListArray.from_arrays(flat, width)
    columns.update({name: arrow.array(value) for name, value in rows.columns().items()})
    return arrow.table(columns)


def sentences(tasks: dict[str, int]) -> Sequence[str]:
    """Return the sentences in the order of their numbers.

    Args:
        tasks: Numbers by sentence.
    """
    return sorted(tasks, key=lambda text: tasks[text])
