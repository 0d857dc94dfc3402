"""A broken scene or robot file stops the start within seconds, with file, key and remedy.

Each way to break a file is tried with the launch file of the one node that reads it first, and one with all nodes.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from handiwork_cli.launch_files.package_paths import share_of
from support.stack.started import from_folder, launched

START_S = 110.0
"""The longest wait for a start that fails, s: a few on an idle machine, more than 30 at a load of ten."""


def replaced(path: Path, old: str, new: str) -> None:
    """Break a copy of a file; the text to break must be there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


ALL, SIM, ROBOT = "bringup.launch.xml", "sim.launch.xml", "robot_description.launch.xml"


def copied_robot(folder: Path) -> Path:
    """Copy the robot's folder and the parts that it names, and return it."""
    for name in ("fr3", "parts"):
        shutil.copytree(share_of("robot_description") / "robots" / name, folder / "robots" / name)
    return folder / "robots/fr3"


def assert_refused(folder: Path, file: str, arguments: dict[str, str], words: tuple[str, ...]) -> None:
    """Check that the launch ends by itself, not with zero, printed these words, and leaves no process."""
    with launched(folder / "launch.log", arguments, file) as started:
        assert started.exit_code(START_S) != 0
        output = started.output
    faults = [line for line in output.splitlines() if "fatal" in line.lower()]
    assert faults, output
    assert any(all(word in line for word in words) for line in faults), faults


@pytest.mark.usefixtures("nothing_left_over")
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        pytest.param("    mass: 0.1\n", "    mas: 0.1\n", ("objects.cube.mas", "mass"), id="unknown-key"),
        pytest.param("name: tabletop\n", "", ("name", "missing"), id="missing-key"),
        pytest.param(
            "mass: 0.1\n", "mass: heavy\n", ("objects.cube.mass", "heavy", "number"), id="wrong-type"
        ),
        pytest.param(
            "size: [0.045,", "size: [-0.045,", ("objects.cube.shapes", "-0.045", "more than 0"), id="value"
        ),
        pytest.param("objects:\n", "objects: [\n", ("line ", "column ", "correct the YAML"), id="no-yaml"),
    ],
)
def test_broken_scene(tmp_path: Path, old: str, new: str, words: tuple[str, ...]) -> None:
    scene = tmp_path / "broken.yaml"
    shutil.copy(share_of("handiwork_bringup") / "config/scenes/tabletop.yaml", scene)
    replaced(scene, old, new)
    arguments = {"scene_file": str(scene), "robot_dir": str(share_of("robot_description") / "robots/fr3")}
    assert_refused(tmp_path, SIM, arguments, ("broken.yaml", *words))


@pytest.mark.usefixtures("nothing_left_over")
def test_a_broken_scene_ends_the_start_of_all_nodes(tmp_path: Path) -> None:
    scene = tmp_path / "broken.yaml"
    shutil.copy(share_of("handiwork_bringup") / "config/scenes/tabletop.yaml", scene)
    replaced(scene, "    mass: 0.1\n", "    mas: 0.1\n")
    name = from_folder(scene.with_suffix(""), "handiwork_bringup", "config/scenes")
    assert_refused(tmp_path, ALL, {"scene": name}, ("broken.yaml", "objects.cube.mas", "mass"))


@pytest.mark.usefixtures("nothing_left_over")
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        pytest.param(
            "spheres: spheres.yaml\n", "spheers: spheres.yaml\n", ("spheers", "spheres"), id="unknown-key"
        ),
        pytest.param(
            "    base_link: fr3_link0\n", "", ("arms.fr3_arm.base_link", "missing"), id="missing-key"
        ),
        pytest.param(
            "acceleration: 10.0",
            "acceleration: fast",
            ("limits.fr3_joint1.acceleration", "fast", "number"),
            id="wrong-type",
        ),
        pytest.param(
            "joints: [fr3_joint1,",
            "joints: [fr3_joint0,",
            ("arms.fr3_arm.joints", "fr3_joint0", "fr3_joint"),
            id="no-joint",
        ),
        pytest.param("arms:\n", "arms: {\n", ("line ", "column ", "correct the YAML"), id="no-yaml"),
    ],
)
def test_broken_robot(tmp_path: Path, old: str, new: str, words: tuple[str, ...]) -> None:
    robot = copied_robot(tmp_path)
    replaced(robot / "robot.yaml", old, new)
    assert_refused(tmp_path, ROBOT, {"robot_dir": str(robot)}, ("robot.yaml", *words))


@pytest.mark.usefixtures("nothing_left_over")
def test_a_broken_robot_ends_the_start_of_all_nodes(tmp_path: Path) -> None:
    robot = copied_robot(tmp_path)
    replaced(robot / "robot.yaml", "    base_link: fr3_link0\n", "")
    name = from_folder(robot, "robot_description", "robots")
    assert_refused(tmp_path, ALL, {"robot": name}, ("robot.yaml", "arms.fr3_arm.base_link", "missing"))


@pytest.mark.usefixtures("nothing_left_over")
def test_scene_that_is_not_there(tmp_path: Path) -> None:
    assert_refused(tmp_path, ALL, {"scene": "tabeltop"}, ("tabeltop.yaml", "check the path"))
