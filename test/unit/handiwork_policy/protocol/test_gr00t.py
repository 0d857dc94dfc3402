"""The client of GR00T's policy servers against servers that are right, and against those that are not."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgpack
import numpy as np
import pytest
import zmq

from handiwork_policy.protocol.connection import connect_policy
from handiwork_policy.protocol.errors import (
    BadAnswer,
    BadMessage,
    PolicyError,
    ServerFault,
    ServerLost,
    ServerSilent,
)
from handiwork_policy.protocol.gr00t import Gr00tClient

Answer = Callable[[dict[str, Any]], Any]
KEYS = {
    "video": ["front"],
    "state": ["single_arm", "gripper"],
    "action": ["single_arm", "gripper"],
    "language": ["annotation.human.task_description"],
}
OBSERVATION = {
    "front": np.full((4, 6, 3), 7, np.uint8),
    "state.single_arm": np.arange(7, dtype=np.float32),
    "state.gripper": np.array([0.04], np.float32),
    "prompt": "Take the cube.",
}


def array(value: np.ndarray) -> dict[str, Any]:
    written = io.BytesIO()
    np.save(written, value)
    return {"__ndarray_class__": True, "as_npy": written.getvalue()}


def modality(kind: str, steps: list[int]) -> dict[str, Any]:
    config = {"delta_indices": steps, "modality_keys": KEYS[kind], "action_configs": None}
    return {"__ModalityConfig_class__": True, "as_json": config}


def config(**changed: Any) -> dict[str, Any]:
    steps = {kind: list(range(16)) if kind == "action" else [0] for kind in KEYS}
    return {kind: modality(kind, steps[kind]) for kind in KEYS} | changed


def actions(h: int = 16) -> list[Any]:
    arm = np.arange(h * 7, dtype=np.float32).reshape(1, h, 7)
    return [{"gripper": array(np.full((1, h, 1), 0.5, np.float32)), "single_arm": array(arm)}, {}]


class Server:
    """Answers requests by ``answers``, and keeps them."""

    def __init__(self, answers: dict[str, Answer]) -> None:
        self.requests = list[dict[str, Any]]()
        self._answers = {
            "get_modality_config": lambda _data: config(),
            "reset": lambda _data: {},
            "get_action": lambda _data: actions(),
        } | answers
        self._socket = zmq.Context.instance().socket(zmq.REP)
        self._socket.setsockopt(zmq.RCVTIMEO, 20)
        self.address = f"gr00t://127.0.0.1:{self._socket.bind_to_random_port('tcp://127.0.0.1')}"
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while not self._end.is_set():
            try:
                request = msgpack.unpackb(self._socket.recv())
            except zmq.Again:
                continue
            self.requests.append(request)
            answer = self._answers[request["endpoint"]](request.get("data"))
            self._socket.send(answer if isinstance(answer, bytes) else msgpack.packb(answer))
        self._socket.close(0)

    def close(self) -> None:
        self._end.set()
        self._thread.join(60.0)


@contextmanager
def served(timeout_s: float = 30.0, **answers: Answer) -> Iterator[tuple[Server, Gr00tClient]]:
    server = Server(answers)
    try:
        client = connect_policy(server.address, timeout_s)
        assert isinstance(client, Gr00tClient)
        yield server, client
        client.close()
    finally:
        server.close()


def test_an_observation_gets_its_batch_and_time_and_the_actions_are_joined_in_the_servers_order() -> None:
    with served() as (server, client):
        found = client.infer(OBSERVATION)["actions"]
        assert client.metadata() == {f"gr00t_{kind}": keys for kind, keys in KEYS.items()} | {
            "action_horizon": 16
        }
    assert found.shape == (16, 8)
    np.testing.assert_array_equal(found[1], [7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 0.5])
    assert [one["endpoint"] for one in server.requests] == ["get_modality_config", "reset", "get_action"]
    sent = server.requests[-1]["data"]["observation"]
    assert sent["language"] == {"annotation.human.task_description": [["Take the cube."]]}
    shapes = {
        key: np.load(io.BytesIO(value["as_npy"]))
        for kind in ("video", "state")
        for key, value in sent[kind].items()
    }
    assert {key: (value.shape, value.dtype) for key, value in shapes.items()} == {
        "front": ((1, 1, 4, 6, 3), np.uint8),
        "single_arm": ((1, 1, 7), np.float32),
        "gripper": ((1, 1, 1), np.float32),
    }


@pytest.mark.parametrize(
    ("key", "field", "said"),
    [
        ("front", "server", "wants the video 'front'"),
        ("state.gripper", "state_keys", "wants the state 'gripper'"),
    ],
)
def test_what_the_observation_lacks_is_named(key: str, field: str, said: str) -> None:
    with served() as (_, client), pytest.raises(BadAnswer, match=said) as caught:
        client.infer({name: value for name, value in OBSERVATION.items() if name != key})
    assert caught.value.field == field


def test_a_fault_of_the_server_is_its_last_words() -> None:
    with (
        served(get_action=lambda _data: {"error": "Video key 'front' must be a numpy array"}) as (_, client),
        pytest.raises(ServerFault, match="reports: Video key 'front' must be a numpy array; read its log"),
    ):
        client.infer(OBSERVATION)


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (
            [{"single_arm": array(np.zeros((1, 16, 7)))}, {}],
            BadAnswer,
            "action 'gripper' has the shape NoneType",
        ),
        ([{key: array(np.zeros((2, 3))) for key in KEYS["action"]}, {}], BadAnswer, r"the shape \[2, 3\]"),
        ({"status": "ok"}, BadMessage, "in place of actions"),
        (b"\xc1", BadMessage, "speaks another protocol"),
        (
            [{"single_arm": {"__ndarray_class__": True, "as_npy": b"no array"}}, {}],
            BadMessage,
            "another protocol",
        ),
    ],
)
def test_answers_that_do_not_fit_are_refused(answer: Any, kind: type[Exception], said: str) -> None:
    with served(get_action=lambda _data: answer) as (_, client), pytest.raises(kind, match=said):
        client.infer(OBSERVATION)


def test_parts_of_different_length_are_refused() -> None:
    long, short = actions(16)[0], actions(8)[0]
    with (
        served(get_action=lambda _data: [{**long, "gripper": short["gripper"]}, {}]) as (_, client),
        pytest.raises(BadAnswer, match=r"have \[16, 8\] steps"),
    ):
        client.infer(OBSERVATION)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, "without 'video'"),
        ({"status": "ok"}, "'status' without a configuration"),
        (config(video=modality("video", [-15, 0])), r"wants video of the steps \[-15, 0\]"),
    ],
)
def test_a_configuration_that_cannot_be_served_is_refused_before_the_first_observation(
    answer: Any, said: str
) -> None:
    with pytest.raises(PolicyError, match=said), served(get_modality_config=lambda _data: answer):
        pass


def test_a_server_that_is_not_there_is_named_in_time() -> None:
    with pytest.raises(ServerLost, match=r"no server of GR00T at gr00t://127.0.0.1:9 answered.*start it"):
        connect_policy("gr00t://127.0.0.1:9", 0.2)


@pytest.mark.parametrize("address", ["gr00t://", "gr00t://host:none", "gr00t://host:99999"])
def test_an_address_that_is_none_is_named(address: str) -> None:
    with pytest.raises(PolicyError, match="gr00t://localhost:5555"):
        connect_policy(address, 0.2)


def test_a_server_that_does_not_answer_in_time_is_silent() -> None:
    held = threading.Event()
    with served(0.3, get_action=lambda _data: held.wait(3.0)) as (_, client):
        with pytest.raises(ServerSilent, match="check its load"):
            client.infer(OBSERVATION)
        held.set()


def test_a_connection_can_be_closed_by_another_thread_during_a_call() -> None:
    held, faults = threading.Event(), list[Exception]()
    with served(get_action=lambda _data: held.wait(30.0)) as (server, client):

        def ask() -> None:
            try:
                client.infer(OBSERVATION)
            except PolicyError as error:
                faults.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        while not any(one["endpoint"] == "get_action" for one in list(server.requests)):
            threading.Event().wait(0.01)
        client.close()
        asking.join(10.0)
        held.set()
        assert not asking.is_alive()
    assert isinstance(faults[0], ServerLost)
