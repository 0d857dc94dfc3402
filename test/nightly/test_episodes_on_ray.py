"""Episodes on Ray's own cluster of several nodes on one machine, while processes and whole nodes are killed."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_data.dataset.folder import DatasetFolder
from handiwork_data.dataset.generate import Shard, Sources, generate, processes
from handiwork_data.dataset.on_ray import EpisodeMaker, RayRun
from handiwork_data.episodes.episode import EpisodeError, encode
from support.paths import ROBOTS, ROOT
from support.ray_clusters import started_cluster
from support.records.episodes import tiny_episode

pytestmark = pytest.mark.timeout(1800)
ray = pytest.importorskip("ray", reason="ray is missing: install requirements/ray.txt")
SOURCES = Sources(
    ROOT / "config/tasks/tidy_episodes.yaml", ROOT / "config/scenes/tabletop.yaml", ROBOTS / "fr3"
)
EPISODES = 60
KILL_EVERY = 6
"""Number of episodes between two kills."""
EPISODE_S = 0.3


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    made = started_cluster()
    yield made
    ray.shutdown()
    made.shutdown()


def lone_maker(data: dict[int, bytes], pids: Path) -> type[EpisodeMaker]:
    """Return what makes given bytes, and says which process it is. It is local, so that Ray sends it as it is."""
    wait_s = EPISODE_S

    class GivenMaker(EpisodeMaker):
        def prepare(self) -> int:
            (pids / str(os.getpid())).touch()
            return os.getpid()

        def make(self, item: int) -> tuple[int, bytes, float]:
            Event().wait(wait_s)
            return item, data[item], wait_s

    return GivenMaker


def kill_a_process(pids: Path, rng: np.random.Generator) -> bool:
    """Kill one of the processes that said who they are; return False if none is left."""
    known = sorted(pids.iterdir())
    if not known:
        return False
    path = known[int(rng.integers(len(known)))]
    path.unlink()
    try:
        os.kill(int(path.name), signal.SIGKILL)
    except ProcessLookupError:
        return kill_a_process(pids, rng)  # its node was killed before
    return True


def test_killed_processes_and_nodes_lose_and_double_nothing(cluster: Any, tmp_path: Path) -> None:
    pids, seed = tmp_path / "pids", time.time_ns() % 10**6
    rng, folder = np.random.default_rng(seed), DatasetFolder(tmp_path / "set")
    pids.mkdir()
    data = {number: encode(tiny_episode(number)) for number in range(EPISODES)}
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    run = RayRun(cluster.address, 0, lone_maker(data, pids))
    seen, killed = [], {"process": 0, "node": 0}
    for row in generate(SOURCES, folder, range(EPISODES), Shard(), run):
        seen.append(row.episode)
        if len(seen) % KILL_EVERY or len(seen) == EPISODES:
            continue
        if rng.random() < 0.5:
            killed["process"] += kill_a_process(pids, rng)
        else:
            cluster.remove_node(nodes.pop(int(rng.integers(len(nodes)))), allow_graceful=False)
            nodes.append(cluster.add_node(num_cpus=1))
            killed["node"] += 1
    assert sum(killed.values()) >= EPISODES // KILL_EVERY - 2, killed
    assert sorted(seen) == list(range(EPISODES)), seed
    assert {number: folder.file_of(number).read_bytes() for number in folder.episodes()} == data
    (index,) = folder.path.glob("index-*.jsonl")
    lines = [json.loads(line)["episode"] for line in index.read_text().splitlines()]
    assert sorted(lines) == list(range(EPISODES))
    assert not list(folder.path.rglob("*.part"))
    assert list(generate(SOURCES, folder, range(EPISODES), Shard(), run)) == []


def test_an_episode_that_ends_every_process_stops_the_run_in_words(cluster: Any, tmp_path: Path) -> None:
    class EndingMaker(EpisodeMaker):
        def prepare(self) -> int:
            return os.getpid()

        def make(self, item: int) -> tuple[int, bytes, float]:
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError

    run = RayRun(cluster.address, 1, EndingMaker)
    with pytest.raises(EpisodeError, match=r"5 processes ended while episode \d was at work"):
        list(generate(SOURCES, DatasetFolder(tmp_path), range(3), Shard(), run))


def test_a_machine_with_other_files_is_named(cluster: Any, tmp_path: Path) -> None:
    class OtherMaker(EpisodeMaker):
        def prepare(self) -> int:
            import dataclasses

            self._wanted = dataclasses.replace(self._wanted, version="9.9")
            return super().prepare()

    run = RayRun(cluster.address, 1, OtherMaker)
    with pytest.raises(
        ConfigError, match=r"version is '9.9' there and .* install the same version and files"
    ):
        list(generate(SOURCES, DatasetFolder(tmp_path), range(3), Shard(), run))


def test_the_bytes_are_those_of_one_process(cluster: Any, tmp_path: Path) -> None:
    cluster.add_node(num_cpus=1)
    alone, spread = DatasetFolder(tmp_path / "alone"), DatasetFolder(tmp_path / "spread")
    list(generate(SOURCES, alone, range(4), Shard(), processes(1)))
    list(generate(SOURCES, spread, range(4), Shard(), RayRun(cluster.address, 0)))
    for number in range(4):
        assert alone.file_of(number).read_bytes() == spread.file_of(number).read_bytes(), number


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("127.0.0.1:1", r"no Ray cluster 127.0.0.1:1: .* start one, or check --address"),
        ("ray://127.0.0.1:1", r"no Ray cluster ray://127.0.0.1:1: .* start one, or check --address"),
        ("127.0.0.1", "--address is '127.0.0.1'; give HOST:PORT, ray://HOST:PORT or auto"),
        ("head:port", "--address is 'head:port'; give HOST:PORT"),
    ],
)
def test_a_cluster_that_is_not_there_is_one_sentence(tmp_path: Path, address: str, words: str) -> None:
    with pytest.raises(EpisodeError, match=words):
        list(generate(SOURCES, DatasetFolder(tmp_path), range(2), Shard(), RayRun(address, 1)))
