"""Reads recordings, also those that were cut off: up to the last chunk that is whole."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcap.exceptions import McapError
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory
from zstandard import ZstdError


class RecordingError(Exception):
    """A recording cannot be read; the text is one sentence."""


@dataclass(frozen=True)
class Read:
    """One message.

    Attributes:
        topic: Name of the topic.
        type: Name of its type.
        at_s: Time of its arrival, s since 1970.
        message: The message, with its fields as attributes.
    """

    topic: str
    type: str
    at_s: float
    message: Any


@dataclass
class Cut:
    """Says why a file ended early; ``text`` is empty for a whole file."""

    text: str = ""


def files_of(path: Path) -> list[Path]:
    """Return the files of a recording in order.

    Args:
        path: A file, or the folder of a recording.

    Raises:
        RecordingError: There is none.
    """
    if path.is_file():
        return [path]
    files = sorted(path.glob("*.mcap"), key=lambda one: (len(one.name), one.name))
    if not files:
        raise RecordingError(f"{path} is no recording: it is neither a file nor a folder with .mcap files")
    return files


def read_messages(path: Path, topics: Collection[str] = (), cut: Cut | None = None) -> Iterator[Read]:
    """Yield the messages of a recording in the order in which they were written.

    Args:
        path: A file, or the folder of a recording.
        topics: Names of the topics; empty for all.
        cut: Receives the place where a file ended early.

    Raises:
        RecordingError: There is no recording, or a file is none.
    """
    for file in files_of(path):
        yield from _of_file(file, topics, cut or Cut())


def _readable(schema: Schema) -> Schema:
    """Return the schema with a name that mcap-ros2-support takes; it refuses ``Pick_FeedbackMessage``."""
    name = schema.name.replace("_", "") if "/action/" in schema.name else schema.name
    return Schema(id=schema.id, data=schema.data, encoding=schema.encoding, name=name)


def _of_file(file: Path, topics: Collection[str], cut: Cut) -> Iterator[Read]:
    schemas, channels, decoders = dict[int, Schema](), dict[int, Channel](), dict[int, Any]()
    factory, count = DecoderFactory(), 0
    with file.open("rb") as stream:
        try:
            for record in StreamReader(stream).records:
                if isinstance(record, Schema):
                    schemas[record.id] = record
                elif isinstance(record, Channel):
                    channels[record.id] = record
                elif isinstance(record, Message):
                    count += 1
                    channel = channels[record.channel_id]
                    if topics and channel.topic not in topics:
                        continue
                    schema = schemas[channel.schema_id]
                    if channel.id not in decoders:
                        decoders[channel.id] = factory.decoder_for(
                            channel.message_encoding, _readable(schema)
                        )
                    decode = decoders[channel.id]
                    if decode is not None:
                        yield Read(channel.topic, schema.name, record.log_time * 1e-9, decode(record.data))
        except (McapError, EOFError, ValueError, KeyError, struct.error, ZstdError) as error:
            if not channels:
                raise RecordingError(f"{file} is no MCAP file ({type(error).__name__}: {error})") from error
            cut.text = f"{file.name} was cut off after {count} messages, and is shown up to there"
