"""The client against servers that are right, and against those that are not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgpack
import numpy as np
import pytest
from websockets.sync.server import ServerConnection, serve

from handiwork_policy.protocol.client import PolicyClient
from handiwork_policy.protocol.codec import pack, unpack
from handiwork_policy.protocol.errors import BadMessage, PolicyError, ServerFault, ServerLost, ServerSilent
from handiwork_policy.protocol.server import FunctionPolicy, PolicyServer
from handiwork_policy.protocol.worker import InferenceWorker

WAIT_S = 60.0


@contextmanager
def server_that(talk: Callable[[ServerConnection], None]) -> Iterator[str]:
    """Serve with a function of the connection; yields the address."""
    made = serve(talk, "127.0.0.1", 0, compression=None)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"ws://127.0.0.1:{made.socket.getsockname()[1]}"
    finally:
        made.shutdown()
        thread.join(WAIT_S)


def test_arrays_come_back_with_type_and_shape() -> None:
    sent = {
        "picture": np.arange(24, dtype=np.uint8).reshape(2, 4, 3),
        "state": np.array([0.5, -1.0], dtype=np.float32),
        "none": np.zeros((0, 7)),
        "count": np.int64(3),
        "deep": {"prompt": "Put the cube into the bin.", "list": [1, 2.5, None]},
    }
    found = unpack(pack(sent))
    for key in ("picture", "state", "none"):
        np.testing.assert_array_equal(found[key], sent[key])
        assert found[key].dtype == sent[key].dtype
    assert found["count"] == 3 and found["deep"] == sent["deep"]


def test_bytes_of_arrays_are_those_of_openpi() -> None:
    raw = msgpack.unpackb(pack({"a": np.array([[1.0, 2.0]], np.float32)}))["a"]
    assert raw == {
        b"__ndarray__": True,
        b"data": np.array([1.0, 2.0], np.float32).tobytes(),
        b"dtype": "<f4",
        b"shape": [1, 2],
    }


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xc1 no msgpack", "no msgpack message"),
        (msgpack.packb([1, 2]), "is a list"),
        (
            msgpack.packb({"a": {b"__ndarray__": True, b"data": b"12", b"dtype": "<f4", b"shape": [1]}}),
            "2 bytes, not 4",
        ),
        (
            msgpack.packb({"a": {b"__ndarray__": True, b"data": b"", b"dtype": "|O", b"shape": [0]}}),
            "type '|O'",
        ),
        (
            msgpack.packb({"a": {b"__ndarray__": True, b"data": b"", b"dtype": "<f4", b"shape": [-1]}}),
            "shape",
        ),
    ],
)
def test_wrong_bytes_are_refused_by_what_is_wrong(data: bytes, words: str) -> None:
    with pytest.raises(BadMessage) as caught:
        unpack(data)
    assert words in str(caught.value)


def test_objects_and_complex_numbers_are_not_sent() -> None:
    for value in (object(), np.array([1j]), np.array([object()])):
        with pytest.raises(BadMessage, match="cannot be"):
            pack({"a": value})


def test_a_policy_is_served_with_its_metadata() -> None:
    policy = FunctionPolicy(lambda seen: np.tile(seen["state"], (4, 1)), {"action_dim": 2})
    with PolicyServer(policy) as server:
        client = PolicyClient(server.address, WAIT_S)
        assert client.metadata() == {"action_dim": 2}
        actions = client.infer({"state": np.array([1.0, 2.0])})["actions"]
        np.testing.assert_array_equal(actions, [[1.0, 2.0]] * 4)
        client.close()


def test_a_fault_of_the_policy_is_its_last_line_and_the_server_lives_on() -> None:
    with PolicyServer(FunctionPolicy(lambda seen: seen["state"][None] * 2.0)) as server:
        client = PolicyClient(server.address, WAIT_S)
        with pytest.raises(ServerFault, match="reports: KeyError: 'state'"):
            client.infer({"stat": np.zeros(2)})
        np.testing.assert_array_equal(client.infer({"state": np.ones(2)})["actions"], [[2.0, 2.0]])
        client.close()


def test_a_server_that_begins_with_a_text_reports_a_fault() -> None:
    with (
        server_that(lambda c: c.send("Traceback\nRuntimeError: no weights")) as address,
        pytest.raises(ServerFault, match="RuntimeError: no weights"),
    ):
        PolicyClient(address, WAIT_S)


def test_a_server_of_another_protocol_is_named() -> None:
    with (
        server_that(lambda c: c.send(b"\x80\x04pickle")) as address,
        pytest.raises(BadMessage, match="another protocol"),
    ):
        PolicyClient(address, WAIT_S)


def test_a_silent_server_is_not_waited_for_longer_than_asked() -> None:
    over = threading.Event()

    def talk(connection: ServerConnection) -> None:
        connection.send(pack({}))
        over.wait(WAIT_S)

    with server_that(talk) as address:
        client = PolicyClient(address, WAIT_S)
        client._timeout_s = 0.05
        with pytest.raises(ServerSilent, match="server_timeout"):
            client.infer({"state": np.zeros(1)})
        # A late answer must not be taken for that of the next observation: the connection is over.
        with pytest.raises(ServerLost):
            client.infer({"state": np.zeros(1)})
        over.set()


def test_no_server_and_a_wrong_address_are_said() -> None:
    free = serve(lambda _c: None, "127.0.0.1", 0)
    port = free.socket.getsockname()[1]
    free.socket.close()
    with pytest.raises(ServerLost, match="no policy server at"):
        PolicyClient(f"ws://127.0.0.1:{port}", WAIT_S)
    with pytest.raises(ServerLost, match="ws://localhost:8000"):
        PolicyClient("http://localhost", WAIT_S)


def test_a_connection_that_ends_is_lost() -> None:
    with server_that(lambda c: c.send(pack({}))) as address:
        client = PolicyClient(address, WAIT_S)
        with pytest.raises(ServerLost, match="closed the connection"):
            client.infer({"state": np.zeros(1)})


def test_the_worker_gives_the_answer_to_the_step_that_asked() -> None:
    go = threading.Event()

    def act(seen: dict[str, Any]) -> Any:
        go.wait(WAIT_S)
        return np.full((1, 1), seen["x"])

    worker = InferenceWorker(FunctionPolicy(act))
    worker.ask(7, {"x": 3.0})
    assert worker.is_busy and worker.take() is None
    with pytest.raises(RuntimeError, match="under way"):
        worker.ask(8, {"x": 4.0})
    go.set()
    answer = worker.take(WAIT_S)
    assert answer is not None and answer.step == 7 and answer.actions is not None
    assert answer.actions["actions"][0, 0] == 3.0 and not worker.is_busy
    worker.close()


def test_a_fault_in_the_worker_is_a_value() -> None:
    worker = InferenceWorker(FunctionPolicy(lambda seen: seen["missing"]))
    worker.ask(0, {})
    answer = worker.take(WAIT_S)
    assert answer is not None and isinstance(answer.fault, PolicyError) and "missing" in str(answer.fault)
    worker.close()
