"""One recorded episode as values, and its file: an npz archive that is complete, or is not there."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
"""Rises when older programs could not read an episode any more."""
ENDING = ".npz"
META = "meta"
Column = NDArray[Any]


class EpisodeError(Exception):
    """An episode cannot be read or written; the text is one sentence with the remedy."""


@dataclass(frozen=True)
class StageSpan:
    """A stage of a skill: its name, the skill, the arm, and its times since the episode began, s."""

    skill: str
    arm: str
    stage: str
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class EpisodeMeta:
    """Everything about an episode but its samples. It has no wall time, so that equal episodes have equal bytes.

    Attributes:
        episode: Number, which is the seed.
        task: Name of the task.
        task_digest: SHA-256 of the task file.
        robot: Name of the robot.
        scene: Name of the scene.
        version: Version of Handiwork.
        instruction: The sentence; empty without any.
        rate_hz: Samples a second.
        joints: Names of the joints, by column of ``joint_position``, ``joint_velocity`` and ``joint_command``.
        arms: Names of the arms, by row of ``ee_pose``; ``gripper_width`` and ``gripper_command`` have the same order.
        objects: Names of the objects, by row of ``object_pose``.
        labels: What each of these objects is, in words.
        conditions: Texts of the conditions, by column of ``condition_value``; the first is the success.
        stages: Stages in the order of their begin.
        ok: True when every skill succeeded.
        code: Code of the task's end.
        failed_stage: Stage that failed; empty for none.
        reason: Why the task ended so.
        success: True when the success condition was TRUE at the end, with the objects at rest.
        verdict: The monitor's sentence with its numbers.
        margin: The margin of the verdict in its own unit; None when it has none.
        duration_s: Time of the world from the beginning to the end of the task, s.
    """

    episode: int
    task: str
    task_digest: str
    robot: str
    scene: str
    version: str
    instruction: str
    rate_hz: int
    joints: tuple[str, ...]
    arms: tuple[str, ...]
    objects: tuple[str, ...]
    conditions: tuple[str, ...]
    stages: tuple[StageSpan, ...]
    ok: bool
    code: str
    failed_stage: str
    reason: str
    success: bool
    verdict: str
    margin: float | None
    duration_s: float
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Episode:
    """An episode.

    Attributes:
        meta: Everything but the samples.
        columns: Samples by name; ``docs/reference/episode-files.md`` lists them with shapes and units.
    """

    meta: EpisodeMeta
    columns: Mapping[str, Column]


def encode(episode: Episode) -> bytes:
    """Return the bytes of an episode's file; equal episodes have equal bytes.

    Args:
        episode: The episode.
    """
    buffer = io.BytesIO()
    text = json.dumps({"format": FORMAT, **asdict(episode.meta)}, sort_keys=True, allow_nan=False)
    arrays = {name: episode.columns[name] for name in sorted(episode.columns)}
    np.savez_compressed(buffer, **{META: np.frombuffer(text.encode(), dtype=np.uint8)}, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of an episode's file, in hexadecimal digits.

    Args:
        data: Bytes of the file.
    """
    return hashlib.sha256(data).hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that is complete or not there, also after a loss of power.

    Args:
        path: The file.
        data: Its bytes.

    Raises:
        EpisodeError: The disk is full, or the folder cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        text = f"{path} was not written: {error.strerror}; make room, then run the same command again"
        raise EpisodeError(text) from error


def decode(data: bytes, source: str) -> Episode:
    """Read an episode from the bytes of its file.

    Args:
        data: The bytes.
        source: Name of the file in messages.

    Raises:
        EpisodeError: The file is damaged, or of another version.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            columns = {name: archive[name] for name in archive.files}
        meta = json.loads(columns.pop(META).tobytes())
        if meta.pop("format") != FORMAT:
            raise EpisodeError(
                f"{source} has another format than {FORMAT}; read it with the version that wrote it"
            )
        stages = tuple(StageSpan(**one) for one in meta.pop("stages"))
        named = ("joints", "arms", "objects", "conditions", "labels")
        lists = {key: tuple(meta.pop(key)) for key in named if key in meta}
        return Episode(EpisodeMeta(**{**meta, **lists, "stages": stages}), columns)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError, EOFError) as error:
        text = f"{source} is damaged ({type(error).__name__}: {error}); delete it, then generate it again"
        raise EpisodeError(text) from error


def read_episode(path: Path) -> Episode:
    """Read the file of an episode.

    Args:
        path: The file.

    Raises:
        EpisodeError: It cannot be read, is damaged, or of another version.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise EpisodeError(f"{path} cannot be read: {error.strerror}; check the path") from error
    return decode(data, str(path))
