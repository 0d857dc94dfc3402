"""``handiwork conditions`` and ``handiwork why`` against a running conditions node."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from handiwork_msgs.msg import Condition

from support.nodes.conditions_peer import Peer, playing

FILE = """
conditions:
- {name: in_bin, expression: "object_in_container(object=cube, container=bin)"}
- {name: object_stationary, args: {object: cube}}
- {name: object_stationary, args: {object: bin}}
task: {name: away, subtasks: [{name: out, groups: {cube: [{expression: not in_bin}]}}]}
"""
COMMAND = "import sys; from handiwork_cli.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    file: Path = tmp_path_factory.mktemp("conditions") / "conditions.yaml"
    file.write_text(FILE)
    with playing(file) as found:
        found.wait(lambda: found.value("in_bin") == Condition.TRUE)
        yield found


def handiwork(*words: str) -> tuple[int, str, str]:
    """Return the exit code and both outputs of a command."""
    run = subprocess.run(
        [sys.executable, "-c", COMMAND, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "COLUMNS": "120"},
    )
    return run.returncode, run.stdout, run.stderr


def test_the_table_and_the_progress_are_printed_once(peer: Peer) -> None:
    code, out, _ = handiwork("conditions", "--once")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split()[:4] == ["value", "since", "margin", "condition"]
    assert lines[1].startswith("TRUE") and "in_bin" in lines[1] and "\x1b" not in out
    assert "task away: 0%" in out
    assert "> not in_bin" in out


@pytest.mark.parametrize(
    ("condition", "code", "words"),
    [
        ("in_bin", 0, ["in_bin: TRUE", "margin   0.2", "depth", "cube"]),
        ("not in_bin", 1, ["not in_bin: FALSE"]),
        ("object_in_container(object=ghost, container=bin) and in_bin", 3, ["UNKNOWN", "'ghost'"]),
        ("in_bin and", 2, ["column"]),
        ("object_in_container", 0, ["object_in_container(object=cube, container=bin): TRUE", "depth"]),
        (
            "object_stationary",
            2,
            ['watched 2 times; ask for "object_stationary(object=cube)" or "object_stationary(object=bin)"'],
        ),
        ("object_upright", 2, ["object: missing"]),
        ("gripper_opened()", 2, ["did you mean 'gripper_open'"]),
    ],
)
def test_why_tells_the_numbers_and_its_exit_code_the_value(
    peer: Peer, condition: str, code: int, words: list[str]
) -> None:
    found, out, err = handiwork("why", condition)
    assert found == code, err
    assert all(word in out + err for word in words), out + err
