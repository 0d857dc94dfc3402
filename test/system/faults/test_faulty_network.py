"""Goals that come through a network which loses packets, delays them or is down for a while end as promised."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from handiwork_cli.cli import INTERRUPTED
from support.stack.rig import wait_for
from support.stack.started import descendants_of, is_running

SKIPPED = 77
GOALS = 5
"""No fault, 5 % and 20 % of the packets lost, 0.1 s of delay, an outage of 3 s: the client may give up none."""
END_S = 600.0


COMMAND = [str(Path(sys.executable).parent / "handiwork"), "chaos", "--network", "--seed", "1"]


@pytest.mark.usefixtures("nothing_left_over")
def test_no_goal_is_given_up_or_ends_falsely_on_a_bad_network() -> None:
    ended = subprocess.run(
        [*COMMAND, "--goals", str(GOALS), "--real-time-factor", "2"],
        capture_output=True,
        text=True,
        timeout=END_S,
        check=False,
    )
    if ended.returncode == SKIPPED:
        pytest.skip(ended.stdout.splitlines()[0])
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr[-4000:]}"
    assert f"{GOALS} goals, seed 1: 0 false OK, 0 false endings, 0 lost" in ended.stdout
    assert "network_outage 1" in ended.stdout


def _listen_to_interrupts() -> None:
    """Undo what a shell does to a test run in the background: its processes would ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.usefixtures("nothing_left_over")
def test_an_interrupt_ends_the_stack_and_is_one_sentence(tmp_path: Path) -> None:
    with (tmp_path / "errors").open("wb") as errors:
        # A session of its own stands for a terminal: Ctrl-C there interrupts all processes of the group.
        process = subprocess.Popen(
            [*COMMAND, "--real-time-factor", "2", "--load", "1"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
            preexec_fn=_listen_to_interrupts,
        )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        if first.startswith("the network was not made faulty"):
            pytest.skip(first)
        started = descendants_of(process.pid)
        assert len(started) >= 8, "five nodes, both ends, and the load"
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(END_S) == INTERRUPTED
        text = (tmp_path / "errors").read_text()
        assert "Traceback" not in text, text[-4000:]
        assert text.splitlines()[-1] == "handiwork chaos: interrupted"
        wait_for("the end of all processes", lambda: not any(map(is_running, started)))
    finally:
        process.kill()
        process.wait(END_S)
