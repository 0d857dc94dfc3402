"""The engine of the CPU has imported what its checks need before the first request."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import ROBOTS

CODE = """
import sys, threading
from pathlib import Path
from handiwork_core.model.geometry import Pose
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine
CpuEngine(load_robot(Path(sys.argv[1])), Pose.identity(), lambda share, text: None)
for thread in threading.enumerate():
    if thread is not threading.current_thread():
        thread.join(60.0)
print(*sorted(name for name in sys.modules if name.startswith("handiwork_planning.validation.")))
"""


@pytest.mark.processes
def test_validation_is_imported_without_a_request(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(ROBOTS / "fr3")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {
        f"handiwork_planning.validation.{name}"
        for name in ("trajectory_check", "rest_of_path", "motion_limits")
    } <= set(done.stdout.split())
