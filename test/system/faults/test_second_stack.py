"""A second stack in the domain of a running one does not start, and disturbs no goal of the first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from handiwork_cli.launch_files.evaluation import plan_processes
from handiwork_cli.launch_files.package_paths import share_of
from handiwork_ros.node.unique_name import NameTakenError
from support.stack.rig import SLOW, Rig

END_S = 120.0
"""The longest wait for a process that ends after a second or two on an idle machine."""
REFUSED = 2
"""The exit code of a refused launch."""


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
