"""Writes each episode as a recording of its own: MCAP with profile ros2, with the topics of a running stack."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from mcap_ros2._dynamic import serialize_dynamic
from PIL import Image

from handiwork_core.model.geometry import Array
from handiwork_data.episodes.episode import Column, Episode, EpisodeError
from handiwork_data.rendering.video import read_frames
from handiwork_viz.recording.bag_writer import BagWriter, DiskFullError, Limits, Topic, qos_text

from .lerobot_rows import about_episode
from .ros2_types import definition_of
from .source import Source

JOINTS, OBJECTS, TF = (
    "sensor_msgs/msg/JointState",
    "handiwork_msgs/msg/ObjectStates",
    "tf2_msgs/msg/TFMessage",
)
IMAGE, TEXT = "sensor_msgs/msg/CompressedImage", "std_msgs/msg/String"
STATES, COMMANDS, ABOUT, STAGE = "joint_states", "joint_commands", "episode/about", "episode/stage"
QUALITY = 90
"""Quality of the JPEG images, up to 100."""
QOS = qos_text("reliable", "volatile", 10)
LARGE = Limits(size_mb=1e6, duration_s=1e9)
"""An episode is one file."""

Stamped = tuple[str, str, dict[str, Any]]
"""Topic, type and content of a message."""


def export_mcap(source: Source, out: Path, tick: Callable[[], None] = lambda: None) -> int:
    """Write episodes as recordings: a folder for each in a folder, which is complete or not there.

    Args:
        source: The episodes.
        out: The folder, which must not exist.
        tick: Called for each episode.

    Returns:
        The number of messages.

    Raises:
        EpisodeError: An episode is damaged, the folder exists, or it cannot be written.
    """
    if out.exists():
        raise EpisodeError(f"{out} exists; name a new folder, or delete it")
    part, total = out.with_name(f".{out.name}.{os.getpid()}.part"), 0
    try:
        part.mkdir(parents=True)
        for number in source.numbers:
            total += _write(source, source.read(number), part / f"episode_{number:09d}")
            tick()
        part.replace(out)
    except DiskFullError as error:
        raise EpisodeError(f"{error}; make room, then run it again") from error
    except OSError as error:
        text = f"{out} was not written: {error.strerror or error}"
        raise EpisodeError(f"{text}; make room, then run it again") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return total


def _write(source: Source, episode: Episode, folder: Path) -> int:
    writer, encoders = BagWriter(folder, LARGE), dict[str, Any]()
    try:
        for time_s, (topic, kind, content) in _messages(source, episode):
            if topic not in encoders:
                text = definition_of(kind)
                encoders[topic] = serialize_dynamic(kind, text)[kind]
                writer.add_topic(Topic(topic, kind, text, QOS))
            stamp_ns = round(time_s * 1e9)
            writer.write(topic, encoders[topic](content), stamp_ns, stamp_ns)
    finally:
        writer.close()
    return writer.messages


def _messages(source: Source, episode: Episode) -> Iterator[tuple[float, Stamped]]:
    """Yield the messages of an episode in the order of their times, s since its beginning."""
    meta, columns, stage = episode.meta, episode.columns, -1
    frames = {
        camera: read_frames(source.images.video(meta.episode, camera))
        for camera in source.cameras
        if source.images is not None
    }
    yield 0.0, (ABOUT, TEXT, {"data": json.dumps({**about_episode(source, episode), **asdict(meta)})})
    for row, time_s in enumerate(columns["time"].tolist()):
        header = {"stamp": stamp_of(time_s), "frame_id": ""}
        world = {**header, "frame_id": "world"}
        if columns["stage"][row] != stage and columns["stage"][row] >= 0:
            stage = int(columns["stage"][row])
            yield time_s, (STAGE, TEXT, {"data": json.dumps(asdict(meta.stages[stage]))})
        state = {
            "header": header,
            "name": list(meta.joints),
            "position": columns["joint_position"][row].tolist(),
            "velocity": columns["joint_velocity"][row].tolist(),
            "effort": columns["joint_effort"][row].tolist(),
        }
        yield time_s, (STATES, JOINTS, state)
        asked = columns["joint_command"][row]
        servos = np.flatnonzero(~np.isnan(asked))
        command = {"name": [meta.joints[i] for i in servos], "position": asked[servos].tolist()}
        yield time_s, (COMMANDS, JOINTS, {"header": header, **command, "velocity": [], "effort": []})
        poses = dict(zip(meta.objects, columns["object_pose"][row], strict=True))
        states = [_state(name, pose) for name, pose in poses.items()]
        yield time_s, ("world/object_states", OBJECTS, {"header": world, "version": 1, "states": states})
        ends = {f"{arm}_ee": pose for arm, pose in zip(meta.arms, columns["ee_pose"][row], strict=True)}
        moved = [_transform(world, name, pose) for name, pose in {**poses, **ends}.items()]
        yield time_s, ("tf", TF, {"transforms": moved})
        for camera, seen in frames.items():
            content = {"header": {**header, "frame_id": f"{camera}_optical_frame"}, "format": "jpeg"}
            topic = f"cameras/{camera}/color/image_raw/compressed"
            yield time_s, (topic, IMAGE, {**content, "data": _jpeg(seen[row])})


def stamp_of(time_s: float) -> dict[str, int]:
    """Return a time as ROS has it.

    Args:
        time_s: Time, s.
    """
    whole, rest = divmod(round(time_s * 1e9), 10**9)
    return {"sec": whole, "nanosec": rest}


def _point(row: Array) -> dict[str, float]:
    return dict(zip("xyz", row[:3].tolist(), strict=True))


def _turn(row: Array) -> dict[str, float]:
    return dict(zip("wxyz", row[3:].tolist(), strict=True))


def _state(name: str, pose: Array) -> dict[str, Any]:
    still = {"x": 0.0, "y": 0.0, "z": 0.0}
    placed = {"position": _point(pose), "orientation": _turn(pose)}
    twist = {"linear": still, "angular": still}
    return {"name": name, "pose": placed, "twist": twist, "age": 0.0, "pose_covariance": []}


def _transform(header: dict[str, Any], child: str, pose: Array) -> dict[str, Any]:
    moved = {"translation": _point(pose), "rotation": _turn(pose)}
    return {"header": header, "child_frame_id": child, "transform": moved}


def _jpeg(frame: Column) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(frame).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()
