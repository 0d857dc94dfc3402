"""Each package.xml names what its package imports and what its launch files start."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import check_dependencies
from scripts.check_dependencies import faults_of, main


def test_every_package_names_its_dependencies(capsys: pytest.CaptureFixture[str]) -> None:
    assert main() == 0, capsys.readouterr().out


def test_a_missing_dependency_is_named_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_dependencies, "ROOT", tmp_path)
    package = tmp_path / "src" / "mine"
    (package / "mine").mkdir(parents=True)
    (package / "launch").mkdir()
    (package / "mine" / "it.py").write_text(
        "from typing import TYPE_CHECKING\nimport os\nimport numpy\nfrom sensor_msgs.msg import JointState\n"
        "from .near import it\nif TYPE_CHECKING:\n    import scipy\n"
    )
    (package / "launch" / "it.launch.xml").write_text('<launch><node pkg="other_node" exec="it"/></launch>')
    file = package / "package.xml"
    file.write_text("<package><name>mine</name><depend>sensor_msgs</depend></package>")
    assert list(faults_of(file)) == [
        "src/mine/package.xml: other_node is missing; src/mine/launch/it.launch.xml uses it",
        "src/mine/package.xml: python3-numpy is missing; src/mine/mine/it.py:3 uses it",
    ]


def test_tests_and_launch_files_outside_of_a_package_count_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_dependencies, "ROOT", tmp_path)
    monkeypatch.setattr(check_dependencies, "TESTS", {"mine": "test/native"})
    (tmp_path / "launch").mkdir()
    (tmp_path / "launch/it.launch.py").write_text("from launch import LaunchDescription\n")
    (tmp_path / "launch/it.launch.xml").write_text(
        '<launch><include file="$(find-pkg-share others)/launch/it.launch.xml"/></launch>'
    )
    (tmp_path / "test/native").mkdir(parents=True)
    (tmp_path / "test/native/test_it.py").write_text(
        "import pytest\nit = pytest.importorskip('launch_pytest.x')\n"
    )
    package = tmp_path / "src/mine"
    package.mkdir(parents=True)
    (package / "launch").symlink_to(tmp_path / "launch")
    file = package / "package.xml"
    file.write_text("<package><name>mine</name><test_depend>python3-pytest</test_depend></package>")
    assert list(faults_of(file)) == [
        "src/mine/package.xml: launch is missing; src/mine/launch/it.launch.py:1 uses it",
        "src/mine/package.xml: launch_pytest is missing; test/native/test_it.py:2 uses it",
        "src/mine/package.xml: others is missing; src/mine/launch/it.launch.xml uses it",
    ]
