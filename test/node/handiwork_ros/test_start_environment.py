"""Processes with a read-only HOME, or a used port of the domain, print a sentence and no traceback."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from handiwork_cli.processes.refusals import MOST_REFUSALS
from handiwork_core.process.dds_ports import discovery_port
from handiwork_ros.node.start_wait import OthersMissingError
from handiwork_ros.node.unique_name import NameTakenError
from support.paths import ROBOTS

BIN = Path(sys.executable).parent
FR3 = ROBOTS / "fr3"
NODE = [str(BIN / "robot_description"), "--ros-args", "-p", f"robot_dir:={FR3}"]
LIMIT_S = 60.0
TAKEN_DOMAIN = "229"
READ_ONLY = """
set -e
mount -o remount,ro,bind /
for folder in /tmp /var/tmp /dev/shm /run; do mount --bind $folder $folder; mount -o remount,ro,bind $folder; done
exec "$@"
"""


def start(command: list[str], **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def output_until(process: subprocess.Popen[str], word: str) -> str:
    """Read until a line has the word, end the process, and return all that it wrote."""
    timer = threading.Timer(LIMIT_S, process.kill)
    timer.start()
    lines = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if word in line:
            os.killpg(process.pid, signal.SIGTERM)
    process.wait()
    timer.cancel()
    return "".join(lines)


@pytest.mark.usefixtures("nothing_left_over")
def test_a_node_starts_with_a_read_only_home_and_says_where_its_logs_are(tmp_path: Path) -> None:
    process = start(NODE, HOME="/dev/null/home", HANDIWORK_CACHE_DIR=str(tmp_path), ROS_LOG_DIR="")
    text = output_until(process, "reading the robot")
    assert process.returncode == 0, text
    assert "Traceback" not in text
    assert text.count("is read-only: logs are written to") == 1
    assert list((tmp_path / "handiwork" / "log").iterdir())


@pytest.mark.usefixtures("nothing_left_over")
def test_a_node_starts_where_nothing_at_all_is_writable() -> None:
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-m", "true"], capture_output=True).returncode:
        pytest.skip("needs the right to make a mount namespace")
    process = start([unshare, "-m", "sh", "-c", READ_ONLY, "sh", *NODE])
    text = output_until(process, "reading the robot")
    assert process.returncode == 0, text
    assert "Traceback" not in text
    assert "so is every other folder: no log files" in text


def test_a_taken_discovery_port_ends_a_node_and_a_command_with_a_sentence() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("", discovery_port(int(TAKEN_DOMAIN))))
        for command, code in ((NODE, NameTakenError.exit_code), ([str(BIN / "handiwork"), "status"], 2)):
            process = start(command, ROS_DOMAIN_ID=TAKEN_DOMAIN)
            text, _ = process.communicate(timeout=LIMIT_S)
            assert process.returncode == code, text
            assert f"UDP port {discovery_port(int(TAKEN_DOMAIN))}" in text
            assert "Traceback" not in text


def test_a_server_that_waits_too_long_ends_with_a_sentence_so_that_it_is_started_again() -> None:
    words = ["--ros-args", "-p", f"robot_dir:={FR3}", "-p", "start_timeout_s:=1.0"]
    process = start([str(BIN / "skill_server"), *words])
    text, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == OthersMissingError.exit_code, text
    assert process.returncode not in MOST_REFUSALS
    assert "joint_states, world/objects, /tf_static did not come within 1 s" in text
    assert "Traceback" not in text
