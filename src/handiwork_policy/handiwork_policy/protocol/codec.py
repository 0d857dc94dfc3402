"""Messages of openpi's protocol: msgpack, with arrays as maps of data, type and shape."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgpack
import numpy as np

from .errors import BadMessage

ARRAY, SCALAR = b"__ndarray__", b"__npgeneric__"
DATA, DTYPE, SHAPE = b"data", b"dtype", b"shape"
KINDS = "?biufSU"
"""Kinds of arrays that may be sent: truth values, numbers and texts."""
LARGEST_BYTES = 256 * 2**20
"""Greatest size of a message."""


def pack(message: Mapping[str, Any]) -> bytes:
    """Return the bytes of a message.

    Args:
        message: Names and values; values may be arrays, at any depth.

    Raises:
        BadMessage: A value cannot be sent.
    """
    try:
        return bytes(msgpack.packb(message, default=_packed))
    except (TypeError, ValueError, OverflowError) as error:
        raise BadMessage(f"the message cannot be packed: {error}; send texts, numbers and arrays") from error


def unpack(data: bytes) -> dict[str, Any]:
    """Return the message of some bytes. Its arrays are copies that may be changed.

    Args:
        data: The bytes.

    Raises:
        BadMessage: They are no message of this protocol.
    """
    try:
        found = msgpack.unpackb(data, object_hook=_unpacked, strict_map_key=False)
    except BadMessage:
        raise
    except Exception as error:  # msgpack raises many kinds for bytes that are not its own
        text = f"{len(data)} bytes are no msgpack message ({type(error).__name__}: {error})"
        raise BadMessage(f"{text}; is this a server of another protocol?") from error
    if not isinstance(found, dict):
        raise BadMessage(f"the message is a {type(found).__name__}; openpi's protocol sends maps")
    return found


def _packed(value: object) -> object:
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind not in KINDS:
            raise ValueError(f"an array of type {value.dtype} cannot be sent")
        if isinstance(value, np.ndarray):
            return {ARRAY: True, DATA: value.tobytes(), DTYPE: value.dtype.str, SHAPE: value.shape}
        return {SCALAR: True, DATA: value.item(), DTYPE: value.dtype.str}
    raise TypeError(f"a {type(value).__name__} cannot be sent")


def _unpacked(value: dict[Any, Any]) -> object:
    if ARRAY in value:
        return _array(value)
    if SCALAR in value:
        dtype = _dtype(value.get(DTYPE))
        try:
            return dtype.type(value.get(DATA))
        except (TypeError, ValueError) as error:
            raise BadMessage(f"a scalar of type {dtype} is {value.get(DATA)!r}") from error
    return value


def _array(value: Mapping[Any, Any]) -> np.ndarray[Any, Any]:
    dtype, shape, data = _dtype(value.get(DTYPE)), value.get(SHAPE), value.get(DATA)
    if not isinstance(shape, list | tuple) or any(not isinstance(n, int) or n < 0 for n in shape):
        raise BadMessage(f"an array has the shape {shape!r}; it must be a list of sizes")
    wanted = math.prod(shape) * dtype.itemsize
    if not isinstance(data, bytes) or len(data) != wanted:
        there = len(data) if isinstance(data, bytes) else type(data).__name__
        raise BadMessage(f"an array of type {dtype} and shape {list(shape)} has {there} bytes, not {wanted}")
    return np.frombuffer(data, dtype).reshape(shape).copy()


def _dtype(text: object) -> np.dtype[Any]:
    try:
        made = np.dtype(text) if isinstance(text, str) else None
    except TypeError:
        made = None
    if made is None or made.kind not in KINDS:
        raise BadMessage(f"an array has the type {text!r}; truth values, numbers and texts can be sent")
    return made
