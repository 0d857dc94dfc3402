"""Evaluations of a policy server in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.dataset.generate import Shard, Sources
from handiwork_data.evaluation.folder import EvaluationAbout, ResultFolder
from handiwork_data.evaluation.rows import EpisodeRow
from handiwork_data.evaluation.run import EvaluationOrder, connect, evaluate, processes
from handiwork_policy.protocol.errors import BadAnswer, PolicyError, ServerLost
from handiwork_policy.protocol.server import FunctionPolicy, PolicyServer
from support.paths import ROOT
from support.records.short_task import AT_ONCE, short_task

ABOUT = {"name": "stay", "action_dim": 7}
SETTINGS = {"gripper": "none", "execute_steps": 8}
Act = Callable[[dict[str, Any]], Any]


def stay(observation: dict[str, Any]) -> Any:
    return np.repeat([observation["observation/state"][:7]], 8, axis=0)


def turn(observation: dict[str, Any]) -> Any:
    return stay(observation) + np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture
def serve() -> Iterator[Callable[..., PolicyServer]]:
    servers = list[PolicyServer]()

    def start(act: Act = stay, about: dict[str, Any] = ABOUT) -> PolicyServer:
        servers.append(PolicyServer(FunctionPolicy(act, about)).start())
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def order(address: str, out: Path, *tasks: Path, films: bool = False, **changes: Any) -> EvaluationOrder:
    about = EvaluationAbout("stay", ABOUT, {**SETTINGS, **changes}, "", 0, "0.1.0")
    scene, robot = ROOT / "config/scenes/tabletop.yaml", ROOT / "src/robot_description/robots/fr3"
    return EvaluationOrder(
        address, about, {task.stem: Sources(task, scene, robot) for task in tasks}, out, films
    )


def run(wanted: EvaluationOrder, *numbers: int, shard: Shard | None = None) -> list[EpisodeRow]:
    return list(evaluate(wanted, numbers, shard or Shard(), processes(1)))


def test_episodes_of_several_tasks_are_run_and_judged(
    tmp_path: Path, serve: Callable[..., PolicyServer]
) -> None:
    tasks = short_task(tmp_path), short_task(tmp_path, "done", AT_ONCE)
    wanted = order(serve().address, tmp_path / "out", *tasks)
    rows = run(wanted, 0, 1)
    assert [(row.env_name, row.episode, row.success) for row in rows] == [
        ("short", 0, False), ("short", 1, False), ("done", 0, True), ("done", 1, True),
    ]  # fmt: skip
    failed, good = rows[0], rows[2]
    assert failed.end == "time_over" and failed.duration == pytest.approx(1.0, abs=0.1)
    assert failed.instruction == "Take the cube." and failed.dt == 0.04
    assert [one.first_true_s for one in failed.subtasks] == [None] and failed.score == 0.0
    assert good.end == "success" and good.score == 1.0 and good.success_confirmed_s is not None
    assert len(failed.inference_ms) == failed.chunks and min(failed.inference_ms) > 0.0
    assert failed.metrics["ee_path_length"] < 0.01
    folder = ResultFolder(tmp_path / "out")
    assert folder.tasks() == ["done", "short"] and list(folder.rows("short").values()) == rows[:2]


def test_what_is_there_is_skipped_and_the_same_seed_begins_alike(
    tmp_path: Path, serve: Callable[..., PolicyServer]
) -> None:
    firsts = list[Any]()

    def act(observation: dict[str, Any]) -> Any:
        firsts.append(observation["observation/state"])
        return turn(observation)

    task, address = short_task(tmp_path), serve(act).address
    state = ["joint_position", "object_pose(cube)"]
    rows = run(order(address, tmp_path / "a", task, state=state), 0, 1)
    steps = rows[0].chunks
    assert run(order(address, tmp_path / "a", task, state=state), 0, 1) == []
    again = run(order(address, tmp_path / "b", task, state=state), 1, 0)
    assert [row.episode for row in again] == [1, 0]
    assert np.array_equal(firsts[0], firsts[2 * steps + again[0].chunks])
    assert not np.array_equal(firsts[0], firsts[steps]), "another number is another episode"
    assert again[1].metrics == rows[0].metrics and again[1].verdict == rows[0].verdict


def test_shards_share_a_folder(tmp_path: Path, serve: Callable[..., PolicyServer]) -> None:
    task = short_task(tmp_path, "done", AT_ONCE)
    wanted = order(serve().address, tmp_path / "out", task)
    for number in (1, 0):
        shard = Shard(number, 2)
        run(wanted, *shard.part(0, 3), shard=shard)
    assert list(ResultFolder(tmp_path / "out").rows("done")) == [0, 1, 2]
    assert run(wanted, 0, 1, 2) == []


def test_an_episode_that_the_server_leaves_does_not_count(
    tmp_path: Path, serve: Callable[..., PolicyServer]
) -> None:
    asked = threading.Event()

    def act(observation: dict[str, Any]) -> Any:
        asked.set()
        return stay(observation)

    class Leaving(PolicyServer):
        def _answer(self, data: str | bytes) -> str | bytes:
            if asked.is_set():
                raise ConnectionResetError
            return super()._answer(data)

    server = Leaving(FunctionPolicy(act, ABOUT)).start()
    wanted = order(server.address, tmp_path / "out", short_task(tmp_path))
    try:
        with pytest.raises(ServerLost, match="closed the connection"):
            run(wanted, 0, 1)
    finally:
        server.close()
    assert ResultFolder(tmp_path / "out").rows("short") == {}
    good = order(serve().address, tmp_path / "out", short_task(tmp_path))
    assert [row.episode for row in run(good, 0)] == [0]


def test_a_policy_that_fails_within_an_episode_has_failed_it(
    tmp_path: Path, serve: Callable[..., PolicyServer]
) -> None:
    asked = list[int]()

    def act(observation: dict[str, Any]) -> Any:
        asked.append(1)
        if len(asked) == 2:
            raise RuntimeError("the weights are gone")
        return stay(observation)

    rows = run(order(serve(act).address, tmp_path / "out", short_task(tmp_path)), 0, 1)
    assert [row.end for row in rows] == ["server_fault", "time_over"]
    assert "the weights are gone" in rows[0].reason and not rows[0].success


def test_other_metadata_than_at_the_beginning_end_the_evaluation(
    tmp_path: Path, serve: Callable[..., PolicyServer]
) -> None:
    other = serve(stay, {"name": "stay", "action_dim": 7, "checkpoint": "b"})
    with pytest.raises(
        BadAnswer, match="has other metadata than at the beginning: 'checkpoint' is 'b', was None"
    ):
        run(order(other.address, tmp_path / "out", short_task(tmp_path)), 0)


def test_a_policy_that_does_not_fit_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    task = short_task(tmp_path)
    with pytest.raises(BadAnswer, match="the server's action_dim is 7, but the goal asks for 8"):
        run(order("ws://127.0.0.1:1", tmp_path / "out", task, gripper="width"), 0)
    with pytest.raises(ConfigError, match="rates: unknown key"):
        run(order("ws://127.0.0.1:1", tmp_path / "out", task, rates=3), 0)
    assert not (tmp_path / "out").exists()


def test_a_wrong_answer_at_the_beginning_ends_the_evaluation(
    tmp_path: Path, serve: Callable[..., PolicyServer]
) -> None:
    server = serve(lambda _o: np.zeros((8, 6)), ABOUT)
    with pytest.raises(PolicyError, match=r"actions has the shape \[8, 6\]"):
        run(order(server.address, tmp_path / "out", short_task(tmp_path)), 0)
    assert ResultFolder(tmp_path / "out").rows("short") == {}


def test_recordings_of_failures_are_kept_where_films_are_wanted(
    tmp_path: Path, serve: Callable[..., PolicyServer]
) -> None:
    tasks = short_task(tmp_path), short_task(tmp_path, "done", AT_ONCE)
    run(order(serve().address, tmp_path / "out", *tasks, films=True), 0)
    folder = ResultFolder(tmp_path / "out")
    assert folder.task("short").episodes() == [0] and folder.task("done").episodes() == []
    kept = folder.task("short").read(0)
    assert not kept.meta.success and kept.meta.code == "TIME_OVER"


def test_metadata_are_read_as_json_holds_them(serve: Callable[..., PolicyServer]) -> None:
    assert connect(serve(stay, {"scale": np.ones(2)}).address, 5.0) == {"scale": [1.0, 1.0]}
    with pytest.raises(ServerLost, match=r"no policy server at ws://127\.0\.0\.1:1"):
        connect("ws://127.0.0.1:1", 5.0)
