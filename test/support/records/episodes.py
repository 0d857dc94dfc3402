"""Tiny episodes and pictures, made without a simulation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from handiwork_data.dataset.folder import About, DatasetFolder
from handiwork_data.episodes.episode import Episode, EpisodeMeta, StageSpan, digest_of, encode
from handiwork_data.rendering.image_folder import CameraMeta, ImageFolder, ImagesAbout
from handiwork_data.rendering.video import VideoWriter

ABOUT = About("a" * 64, "fr3", "b" * 64, "tabletop", "c" * 64, "0.1.0")
SAMPLES = 4
SIZE = (64, 48)
"""Columns and rows of a picture."""


def tiny_episode(
    number: int, samples: int = SAMPLES, joints: tuple[str, ...] = ("one", "passive"), arm: str = "arm"
) -> Episode:
    """Return an episode whose values tell their sample; the last joint has no servo, and number 2 is a failure."""
    meta = EpisodeMeta(
        episode=number, task="tidy", task_digest="a" * 64, robot="fr3", scene="tabletop", version="0.1.0",
        instruction="Put it away.", rate_hz=25, joints=joints, arms=(arm,), objects=("cube", "bin"),
        conditions=("x",), stages=(StageSpan("pick", arm, "approach", 0.0, 1.5),), ok=True, code="OK",
        failed_stage="", reason="", success=number != 2, verdict="yes", margin=None, duration_s=1.5,
    )  # fmt: skip
    step = np.arange(samples, dtype=np.float64)
    commands = np.tile((10.0 + step)[:, None], (1, len(joints)))
    commands[:, -1] = np.nan
    still = np.array([0.1, 0.2, 0.3, 1.0, 0.0, 0.0, 0.0])
    columns = {
        "time": 0.04 * step,
        "joint_position": np.tile(step[:, None], (1, len(joints))),
        "joint_velocity": np.ones((samples, len(joints))),
        "joint_effort": np.zeros((samples, len(joints))),
        "joint_command": commands,
        "ee_pose": np.tile(still, (samples, 1, 1)),
        "gripper_width": 0.02 + 0.001 * step[:, None],
        "gripper_command": 0.01 * step[:, None],
        "object_pose": np.tile(still, (samples, 2, 1)),
        "condition_value": np.ones((samples, 1), dtype=np.int8),
        "condition_margin": np.zeros((samples, 1)),
        "stage": np.zeros(samples, dtype=np.int32),
        "contact_sample": np.zeros(0, dtype=np.int32),
        "contact_bodies": np.zeros((0, 2), dtype=str),
        "contact_force": np.zeros(0),
    }
    return Episode(meta, columns)


def tiny_folder(path: Path, *episodes: Episode) -> DatasetFolder:
    """Return a data set of these episodes."""
    folder = DatasetFolder(path)
    folder.begin(ABOUT, "name: tidy\n")
    for episode in episodes:
        folder.write(episode)
    return folder


def frame_of(number: int, sample: int) -> NDArray[np.uint8]:
    """Return a picture whose colour tells its episode and its sample: red, and green; blue is always there."""
    frame = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
    frame[:] = (40 * number, 20 + 25 * sample, 200)
    return frame


def tiny_images(folder: DatasetFolder, camera: str = "head") -> ImageFolder:
    """Return pictures of all episodes of a data set, by one camera."""
    images = ImageFolder(folder, "main")
    images.begin(ImagesAbout((camera,), "d" * 64, ("color",), 0))
    for number in folder.episodes():
        episode = folder.read(number)
        count = len(episode.columns["time"])
        with images.part(images.video(number, camera)) as part, VideoWriter(part, *SIZE, 25) as writer:
            for sample in range(count):
                writer.add(frame_of(number, sample))
        meta = CameraMeta(number, digest_of(encode(episode)), camera, "", *SIZE, 25, ("cube", "bin"))
        still = np.tile([1.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0], (count, 1))
        pinhole = np.array([[50.0, 0.0, 31.5], [0.0, 51.0, 23.5], [0.0, 0.0, 1.0]])
        images.write_values(meta, {"world_T_optical": still, "intrinsics": pinhole})
    return images
