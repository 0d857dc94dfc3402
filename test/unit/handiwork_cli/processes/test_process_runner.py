"""Processes are started, forwarded, started again and ended, and none outlives its runner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from handiwork_cli.launch_files.model import ProcessSpec
from handiwork_cli.processes.process_runner import ProcessRunner
from handiwork_cli.processes.refusals import MOST_REFUSALS

pytestmark = pytest.mark.processes

WAIT = "import signal, time; print('up', flush=True); time.sleep(600)"


def python(label: str, code: str, **options: object) -> ProcessSpec:
    """Return a process that runs Python code.

    Args:
        label: Label of the process.
        code: The code.
        options: Options of ``ProcessSpec``.
    """
    return ProcessSpec(label, (sys.executable, "-c", code), **options)  # type: ignore[arg-type]


def run_until(specs: list[ProcessSpec], line: str, count: int = 1) -> tuple[int, list[str]]:
    """Run processes until a text was printed; return the exit code of the runner, and all lines.

    Args:
        specs: The processes.
        line: The text.
        count: Number of lines with the text after which the runner stops.
    """
    lines: list[str] = []

    def write(text: str) -> None:
        lines.append(text)
        if sum(line in text for text in lines) >= count:
            runner.request_stop()

    runner = ProcessRunner(specs, write=write)
    return runner.run(), lines


def test_output_has_the_label_and_success_is_zero() -> None:
    code, lines = run_until([python("a", "print('one'); print('two', end='')")], "never")
    assert code == 0
    assert lines[:2] == ["[a] one", "[a] two"]


def test_end_of_a_required_process_stops_all_and_is_a_failure() -> None:
    code, lines = run_until([python("a", WAIT), python("b", "pass", required=True)], "never")
    assert code == 1
    assert any("required" in line for line in lines)


def test_failed_process_is_a_failure() -> None:
    assert run_until([python("a", "raise SystemExit(3)")], "never")[0] == 1


def test_respawn_until_told_to_stop() -> None:
    code, lines = run_until([python("a", "print('up')", respawn=True)], "] up", count=3)
    assert code == 0
    assert lines.count("[a] up") >= 3


@pytest.mark.parametrize(("refusal", "starts"), MOST_REFUSALS.items())
def test_a_process_that_is_refused_is_not_started_for_ever(refusal: int, starts: int) -> None:
    code, lines = run_until([python("a", f"print('up'); raise SystemExit({refusal})", respawn=True)], "never")
    assert code == 1
    assert lines.count("[a] up") == starts
    assert (
        f"exit code {refusal}" in lines[-1] and "not started again: correct what it says above" in lines[-1]
    )


def test_a_refusal_between_other_ends_counts_from_the_beginning(tmp_path: Path) -> None:
    count = (
        f"from pathlib import Path; p = Path({str(tmp_path / 'n')!r}); n = len(p.read_text()) if p.exists() else 0; "
        "p.write_text('x' * (n + 1)); print('up'); raise SystemExit(75 if n % 3 == 2 else 69)"
    )
    code, lines = run_until([python("a", count, respawn=True)], "] up", count=9)
    assert code == 0
    assert lines.count("[a] up") >= 9


def test_stubborn_process_is_killed() -> None:
    code = (
        "import signal, time; [signal.signal(s, signal.SIG_IGN) for s in (2, 15)]; "
        "print('up', flush=True); time.sleep(600)"
    )
    assert run_until([python("a", code, sigterm_after_s=0.1, sigkill_after_s=0.1)], "] up")[0] == 0


def test_missing_program_is_a_failure() -> None:
    code, lines = run_until([ProcessSpec("a", ("/no/such/program",))], "never")
    assert code == 1
    assert "cannot be started" in lines[0]


def test_children_die_with_a_killed_runner() -> None:
    script = (
        "import sys; from handiwork_cli.processes.process_runner import ProcessRunner;"
        "from handiwork_cli.launch_files.model import ProcessSpec;"
        "code = 'import os, time; print(os.getpid(), flush=True); time.sleep(600)';"
        "ProcessRunner([ProcessSpec('a', (sys.executable, '-c', code))], write=lambda t: print(t, flush=True)).run()"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline().split()[-1])
    parent.send_signal(signal.SIGKILL)
    parent.wait(10)
    parent.stdout.close()
    gone = threading.Event()
    for _ in range(200):
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            break
        gone.wait(0.05)
    else:
        os.kill(pid, signal.SIGKILL)
        raise AssertionError(f"process {pid} outlived its runner by 10 s")
