"""The benchmark for vla-eval, run by its own command against a stub model server."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from handiwork_core.config.dataclass_loader import ConfigError
from support.paths import ROOT
from support.records.short_task import AT_ONCE, short_task

pytest.importorskip("vla_eval", reason="vla-eval is missing: install requirements/vla-eval.txt")

from handiwork_cli.harness.vla_eval_benchmark import HandiworkBenchmark
from support.records.vla_model_server import PICTURE, SHAPE

SETTINGS = {"gripper": "none", "state": ["joint_position"]}
CLASS = "handiwork_cli.harness.vla_eval_benchmark:HandiworkBenchmark"
COMMAND = [sys.executable, "-c", "from vla_eval.cli.main import main; main()"]
WAIT_S = 120.0


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "test"), *sys.path]), "NO_COLOR": "1"}


@pytest.fixture
def server() -> Iterator[str]:
    yield from served()


@pytest.fixture
def server_of_pictures() -> Iterator[str]:
    yield from served(PICTURE)


def served(*words: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = (sys.executable, "-m", "support.records.vla_model_server", str(port), *words)
    made = subprocess.Popen(words, env=environment(), stderr=subprocess.DEVNULL)
    waiting = threading.Event()
    for _ in range(int(WAIT_S / 0.2)):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5.0).close()
            break
        except OSError:
            assert made.poll() is None, "the model server has ended"
            waiting.wait(0.2)
    yield f"ws://127.0.0.1:{port}"
    made.kill()
    made.wait()


def config(folder: Path, address: str, settings: dict[str, Any] = SETTINGS, **entry: Any) -> Path:
    scene = "cameras" if "cameras" in settings else "tabletop"
    tasks = [str(short_task(folder, scene=scene)), str(short_task(folder, "done", AT_ONCE, scene=scene))]
    benchmark = {"benchmark": CLASS, "params": {"tasks": tasks, "settings": settings}, **entry}
    path = folder / "config.yaml"
    whole = {"server": {"url": address}, "output_dir": str(folder / "out"), "benchmarks": [benchmark]}
    path.write_text(yaml.safe_dump(whole), encoding="utf-8")
    return path


def run(*words: object) -> None:
    done = subprocess.run(
        [*COMMAND, *map(str, words)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def results(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the episodes by the last part of their task's name."""
    files = sorted((folder / "out").glob("*.json"))
    found = [json.loads(path.read_text()) for path in files]
    tasks = [task for one in found for task in one.get("tasks", [])]
    return {task["task"].rpartition("-")[2]: task["episodes"] for task in tasks}


@pytest.mark.slow
@pytest.mark.processes
def test_episodes_are_run_and_judged_by_the_monitor(tmp_path: Path, server: str) -> None:
    run("run", "--no-docker", "--config", config(tmp_path, server, episodes_per_task=2))
    found = results(tmp_path)
    assert {name: [one["metrics"]["success"] for one in rows] for name, rows in found.items()} == {
        "short": [False, False],
        "done": [True, True],
    }
    failed = found["short"][0]
    assert failed["metrics"]["end"] == "time_over" and failed["steps"] == pytest.approx(26, abs=2)


@pytest.mark.slow
@pytest.mark.processes
def test_a_model_gets_pictures(tmp_path: Path, server_of_pictures: str) -> None:
    height, width, _ = SHAPE
    settings = {**SETTINGS, "cameras": [{"key": PICTURE, "width": width, "height": height}], "rate_hz": 5.0}
    path = config(tmp_path, server_of_pictures, settings, episodes_per_task=1)
    run("run", "--no-docker", "--config", path)
    (failed,) = results(tmp_path)["short"]
    assert failed["metrics"]["end"] == "time_over", "a model that misses its picture ends the episode at once"
    assert failed["steps"] >= 5


@pytest.mark.slow
@pytest.mark.processes
def test_shards_share_the_episodes_and_live_mode_goes_on_without_answers(tmp_path: Path, server: str) -> None:
    live = {"mode": "live", "hz": 25.0, "paced": False, "episodes_per_task": 1}
    path = config(tmp_path, server, **live)
    for shard in range(2):
        run(
            "run", "--no-docker", "--config", path, "--shard-id", shard, "--num-shards", 2, "--eval-id", "all"
        )
    run("export", tmp_path / "out" / "recording-all.sqlite")
    found = results(tmp_path)
    assert {name: [one["metrics"]["success"] for one in rows] for name, rows in found.items()} == {
        "short": [False],
        "done": [True],
    }


def test_an_arm_without_a_new_action_stays(tmp_path: Path) -> None:
    made = HandiworkBenchmark([str(short_task(tmp_path))], SETTINGS)
    home = made.get_hold_action(None)["actions"]
    assert home.shape == (7,) and home[3] == pytest.approx(-2.356)
    last = np.arange(7.0)
    assert np.array_equal(made.get_hold_action({"actions": [last]})["actions"], last)
    delta = HandiworkBenchmark(
        [str(short_task(tmp_path))], {"action_space": "ee_delta", "gripper": "closed_share"}
    )
    assert delta.get_hold_action(None)["actions"].tolist() == [0.0] * 7
    assert delta.get_hold_action({"actions": np.ones(7)})["actions"].tolist() == [0.0] * 6 + [1.0]
    assert made.get_metadata()["max_steps"] == 27


def test_bad_parameters_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="tasks: are missing"):
        HandiworkBenchmark([])
    with pytest.raises(ConfigError, match="until: is decided by the task"):
        HandiworkBenchmark([str(short_task(tmp_path))], {"until": "x"})
    with pytest.raises(ConfigError, match="cannot be read"):
        HandiworkBenchmark(["nowhere.yaml"])
