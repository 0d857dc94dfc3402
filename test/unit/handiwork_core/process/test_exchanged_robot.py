"""A node that launch starts again has the robot that it had at its end; one of another launch has its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from handiwork_core.process.domain import runtime_folder
from handiwork_core.process.exchanged_robot import note_exchange, noted_exchange

NODE = (42, "/left/planner_node")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a runtime folder of the test's own."""
    path = tmp_path / "run"
    path.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(path))
    return path


def test_the_other_robot_is_remembered_for_the_next_process() -> None:
    note_exchange(*NODE, "robots/fr3", "robots/fr3_robotiq")
    assert noted_exchange(*NODE, "robots/fr3") == "robots/fr3_robotiq"


def test_nothing_is_remembered_of_other_nodes_domains_and_launched_robots() -> None:
    note_exchange(*NODE, "robots/fr3", "robots/fr3_robotiq")
    assert noted_exchange(42, "/right/planner_node", "robots/fr3") == "robots/fr3"
    assert noted_exchange(43, NODE[1], "robots/fr3") == "robots/fr3"
    assert noted_exchange(*NODE, "robots/genie1") == "robots/genie1"


def test_the_way_back_removes_the_note(folder: Path) -> None:
    note_exchange(*NODE, "robots/fr3", "robots/fr3_robotiq")
    note_exchange(*NODE, "robots/fr3", "robots/fr3")
    assert list(folder.iterdir()) == []
    assert noted_exchange(*NODE, "robots/fr3") == "robots/fr3"


def test_a_process_of_another_parent_reads_nothing() -> None:
    note_exchange(*NODE, "robots/fr3", "robots/fr3_robotiq")
    code = f"""
from handiwork_core.process.exchanged_robot import noted_exchange
print(noted_exchange(*{NODE!r}, 'robots/fr3'))
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60.0
    )
    assert found.stdout.strip() == "robots/fr3"


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{", json.dumps({"parent": "", "launched": "robots/fr3"})]
)
def test_a_broken_note_is_none(text: str) -> None:
    note_exchange(*NODE, "robots/fr3", "robots/fr3_robotiq")
    (path,) = runtime_folder().iterdir()
    path.write_text(text)
    assert noted_exchange(*NODE, "robots/fr3") == "robots/fr3"
