"""A client of the policy server of Isaac GR00T: msgpack over ZeroMQ, a request and its answer at a time.

The protocol is that of ``gr00t/policy/server_client.py`` of N1.6 and N1.7: observations are maps of ``video``,
``state`` and ``language`` with a batch and a time before each array, actions are maps of arrays (1, h, d).
"""

from __future__ import annotations

import contextlib
import io
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import msgpack
import numpy as np
import zmq

from handiwork_core.model.geometry import Array

from .codec import LARGEST_BYTES
from .errors import BadAnswer, BadMessage, PolicyError, ServerFault, ServerLost, ServerSilent
from .policy import ACTIONS, Observation

SCHEME = "gr00t://"
PORT = 5555
"""The port of a server that is started without one."""
ARRAY, BYTES = "__ndarray_class__", "as_npy"
MODALITY, FIELDS = "__ModalityConfig_class__", "as_json"
POLL_MS = 50
"""Time after which a call that waits looks whether the connection was closed."""
SHOWN = 300
"""Letters of a server's text that a message shows."""


@dataclass(frozen=True)
class Modality:
    """What a policy takes or gives of one kind.

    Attributes:
        keys: Names of its parts, in order.
        steps: Moments relative to the present one, in steps.
    """

    keys: tuple[str, ...]
    steps: tuple[int, ...]


class Gr00tClient:
    """A connection to a policy server of Isaac GR00T. One thread at a time may use it.

    A camera's picture belongs to the video of its key, and a part of the state to the state of its key, each with or
    without the words ``video.`` and ``state.`` before it. The arrays of an answer are joined in the server's order.

    Args:
        address: As in ``gr00t://localhost:5555``.
        timeout_s: Longest wait for each answer, s.

    Raises:
        PolicyError: There is no such server, or it wants what a run has not.
    """

    def __init__(self, address: str, timeout_s: float = 10.0) -> None:
        self.address, self._timeout_s = address, timeout_s
        self._host, self._port = _place(address)
        self._in_use, self._is_closed = threading.Lock(), False
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.REQ)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.MAXMSGSIZE, LARGEST_BYTES)
        try:
            self._socket.connect(f"tcp://{self._host}:{self._port}")
            self._modalities = self._asked_modalities()
            self.reset()
        except zmq.ZMQError as error:
            self.close()
            raise PolicyError(
                f"server is {address!r}: {error}; write one as gr00t://localhost:{PORT}"
            ) from error
        except PolicyError:
            self.close()
            raise

    def metadata(self) -> Mapping[str, Any]:
        """See ``Policy.metadata``; the names of all parts, and the length of a chunk."""
        about = {f"gr00t_{kind}": list(one.keys) for kind, one in self._modalities.items()}
        return about | {"action_horizon": len(self._modalities["action"].steps)}

    def infer(self, observation: Observation) -> Mapping[str, Any]:
        """See ``Policy.infer``.

        Args:
            observation: The observation; its only text is the instruction.
        """
        answer = self._call("get_action", {"observation": self._nested(observation), "options": None})
        if not isinstance(answer, list) or not answer or not isinstance(answer[0], dict):
            raise self._strange(f"an answer of type {type(answer).__name__} in place of actions")
        return {ACTIONS: self._joined(answer[0])}

    def reset(self) -> None:
        """See ``Policy.reset``."""
        self._call("reset", {"options": None})

    def close(self) -> None:
        """Close the connection, from any thread; a second time does nothing.

        A call that is under way ends with ``ServerLost`` first: a socket belongs to one thread at a time.
        """
        self._is_closed = True
        with self._in_use:
            self._socket.close()
            self._context.term()

    def _asked_modalities(self) -> dict[str, Modality]:
        found = self._call("get_modality_config", None)
        if not isinstance(found, dict):
            raise self._strange("no configuration of its modalities")
        made = {str(kind): self._modality(str(kind), one) for kind, one in found.items()}
        if missing := [kind for kind in ("video", "state", "action", "language") if kind not in made]:
            raise self._strange(f"a configuration without {missing[0]!r}")
        for kind in ("video", "state", "language"):
            if made[kind].steps != (0,):
                text = f"the server at {self.address} wants {kind} of the steps {list(made[kind].steps)}"
                raise PolicyError(f"{text}; serve a policy that looks at the present step alone")
        return made

    def _modality(self, kind: str, value: object) -> Modality:
        fields = value.get(FIELDS) if isinstance(value, dict) and MODALITY in value else None
        if not isinstance(fields, dict):
            raise self._strange(f"{kind!r} without a configuration")
        keys, steps = fields.get("modality_keys"), fields.get("delta_indices")
        if not isinstance(keys, list) or not isinstance(steps, list) or not keys or not steps:
            raise self._strange(f"{kind!r} without modality_keys or delta_indices")
        return Modality(tuple(map(str, keys)), tuple(steps))

    def _nested(self, observation: Observation) -> dict[str, Any]:
        """Return the observation with a batch of one and one step of time."""
        texts = [value for value in observation.values() if isinstance(value, str)]
        return {
            "video": {key: self._part(observation, "video", key) for key in self._modalities["video"].keys},
            "state": {key: self._part(observation, "state", key) for key in self._modalities["state"].keys},
            "language": {key: [[texts[0] if texts else ""]] for key in self._modalities["language"].keys},
        }

    def _part(self, observation: Observation, kind: str, key: str) -> Array:
        found = observation.get(key, observation.get(f"{kind}.{key}"))
        if found is None:
            field = "cameras" if kind == "video" else "state_keys"
            text = f"the server at {self.address} wants the {kind} {key!r}"
            text = f"{text}; the observation has {sorted(observation)}; name it in {field}"
            # A fault of the field ``cameras`` means that a camera sends no images.
            raise BadAnswer(text, "server" if kind == "video" else field)
        return np.asarray(found)[None, None]

    def _joined(self, actions: Mapping[str, Any]) -> Array:
        parts = list[Array]()
        for key in self._modalities["action"].keys:
            part = actions.get(key)
            if not isinstance(part, np.ndarray) or part.ndim != 3 or len(part) != 1:
                shape = list(part.shape) if isinstance(part, np.ndarray) else type(part).__name__
                raise BadAnswer(f"the action {key!r} has the shape {shape}; it must be [1, steps, numbers]")
            parts.append(part[0])
        if len({len(part) for part in parts}) != 1:
            raise BadAnswer(f"the actions have {[len(part) for part in parts]} steps; all must have as many")
        return np.concatenate(parts, axis=1)

    def _call(self, endpoint: str, data: Mapping[str, Any] | None) -> object:
        request = {"endpoint": endpoint} | ({} if data is None else {"data": data})
        with self._in_use:
            try:
                answer = self._exchanged(endpoint, msgpack.packb(request, default=_packed))
            except zmq.ZMQError as error:
                self._is_closed = True
                text = f"the connection to {self.address} failed ({error}); connect again"
                raise ServerLost(text) from error
        found = self._unpacked(answer)
        if isinstance(found, dict) and "error" in found:
            text = str(found["error"]).strip()[-SHOWN:] or "a fault without a text"
            raise ServerFault(f"the server at {self.address} reports: {text}; read its log")
        return found

    def _exchanged(self, endpoint: str, request: bytes) -> bytes:
        """Return the answer to a request; without one in time the connection cannot be used any more."""
        if self._is_closed:
            raise ServerLost(f"the connection to {self.address} is closed; connect again")
        begun_s = time.monotonic()
        self._socket.send(request, zmq.NOBLOCK)
        while not self._socket.poll(POLL_MS):
            spent_s = time.monotonic() - begun_s
            if self._is_closed:
                raise ServerLost(f"the connection to {self.address} was closed; connect again")
            if spent_s > self._timeout_s:
                # An answer that comes later would be taken for that of a newer observation.
                self._is_closed = True
                text = f"no server of GR00T at {self.address} answered {endpoint!r} within {spent_s:.2f} s"
                if not self._listens():
                    raise ServerLost(f"{text}; nothing listens there: start it, or correct the address")
                raise ServerSilent(f"{text}; check its load, or raise server_timeout")
        return bytes(self._socket.recv())

    def _listens(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection((self._host, self._port), timeout=1.0):
            return True
        return False

    def _unpacked(self, data: bytes) -> object:
        try:
            return msgpack.unpackb(data, object_hook=_array)
        except Exception as error:  # msgpack and numpy raise many kinds for bytes that are not theirs
            raise self._strange(f"{len(data)} bytes ({type(error).__name__}: {error})") from error

    def _strange(self, what: str) -> BadMessage:
        text = f"the server at {self.address} speaks another protocol: it sent {what}"
        return BadMessage(f"{text}; give a policy server of GR00T N1.6 or N1.7")


def _place(address: str) -> tuple[str, int]:
    try:
        parts = urlsplit(address)
        port = parts.port or PORT
    except ValueError as error:
        raise PolicyError(f"server is {address!r}: {error}; write one as gr00t://localhost:{PORT}") from error
    if not address.startswith(SCHEME) or not parts.hostname:
        raise PolicyError(f"server is {address!r}; write an address such as gr00t://localhost:{PORT}")
    return parts.hostname, port


def _packed(value: object) -> object:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"a {type(value).__name__} cannot be sent")
    written = io.BytesIO()
    np.save(written, value, allow_pickle=False)
    return {ARRAY: True, BYTES: written.getvalue()}


def _array(value: dict[Any, Any]) -> object:
    return np.load(io.BytesIO(value[BYTES]), allow_pickle=False) if ARRAY in value else value
