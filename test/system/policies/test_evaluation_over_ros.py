"""``handiwork evaluate --on ros`` in a running stack."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from handiwork_cli.cli import main
from handiwork_cli.processes.interrupts import INTERRUPTED
from handiwork_core.model.geometry import Array
from handiwork_data.evaluation.folder import read_folder
from handiwork_data.evaluation.rows import EpisodeRow
from handiwork_policy.protocol.server import FunctionPolicy, PolicyServer
from handiwork_policy.verdicts import result as ends
from handiwork_ros.clients.goal_handle import GoalHandle
from support.stack.rig import Rig

LAUNCH_ARGUMENTS = {"real_time_factor": "1"}
TASK = {"success": "not gripper_open()", "conditions": ["gripper_open()"], "limit_s": 100}
SETTINGS = {"state": ["joint_position"], "guard": {"velocity_scaling": 0.3}}
TURN_RAD, HAND_M = 0.3, 0.3
"""The first joint turns by this, and at home the hand is farther than this from its axis."""
MOVED_S = 60.0


def turn_and_close(observation: dict[str, Any]) -> Array:
    """Turn the first joint, then close the fingers: a policy that touches nothing."""
    q = np.asarray(observation["observation/state"], dtype=np.float64)
    is_there = q[0] > TURN_RAD
    rows = np.repeat([[*q, 0.0 if is_there else 0.08]], 8, axis=0)
    rows[:, 0] += (not is_there) * 0.03 * np.arange(1, 9)
    return rows


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a policy that turns the arm and closes its hand."""
    with PolicyServer(FunctionPolicy(turn_and_close)) as made:
        yield made.address


@pytest.fixture
def evaluate(tmp_path: Path, server: str) -> Any:
    """Runs the command with a task and an output folder."""
    settings = tmp_path / "settings.yaml"
    settings.write_text(yaml.safe_dump(SETTINGS))

    def run(*words: str, **keys: Any) -> int:
        task = tmp_path / "grasp.yaml"
        task.write_text(yaml.safe_dump({"name": "grasp", "episodes": {**TASK, **keys}}))
        out = str(tmp_path / "out")
        given = ["--policy", server, "--settings", str(settings), "--out", out]
        return main(["evaluate", str(task), *given, *words])

    return run


def rows_of(folder: Path) -> list[EpisodeRow]:
    results, about = read_folder(folder)
    assert about.over_ros
    (name,) = results.tasks()
    return list(results.rows(name).values())


def test_episodes_are_run_judged_and_kept(
    rig: Rig, evaluate: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("--episodes", "3:5", "--on", "ros") == 0
    rows = rows_of(tmp_path / "out")
    assert [row.episode for row in rows] == [3, 4]
    for row in rows:
        assert row.success and row.end == ends.SUCCESS, row.reason
        assert row.subtasks[0].condition.startswith("gripper_open")
        assert TURN_RAD * HAND_M < row.metrics["ee_path_length"] < 2.0
        assert len(row.inference_ms) >= row.chunks > 0
    rig.joints.assert_rests()
    assert evaluate("--episodes", "3:5", "--on", "ros") == 0
    assert len(rows_of(tmp_path / "out")) == 2, "what is there is skipped"
    assert evaluate("--episodes", "3:5") != 0
    assert "over_ros is True there and False here; give another --out" in capsys.readouterr().err


def test_a_stack_with_another_scene_is_named(
    rig: Rig, evaluate: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("--episodes", "1", "--on", "ros", scene="drawer") != 0
    start = "start it with 'handiwork launch launch/bringup.launch.xml robot:=fr3 scene:=drawer'"
    assert f"which the running stack has not; {start}" in capsys.readouterr().err


def test_an_interrupted_evaluation_cancels_its_goal(
    rig: Rig, evaluate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    handles = list[GoalHandle[Any]]()

    def interrupted(handle: GoalHandle[Any], timeout_s: float) -> None:
        handles.append(handle)
        rig.joints.wait_moving(timeout_s=MOVED_S)
        raise KeyboardInterrupt

    monkeypatch.setattr(GoalHandle, "result", interrupted)
    assert evaluate("--episodes", "1", "--on", "ros") == INTERRUPTED
    monkeypatch.undo()
    assert handles[0].done
    rig.joints.assert_rests()
    assert rig.client.run("home").ok
