"""The words of the handiwork command, and its output of stages."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

from handiwork_cli.cli import COMMANDS, main, modules_of, without_namespace
from handiwork_cli.commands.goals.run_skill import parameters_of
from handiwork_cli.stack.demo_cells import (
    Target,
    described_robots,
    robot_of,
    scene_of,
    target_of,
)
from handiwork_cli.stack.skill_output import StageLines
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.skill import Progress
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.scene.loader import load_scene
from support.paths import ROOT

TASK = ROOT / "config/tasks/tidy.yaml"
SORT = ROOT / "config/tasks/sort.yaml"


class Report:
    ok = False
    outcome = Outcome(Code.NOTHING_GRASPED, "nothing")


def parsed(*words: str) -> argparse.Namespace:
    """Return the parsed command line.

    Args:
        words: Words of the command line.
    """
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    for module in COMMANDS:
        import_module(f"handiwork_cli.commands.{module}").add_parser(commands)
    return parser.parse_args(words)


def test_defaults_of_demo_and_soak() -> None:
    demo = parsed("demo")
    assert (demo.robot, demo.out) == ("fr3", Path("out"))
    assert target_of(robot_of(demo.robot), demo.arm) == Target("fr3_arm", "cube", "bin")
    assert scene_of(demo.robot) == "tabletop"
    soak = parsed("soak", "--episodes", "3", "--seed", "7")
    assert (soak.episodes, soak.seed, soak.arm) == (3, 7, [])


@pytest.mark.parametrize("robot", [name for name in described_robots() if len(robot_of(name).arms) > 1])
def test_every_arm_of_several_has_a_cube_and_a_bin_in_its_scene(robot: str) -> None:
    scene = load_scene(ROOT / f"config/scenes/{scene_of(robot)}.yaml")
    names = {item.name for item in scene.objects}
    for arm in robot_of(robot).arms:
        target = target_of(robot_of(robot), arm)
        assert {target.object, target.container} <= names
    with pytest.raises(KeyError):
        target_of(robot_of(robot), "")


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


def test_words_of_run_are_yaml_values() -> None:
    words = parsed("run", "pick", "object=cube", "lift_th=1e-2", "objects=[a, b]", "seed=", "--arm", "left")
    assert parameters_of(words.parameters) == {
        "object": "cube",
        "lift_th": 0.01,
        "objects": ["a", "b"],
        "seed": None,
    }
    assert (words.skill, words.arm, words.when_busy) == ("pick", "left", "")
    for bad, expected in (("object", "no key=value"), ("=3", "no key=value"), ("a=[1", "correct the YAML")):
        with pytest.raises(ConfigError, match=expected):
            parameters_of([bad])
    with pytest.raises(ConfigError, match="is given twice"):
        parameters_of(["a=1", "a=2"])


def test_skills_are_listed_with_their_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["skills"]) == 0
    assert {"pick", "place", "goto_pose"} <= {
        line.split()[0] for line in capsys.readouterr().out.splitlines()
    }
    assert main(["skills", "goto__pose"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["position", "tuple[float,", "float,", "float]", "required"] in lines
    assert main(["skills", "plaze"]) == 1
    assert "did you mean 'place'" in capsys.readouterr().err


def test_a_task_is_checked_without_a_stack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["task", "check", str(TASK), "--scene", "tabletop"]) == 0
    assert "2 skills, seed 7" in capsys.readouterr().out
    bad = tmp_path / "bad.yaml"
    bad.write_text(TASK.read_text().replace("cube", "cub").replace("container", "contaner"))
    assert main(["task", "check", str(bad), "--scene", "tabletop"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all(line.startswith(f"{bad}: skills[0].fr3[0].fr3_arm[") for line in lines)
    assert main(["task", "check", str(tmp_path / "none.yaml")]) == 1
    assert "cannot be read" in capsys.readouterr().out


def test_conditions_of_a_task_are_checked_without_a_stack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["task", "check", str(SORT), "--scene", "tabletop"]) == 0
    assert "runs 1 to 19 skills" in capsys.readouterr().out
    bad = tmp_path / "bad.yaml"
    bad.write_text(SORT.read_text().replace("object_in_container", "in_bin").replace("=table", "=tabel"))
    assert main(["task", "check", str(bad), "--scene", "tabletop"]) == 1
    loop, branch = capsys.readouterr().out.splitlines()
    assert "for_each.object_where: no object 'tabel'; did you mean 'table'?" in loop
    assert "if.condition: " in branch and "in_bin" in branch


def test_a_condition_with_a_name_of_the_stack_s_file_is_known(tmp_path: Path) -> None:
    text = "skills: [{fr3: [{left: [{name: home}]}, {condition: cube_put_away}]}]"
    (tmp_path / "named.yaml").write_text(text)
    assert main(["task", "check", str(tmp_path / "named.yaml"), "--scene", "tabletop"]) == 0


def test_a_task_is_exported_as_a_tree_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "tidy.xml"
    assert main(["task", "export", str(TASK), "--output", str(out)]) == 0
    root = ElementTree.parse(out).getroot()
    assert [node.get("ID") for node in root.iter("Action") if node.get("name")] == ["pick", "place"]
    assert main(["task", "export", str(SORT)]) == 1
    assert "for_each: object_where selects objects while the task runs" in capsys.readouterr().out
    assert main(["task", "export", str(TASK), "--output", str(tmp_path / "none/tidy.xml")]) == 2
    assert "cannot be written" in capsys.readouterr().err


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


@pytest.mark.parametrize("module", COMMANDS)
def test_a_module_declares_the_commands_that_are_listed_for_it(module: str) -> None:
    parsers = argparse.ArgumentParser().add_subparsers()
    import_module(f"handiwork_cli.commands.{module}").add_parser(parsers)
    assert tuple(parsers.choices) == COMMANDS[module]
    assert all(modules_of(name) == [module] for name in parsers.choices)


def test_the_emergency_stop_imports_no_other_command() -> None:
    code = (
        "import sys; from handiwork_cli import cli; cli.main(['safety', 'speed']);"
        "assert not {'scipy', 'numpy', 'handiwork_cli.commands.stack.soak'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_the_help_lists_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert all(name in text for names in COMMANDS.values() for name in names)


@pytest.mark.parametrize(
    "words", [["--namespace", "left", "pick", "cube"], ["pick", "cube", "--namespace=left"]]
)
def test_namespace_may_stand_anywhere(words: list[str]) -> None:
    assert without_namespace(words) == (["pick", "cube"], "left")
    assert without_namespace(["pick", "--namespace"]) == (["pick", "--namespace"], None)


def test_bad_namespace_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["skills", "--namespace", "a b"])
    assert "--namespace is 'a b'; write letters" in capsys.readouterr().err
