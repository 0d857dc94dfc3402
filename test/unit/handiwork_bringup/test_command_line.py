"""What the handiwork command understands, and what it prints of stages."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from handiwork_bringup.cli import COMMANDS, main
from handiwork_bringup.skill_output import StageLines
from handiwork_core.outcome import Code, Outcome
from handiwork_core.skill import Progress


class Report:
    ok = False
    outcome = Outcome(Code.NOTHING_GRASPED, "nothing")


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    return parser.parse_args(words)


def test_defaults_of_demo_and_soak() -> None:
    demo = parsed("demo")
    assert (demo.scene, demo.object, demo.container, demo.out) == ("tabletop", "cube", "bin", Path("out"))
    soak = parsed("soak", "--episodes", "3", "--seed", "7")
    assert (soak.episodes, soak.seed) == (3, 7)


def test_client_commands() -> None:
    assert parsed("pick", "can").object == "can"
    place = parsed("place", "can", "bin")
    assert (place.object, place.container) == ("can", "bin")
    assert parsed("status").run is not parsed("pick", "can").run


@pytest.mark.parametrize("words", [(), ("fly",), ("pick",), ("place", "cube"), ("demo", "--episodes", "3")])
def test_bad_command_lines_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2


def test_each_stage_is_told_once_at_its_end_with_its_planning_time() -> None:
    lines: list[str] = []
    shown = StageLines(lines.append)
    shown(Progress("select", 0, 1, 0.0))
    shown(Progress("open", 1, 3, 0.0))
    assert lines == []
    shown(Progress("select", 0, 3, 0.061))
    assert [line.split()[0] for line in lines] == ["select"]
    assert lines[0].endswith("planning   61 ms")
    shown(Progress("grasp", 2, 3, 0.0))
    shown.end(Report())  # type: ignore[arg-type]
    assert [line.split()[0] for line in lines] == ["select", "open", "grasp"]
    assert lines[-1].endswith("NOTHING_GRASPED")
