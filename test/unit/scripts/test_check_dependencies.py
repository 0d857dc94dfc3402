"""Each package.xml is one that rosdep and colcon read, and names what its package imports and launches."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import check_dependencies
from scripts.check_dependencies import faults_of, invalid_manifests, main


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


def written(root: Path, name: str, *dependencies: str, scripts: str | None = None) -> Path:
    """Write a Python package of ROS, and return its package.xml.

    Args:
        root: Root of the repository.
        name: Name of the package.
        dependencies: What its package.xml depends on.
        scripts: The folder in which setup.cfg puts commands; none for the right one.
    """
    folder = root / "src" / name
    (folder / "resource").mkdir(parents=True)
    (folder / "resource" / name).touch()
    scripts = scripts or f"$base/lib/{name}"
    (folder / "setup.cfg").write_text(
        f"[develop]\nscript_dir={scripts}\n[install]\ninstall_scripts={scripts}\n"
    )
    file = folder / "package.xml"
    named = "".join(f"<depend>{dependency}</depend>" for dependency in dependencies)
    file.write_text(
        f'<?xml version="1.0"?><package format="3"><name>{name}</name><version>0.1.0</version>'
        '<description>A package.</description><maintainer email="a@b.example">A</maintainer>'
        f"<license>Apache-2.0</license>{named}<export><build_type>ament_python</build_type></export></package>"
    )
    return file


def test_what_rosdep_and_colcon_refuse_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_dependencies, "ROOT", tmp_path)
    good = written(tmp_path, "good", "rclpy")
    assert list(invalid_manifests([good])) == []
    twice = written(tmp_path, "twice", "rclpy", "rclpy")
    (fault,) = invalid_manifests([good, twice])
    assert fault.startswith("src/twice/package.xml is not valid: ")
    assert "'rclpy' is redundant" in fault


def test_packages_in_a_circle_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_dependencies, "ROOT", tmp_path)
    manifests = [written(tmp_path, "first", "second"), written(tmp_path, "second", "first")]
    (fault,) = invalid_manifests([*manifests, written(tmp_path, "third")])
    assert fault.endswith("in a circle, and colcon builds none of them: first, second")


def test_a_package_that_ros_would_not_find_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_dependencies, "ROOT", tmp_path)
    file = written(tmp_path, "mine", scripts="$base/lib/other")
    (file.parent / "resource/mine").unlink()
    assert list(invalid_manifests([file])) == [
        "src/mine/resource/mine is missing; by this empty file ROS finds the package",
        "src/mine/setup.cfg: script_dir of [develop] must be $base/lib/mine",
        "src/mine/setup.cfg: install_scripts of [install] must be $base/lib/mine",
    ]
