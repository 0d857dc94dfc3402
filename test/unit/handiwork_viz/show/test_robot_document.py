"""The page of a robot has all of its limits, and keeps what was assumed apart from what was read."""

from __future__ import annotations

from pathlib import Path

import pytest

from handiwork_cli.cli import main
from handiwork_cli.commands.inspect.document_robot import PAGES, PICTURES, page_of
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot_files.loader import load_robot
from handiwork_viz.show.robot_document import read_readme, robot_document
from support.paths import ROBOTS, ROOT

FOLDERS = sorted(path.parent for path in ROBOTS.glob("*/robot.yaml"))
README = """# lift2: A robot

| what | from | licence |
|---|---|---|
| limits | its maker's URDF | MIT |
| jerk | estimated: not published | |

Some words | with a bar.
"""


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_page_that_ships_is_that_of_the_robot(folder: Path) -> None:
    made = page_of(load_robot(folder), folder, ROOT / PICTURES, ROOT / PAGES)
    page = ROOT / PAGES / f"{folder.name}.md"
    assert page.read_text(encoding="utf-8") == made, "run `handiwork document-robot`"
    for line in made.splitlines():
        if line.startswith("!["):
            assert (page.parent / line.partition("](")[2].rstrip(")")).is_file(), line


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_joint_that_moves_by_itself_is_in_the_page(folder: Path) -> None:
    robot = load_robot(folder)
    page = robot_document(robot, read_readme("", robot.name))
    limits = page.partition("## Limits")[2].partition("## Collision model")[0]
    for joint in robot.joints.values():
        moves = joint.type is not JointKind.FIXED and joint.mimic is None
        assert (f"| `{joint.name}` |" in limits) == moves
    assert all(f"`{arm.name}`" in page for arm in robot.arms.values())


def test_what_was_assumed_is_apart_from_what_was_read() -> None:
    readme = read_readme(README, "lift2")
    assert readme.title == "A robot"
    assert [(row.what, row.is_assumed) for row in readme.sources] == [("limits", False), ("jerk", True)]
    page = robot_document(load_robot(ROBOTS / "lift2"), readme)
    read, _, assumed = page.partition("## Values assumed or worked out here")
    assert "| limits | its maker's URDF |" in read and "estimated" not in read
    assert "| jerk | estimated: not published |" in assumed


def test_a_robot_of_a_user_gets_a_page_with_the_pictures_that_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / "fr3_fr3_arm_reach.png").write_bytes(b"")
    words = [
        "document-robot",
        str(ROBOTS / "fr3"),
        "--out",
        str(tmp_path / "pages"),
        "--pictures",
        str(pictures),
    ]
    assert main(words) == 0
    page = (tmp_path / "pages" / "fr3.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out.strip() == str(tmp_path / "pages" / "fr3.md")
    assert "![Reach of fr3_arm of fr3](../pictures/fr3_fr3_arm_reach.png)" in page
    assert "at home" not in page


def test_a_page_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["document-robot", "fr3", "--out", str(tmp_path / "file" / "pages")]) == 2
    assert "cannot be written" in capsys.readouterr().err
