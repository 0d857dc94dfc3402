"""A recording: a folder of MCAP files with profile ros2, split by size and by time."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage
from typing import Any, BinaryIO

from mcap.writer import CompressionType, Writer

LIBRARY = "handiwork"
CHUNK_BYTES = 256 * 1024
"""The size of a chunk, bytes; what is cut off a file is less than one chunk."""
FLUSH_S = 2.0
"""The longest time for which messages stay in memory, s of steady time."""
FREE_MB = 200.0
"""The free space at which a recording stops, MB: the rest of the system needs some."""


class DiskFullError(Exception):
    """The recording was stopped, or cannot begin, because of its disk; the text is one sentence."""


@dataclass(frozen=True)
class Limits:
    """The size and the time of one file.

    Attributes:
        size_mb: Greatest size, MB.
        duration_s: Longest time, s of steady time.
        free_mb: Free space on the disk at which the recording stops, MB.
    """

    size_mb: float = 1024.0
    duration_s: float = 600.0
    free_mb: float = FREE_MB


@dataclass(frozen=True)
class Topic:
    """A topic that is recorded.

    Attributes:
        name: Its name.
        type: Name of its type, such as ``sensor_msgs/msg/JointState``.
        definition: Definition of the type and of all types in it, in the format ``ros2msg``.
        qos: Profile of the publishers, for rosbag2.
    """

    name: str
    type: str
    definition: str
    qos: str = ""


class BagWriter:
    """Writes serialized messages.

    Args:
        folder: Folder of the recording, which must not exist.
        limits: When the next file begins, and when the recording stops.
        steady: Returns the steady time, s.

    Raises:
        FileExistsError: The folder exists.
        DiskFullError: The folder cannot be made, or nothing can be written there.
    """

    def __init__(self, folder: Path, limits: Limits, steady: Callable[[], float] = time.monotonic) -> None:
        _make(folder)
        self.folder, self._limits, self._steady = folder, limits, steady
        self.messages, self.files = 0, list[Path]()
        self._topics = dict[str, Topic]()
        self._channels = dict[str, int]()
        self._stream: BinaryIO | None = None
        self._writer: Any = None
        self._begun_s = self._flushed_s = self._steady()
        self._checked(self._begin)

    def add_topic(self, topic: Topic) -> None:
        """Add a topic.

        Args:
            topic: The topic.
        """
        self._topics[topic.name] = topic

    def write(self, topic: str, data: bytes, log_ns: int, publish_ns: int) -> None:
        """Write a message.

        Args:
            topic: Name of a topic that was added.
            data: The serialized message.
            log_ns: Time of its arrival, ns since 1970.
            publish_ns: Time at which it was sent, ns since 1970.

        Raises:
            DiskFullError: The disk is full. What was written before can be read.
        """
        self._checked(lambda: self._write(topic, data, log_ns, publish_ns))

    def tend(self) -> None:
        """Flush, begin the next file where this one is long enough, and look at the disk; call it a few times a second.

        Raises:
            DiskFullError: The disk is nearly full. The last file is complete.
        """
        self._checked(self._tend)

    def close(self) -> None:
        """Complete the last file."""
        with suppress(OSError):
            self._finish()

    def _write(self, topic: str, data: bytes, log_ns: int, publish_ns: int) -> None:
        channel = self._channels.get(topic)
        if channel is None:
            channel = self._channel(self._topics[topic])
        self._writer.add_message(channel, log_ns, data, publish_ns, self.messages & 0xFFFFFFFF)
        self.messages += 1

    def _tend(self) -> None:
        now_s = self._steady()
        if now_s - self._flushed_s >= FLUSH_S and self._stream is not None:
            self._flushed_s = now_s
            # mcap offers no way to end a chunk early; without it, a slow topic would stay in memory for minutes.
            getattr(self._writer, "_Writer__finalize_chunk", lambda: None)()
            self._stream.flush()
            free_mb = disk_usage(self.folder).free / 1e6
            if free_mb < self._limits.free_mb:
                self._finish()
                raise DiskFullError(
                    f"the recording {self.folder} was stopped: {free_mb:.0f} MB are free on the disk, and it keeps "
                    f"{self._limits.free_mb:.0f} MB free"
                )
        size_mb = 0.0 if self._stream is None else self._stream.tell() / 1e6
        if size_mb > self._limits.size_mb or now_s - self._begun_s > self._limits.duration_s:
            self._finish()
            self._begin()

    def _begin(self) -> None:
        path = self.folder / f"{self.folder.name}_{len(self.files)}.mcap"
        self._stream = path.open("wb")
        self._writer = Writer(self._stream, chunk_size=CHUNK_BYTES, compression=CompressionType.ZSTD)
        self._writer.start("ros2", LIBRARY)
        self.files.append(path)
        self._channels.clear()
        self._begun_s = self._steady()

    def _channel(self, topic: Topic) -> int:
        schema = self._writer.register_schema(topic.type, "ros2msg", topic.definition.encode())
        metadata = {"offered_qos_profiles": topic.qos}
        made = int(self._writer.register_channel(topic.name, "cdr", schema, metadata))
        self._channels[topic.name] = made
        return made

    def _finish(self) -> None:
        stream, self._stream = self._stream, None
        if stream is None:
            return
        try:
            self._writer.finish()
        finally:
            with suppress(OSError):
                stream.close()

    def _checked(self, act: Callable[[], None]) -> None:
        """Turn an error of the disk into one sentence; what was flushed stays readable."""
        try:
            act()
        except OSError as error:
            with suppress(OSError):
                self._finish()
            raise DiskFullError(
                f"the recording {self.folder} was stopped, because its file cannot be written: "
                f"{error.strerror or error}"
            ) from error


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise
    except OSError as error:
        text = f"the folder {folder} of the recording cannot be made: {error.strerror or error}; name another"
        raise DiskFullError(text) from error


def qos_text(reliability: str, durability: str, depth: int) -> str:
    """Return a profile as rosbag2 writes it.

    Args:
        reliability: ``reliable`` or ``best_effort``.
        durability: ``volatile`` or ``transient_local``.
        depth: Depth of the history.
    """
    never = "\n    sec: 9223372036\n    nsec: 854775807"
    fields = {
        "history": "keep_last",
        "depth": str(depth),
        "reliability": reliability,
        "durability": durability,
        "deadline": never,
        "lifespan": never,
        "liveliness": "automatic",
        "liveliness_lease_duration": never,
        "avoid_ros_namespace_conventions": "false",
    }
    lines = (f"{name}:{value}" if value is never else f"{name}: {value}" for name, value in fields.items())
    return "- " + "\n  ".join(lines)
