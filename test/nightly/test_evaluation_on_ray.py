"""Evaluations on Ray's own cluster on one machine, while a process is killed; they give the rows of one process."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handiwork_data.dataset.generate import Shard, Sources
from handiwork_data.episodes.episode import decode
from handiwork_data.evaluation.folder import EvaluationAbout, ResultFolder
from handiwork_data.evaluation.on_ray import EvaluationMaker, RayEvaluation
from handiwork_data.evaluation.rows import EpisodeRow
from handiwork_data.evaluation.run import EvaluationOrder, evaluate, processes
from handiwork_policy.protocol.errors import PolicyError
from handiwork_policy.protocol.server import FunctionPolicy, PolicyServer
from support.paths import ROBOTS, ROOT
from support.ray_clusters import started_cluster
from support.records.short_task import AT_ONCE, short_task

pytestmark = pytest.mark.timeout(1800)
ray = pytest.importorskip("ray", reason="ray is missing: install requirements/ray.txt")
ABOUT = {"name": "turn", "action_dim": 7}
NUMBERS = range(6)


def turn(observation: dict[str, Any]) -> Any:
    step = np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    return np.repeat([observation["observation/state"][:7]], 8, axis=0) + step


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    made = started_cluster()
    yield made
    made.shutdown()


@pytest.fixture
def server() -> Iterator[PolicyServer]:
    made = PolicyServer(FunctionPolicy(turn, ABOUT)).start()
    yield made
    made.close()


@pytest.fixture
def order(tmp_path: Path, server: PolicyServer) -> EvaluationOrder:
    about = EvaluationAbout(
        "turn", ABOUT, {"gripper": "none", "execute_steps": 8, "state": ["joint_position"]}, "", 0, "0.1.0"
    )
    scene = ROOT / "config/scenes/tabletop.yaml"
    files = (short_task(tmp_path), short_task(tmp_path, "done", AT_ONCE))
    tasks = {file.stem: Sources(file, scene, ROBOTS / "fr3") for file in files}
    return EvaluationOrder(server.address, about, tasks, tmp_path / "spread", keeps_failures=True)


def same(row: EpisodeRow) -> EpisodeRow:
    """Return a row without its times of the clock."""
    return replace(row, inference_ms=(), wall_s=0.0)


def test_rows_and_recordings_are_those_of_one_process_though_a_process_is_killed(
    cluster: Any, order: EvaluationOrder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()
    prepare = EvaluationMaker.prepare

    class Named(EvaluationMaker):
        def prepare(self) -> None:
            (pids / str(os.getpid())).touch()
            prepare(self)

    monkeypatch.setattr("handiwork_data.evaluation.on_ray.EvaluationMaker", Named)
    rows, is_killed = list[EpisodeRow](), False
    for row in evaluate(order, NUMBERS, Shard(), RayEvaluation(cluster.address, 1)):
        rows.append(row)
        if not is_killed:
            os.kill(int(next(pids.iterdir()).name), signal.SIGKILL)
            is_killed = True
    alone = replace(order, folder=tmp_path / "alone")
    wanted = list(evaluate(alone, NUMBERS, Shard(), processes(1)))
    place = lambda row: (row.env_name, row.episode)  # noqa: E731
    assert [same(row) for row in sorted(rows, key=place)] == [same(row) for row in sorted(wanted, key=place)]
    assert len(list(pids.iterdir())) == 2, "the killed process was replaced"
    for name in order.tasks:
        there, here = (ResultFolder(one.folder).task(name) for one in (order, alone))
        assert there.episodes() == here.episodes()
        for number in there.episodes():
            decode(there.file_of(number).read_bytes(), "there")
    assert ResultFolder(order.folder).task("short").episodes(), "failures were kept"
    assert list(evaluate(order, NUMBERS, Shard(), RayEvaluation(cluster.address, 2))) == []


def test_a_machine_that_does_not_reach_the_server_is_named(cluster: Any, order: EvaluationOrder) -> None:
    gone = replace(order, address="ws://127.0.0.1:1")
    with pytest.raises(PolicyError, match=r"machine .*127\.0\.0\.1:1.*an address that every machine reaches"):
        list(evaluate(gone, NUMBERS, Shard(), RayEvaluation(cluster.address, 1)))
