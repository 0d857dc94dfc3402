"""A second stack or node, or a request that asks too much, disturbs no running stack, and it serves again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from handiwork_cli.chaos.ros.intrusions import Intrusions
from handiwork_cli.chaos.trials import Fault, FaultKind
from handiwork_cli.launch_files.evaluation import plan_processes
from handiwork_cli.launch_files.package_paths import share_of
from handiwork_cli.stack.demo_cells import robot_of, target_of
from handiwork_core.model.outcome import Code
from handiwork_ros.node.unique_name import NameTakenError
from support.stack.rig import SLOW, Rig

END_S = 120.0
"""The longest wait for a process that ends after a second or two on an idle machine."""
REFUSED = 2
"""The exit code of a refused launch."""
TARGET = target_of(robot_of("fr3"), "")


def ended(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=END_S, check=False)


def test_a_second_skill_server_is_refused_while_the_first_moves_the_arm(rig: Rig) -> None:
    path = share_of("handiwork_bringup") / "launch/bringup.launch.xml"
    command = next(spec.command for spec in plan_processes(path, {}) if spec.label == "skill_server")
    run = rig.send_until(SLOW, "approach")
    rig.joints.wait_moving(0.05)
    second = ended(list(command))
    assert second.returncode == NameTakenError.exit_code, second.stderr
    assert f"pid {rig.client.signs.pid('skill_server')} on" in second.stderr
    report = run.result()
    assert report.ok, report.outcome


def test_a_second_launch_is_refused_with_the_pid_of_the_first(rig: Rig) -> None:
    command = str(Path(sys.executable).parent / "handiwork")
    second = ended([command, "launch", "handiwork_bringup", "bringup.launch.xml"])
    assert second.returncode == REFUSED
    assert f"the pid {os.getpid()}" in second.stderr
    assert not second.stdout
    assert rig.client.pick("cube").ok


@pytest.mark.parametrize(
    "fault",
    [
        Fault(FaultKind.COSTLY_FILTER, "", 0.0, 0.0),
        Fault(FaultKind.ENDLESS_FILE, "", 0.0, 0.0),
        Fault(FaultKind.DEACTIVATE, "skill_server", 0.0, 0.2),
        Fault(FaultKind.EMERGENCY_STOP, "", 0.0, 0.2),
        Fault(FaultKind.SECOND_NODE, "sim_bridge", 0.0, 0.0),
        Fault(FaultKind.WALL, "", 0.0, 0.2),
    ],
    ids=lambda fault: fault.kind.value,
)
def test_the_stack_withstands_a_fault_of_chaos_and_serves_again(rig: Rig, fault: Fault) -> None:
    Intrusions(rig.stack, TARGET).run(fault)
    outcome = rig.client.pick("no_such_object").outcome
    assert outcome.code is Code.UNKNOWN_OBJECT, outcome


def test_an_emergency_stop_of_chaos_ends_the_goal_that_moves(rig: Rig) -> None:
    run = rig.send_until(SLOW, "approach")
    rig.joints.wait_moving(0.05)
    Intrusions(rig.stack, TARGET).run(Fault(FaultKind.EMERGENCY_STOP, "", 0.0, 0.2))
    assert run.result().outcome.code is Code.EMERGENCY_STOP
    assert rig.client.pick("cube").ok
