"""SIGKILL of required nodes: the goal ends, and so do all started processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from handiwork_cli.launch_files.evaluation import plan_processes
from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.processes.process_runner import ProcessRunner
from handiwork_cli.stack.stack import NODES
from handiwork_core.model.outcome import Code
from handiwork_ros.clients.skill_client import GoalHandle, SkillClient, SkillReport
from support.stack.rig import SLOW, JointRecord, end_in_time, send_until, wait_for
from support.stack.started import Started, is_running, launched

WORLD_TIMEOUT_S = 2.5
"""More than the skill server's parameter world_timeout_s."""


def wait_active(client: SkillClient) -> dict[str, int]:
    """Return the process ids of all nodes, once all are active."""
    wait_for("all nodes active", lambda: all(client.signs.is_active(n) for n in NODES), 120.0)
    assert client.wait_ready(30.0)
    return {name: pid for name in NODES if (pid := client.signs.pid(name)) is not None}


def send_moving(client: SkillClient) -> GoalHandle[SkillReport]:
    """Send a goal and wait until its arm moves."""
    joints = JointRecord(client.node)
    run = send_until(client.send, SLOW, "approach")
    joints.next()
    joints.wait_moving(0.05)
    return run


@contextmanager
def launched_stack(folder: Path) -> Iterator[tuple[Started, SkillClient, dict[str, int]]]:
    with launched(folder / "launch.log", {}) as started, SkillClient() as client:
        yield started, client, wait_active(client)


@contextmanager
def unguarded_stack() -> Iterator[tuple[SkillClient, dict[str, int]]]:
    """Start the same processes, but so that the end of one does not end the others."""
    path = share_of("handiwork_bringup") / "launch/bringup.launch.xml"
    specs = [replace(spec, required=False, respawn=False) for spec in plan_processes(path, {})]
    runner = ProcessRunner(specs)
    thread = threading.Thread(target=runner.run, name="processes")
    thread.start()
    try:
        with SkillClient() as client:
            yield client, wait_active(client)
    finally:
        runner.request_stop()
        thread.join()


@pytest.mark.usefixtures("nothing_left_over")
@pytest.mark.parametrize("node", ["robot_description", "sim_bridge"])
def test_end_of_a_required_node_ends_everything(tmp_path: Path, node: str) -> None:
    with launched_stack(tmp_path) as (started, client, pids):
        children = started.children()
        assert set(pids.values()) <= children
        run = send_moving(client)
        os.kill(pids[node], signal.SIGKILL)
        end_in_time(run, time.monotonic())
        assert started.exit_code() != 0
        assert f"[{node}] ended (killed by SIGKILL); it is required" in started.output
        wait_for("the end of all processes", lambda: not any(map(is_running, children)))


@pytest.mark.usefixtures("nothing_left_over")
def test_lost_simulation_is_a_lost_robot() -> None:
    with unguarded_stack() as (client, pids):
        run = send_moving(client)
        os.kill(pids["sim_bridge"], signal.SIGKILL)
        killed_s = time.monotonic()
        outcome = end_in_time(run, killed_s)
        assert outcome.code is Code.ROBOT_LOST, outcome
        assert "joint_states" in outcome.message
        wait_for("a silence that refuses goals", lambda: time.monotonic() - killed_s > WORLD_TIMEOUT_S)
        again = client.pick("cube", timeout_s=60.0).outcome
        assert again.code is Code.ROBOT_LOST, again
        assert all(client.signs.is_active(name) for name in ("skill_server", "planner_node"))
