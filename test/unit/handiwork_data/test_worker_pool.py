"""The processes that make episodes end with the command that started them, however that ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

PROGRAM = """
import os, sys, threading
from handiwork_data.dataset.pool import deal

def begin():
    pass

def work(_item):
    print(os.getpid(), flush=True)
    threading.Event().wait()

if __name__ == "__main__":
    list(deal(work, range(4), 2, begin, ()))
"""


@pytest.mark.processes
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_is_left_when_the_command_is_killed(tmp_path: Path, how: signal.Signals) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        workers = [psutil.Process(int(command.stdout.readline())) for _ in range(2)]
        command.send_signal(how)
        command.wait()
        _gone, left = psutil.wait_procs(workers, timeout=60.0)
    for one in left:
        one.kill()
    assert left == []
