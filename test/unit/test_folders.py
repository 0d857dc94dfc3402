"""The folders of src/: small, importing downwards only, and rclpy only where the name says so; tests mirror them."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from support.paths import ROOT

SRC = ROOT / "src"
TESTS = ROOT / "test"
PACKAGES = sorted(path.parent.name for path in SRC.glob("*/setup.py"))
MOST_MODULES = 15
ENTRIES = {"node", "cli", "__main__"}
"""The modules that begin a process; they are at the top of a package, above its folders."""
ROS = {
    "rclpy",
    "handiwork_msgs",
    "control_msgs",
    "tf2_msgs",
    "sensor_msgs",
    "geometry_msgs",
    "moveit_msgs",
    "moveit_task_constructor_msgs",
    "nav2_msgs",
    "simulation_interfaces",
}
ALL_ROS = {"handiwork_ros"}
"""The packages in which every folder may import rclpy."""


def folder_of(path: Path, package: str) -> str:
    """Return a file's folder in a package as a dotted name.

    Args:
        path: The file.
        package: Name of the package.
    """
    return ".".join(path.parent.relative_to(SRC / package).parts)


@lru_cache
def imports() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, include_external_packages=True, cache_dir=None)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_folder_holds_few_modules(package: str) -> None:
    files = [path for path in (SRC / package / package).rglob("*.py") if path.name != "__init__.py"]
    count = Counter(folder_of(path, package) for path in files)
    assert all(number <= MOST_MODULES for number in count.values()), count.most_common(3)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_folders_of_the_tests_are_those_of_the_package(package: str) -> None:
    tests = TESTS / "unit" / package
    strange = [
        path
        for path in tests.rglob("test_*.py")
        if not (SRC / package / package / path.parent.relative_to(tests)).is_dir()
    ]
    assert not strange


@pytest.mark.parametrize(("folder", "modules"), [("test", "test_*.py"), ("benchmarks", "*.py")])
def test_a_folder_outside_the_packages_holds_few_modules(folder: str, modules: str) -> None:
    files = [path for path in (ROOT / folder).rglob(modules) if path.name != "__init__.py"]
    count = Counter(path.parent for path in files)
    assert all(number <= MOST_MODULES for number in count.values()), count.most_common(3)


@pytest.mark.parametrize("package", PACKAGES)
def test_folders_import_downwards_only(package: str) -> None:
    graph = imports()
    modules = {m for m in graph.modules if m.split(".")[0] == package and m.rsplit(".", 1)[-1] not in ENTRIES}
    is_package = {m for m in modules if graph.find_children(m)}

    def folder(module: str) -> str:
        return module if module in is_package else module.rpartition(".")[0]

    below: dict[str, set[str]] = {}
    for module in modules - is_package:
        for other in graph.find_modules_directly_imported_by(module) & modules:
            if folder(other) != folder(module):
                below.setdefault(folder(module), set()).add(folder(other))
    try:
        tuple(TopologicalSorter(below).static_order())
    except CycleError as error:
        pytest.fail(f"these folders import each other in a circle: {error.args[1]}")


@pytest.mark.parametrize("package", sorted(set(PACKAGES) - ALL_ROS))
def test_ros_is_imported_at_the_top_of_modules_in_ros_folders_only(package: str) -> None:
    graph = imports()
    outside = [
        module
        for module in graph.modules
        if module.split(".")[0] == package
        and "ros" not in module.split(".")
        and module.rsplit(".", 1)[-1] not in ENTRIES
        and graph.find_modules_directly_imported_by(module) & ROS
        and any(
            line.startswith(("import ", "from ")) and line.split()[1].split(".")[0] in ROS
            for line in source_of(module).splitlines()
        )
    ]
    assert not outside, "move these into a folder ros/"


def source_of(module: str) -> str:
    """Return the code of a module.

    Args:
        module: Full name of the module.
    """
    path = SRC / module.split(".")[0] / Path(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return file.read_text(encoding="utf-8")
