"""Compares what each package imports, and what its launch files start, with the dependencies in its package.xml.

rosdep and colcon install only what a package.xml names, and an indirect dependency may go away. Each package.xml is
also read as rosdep and colcon read it: rosdep refuses all packages for one that is not valid, and colcon takes it for
a package without dependencies, and builds it before what it needs.
"""

from __future__ import annotations

import ast
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

from catkin_pkg.package import InvalidPackage, Package, parse_package
from catkin_pkg.topological_order import topological_order_packages

ROOT = Path(__file__).resolve().parent.parent
KEYS = {
    "numpy": "python3-numpy",
    "cv2": "python3-opencv",
    "scipy": "python3-scipy",
    "numba": "python3-numba",
    "yaml": "python3-yaml",
    "pytest": "python3-pytest",
    "llvmlite": "python3-numba",
    "tqdm": "python3-tqdm",
    "msgpack": "python3-msgpack",
    "zmq": "python3-zmq",
}
"""The rosdep keys of Python modules that ROS distributions have under another name."""
OPTIONAL = {
    "mujoco",
    "curobo",
    "torch",
    "warp",
    "isaacsim",
    "omni",
    "carb",
    "pxr",
    "isaacgym",
    "gymnasium",
}
OPTIONAL |= {
    "viser",
    "trimesh",
    "PIL",
    "imageio",
    "imageio_ffmpeg",
    "matplotlib",
    "h5py",
    "av",
    "pyarrow",
    "ray",
    "isaaclab",
    "usdrt",
    "cv2",
    "websockets",
    "re2",
    "cuda",
    "mcap",
    "mcap_ros2",
    "zstandard",
    "vla_eval",
    "anyio",
}
"""Modules without a rosdep key, or of programs of which these modules run inside; users install them by pip."""
DEPENDS = ("depend", "exec_depend", "build_depend", "test_depend", "build_export_depend")
PKG = re.compile(r'<node\b[^>]*\bpkg="([^"$]+)"|\$\(find-pkg-share ([a-z0-9_]+)\)')
TESTS = {"handiwork_bringup": "test/native"}
"""Tests outside of the packages, by the package that names what they import; rosdep installs that for them."""


def main() -> int:
    """Print what rosdep or colcon would refuse, and each package's missing dependencies.

    Returns:
        Exit code, 0 exactly when there is nothing to print.
    """
    manifests = sorted((ROOT / "src").glob("*/package.xml"))
    faults = [*invalid_manifests(manifests), *(fault for path in manifests for fault in faults_of(path))]
    for fault in faults:
        print(fault)
    return int(bool(faults))


def invalid_manifests(manifests: list[Path]) -> Iterator[str]:
    """Return why rosdep or colcon would refuse packages, or install them where ROS does not find them.

    Args:
        manifests: The package.xml of each package.

    Yields:
        A sentence per fault.
    """
    packages: dict[str, Package] = {}
    for path in manifests:
        place = path.relative_to(ROOT)
        warnings: list[str] = []
        try:
            package = packages[str(place.parent)] = parse_package(str(path), warnings=warnings)
        except InvalidPackage as error:
            # Its text begins with the path and a heading, and has a line for each error.
            yield f"{place} is not valid: {'; '.join(str(error).split(chr(10))[2:])}"
            continue
        package.evaluate_conditions({})
        yield from (f"{place}: {warning}" for warning in warnings)
        if package.get_build_type() == "ament_python":
            yield from _faults_of_installation(path.parent, package.name)
    for folder, name in topological_order_packages(packages):
        if folder is None:
            yield f"these packages depend on each other in a circle, and colcon builds none of them: {name}"


def _faults_of_installation(folder: Path, name: str) -> Iterator[str]:
    """Yield which file by which ``ros2 pkg`` and ``ros2 run`` find a Python package is missing, or is another's."""
    if not (folder / "resource" / name).is_file():
        yield f"{folder.relative_to(ROOT)}/resource/{name} is missing; by this empty file ROS finds the package"
    setup = ConfigParser()
    setup.read(folder / "setup.cfg")
    for section, option in (("develop", "script_dir"), ("install", "install_scripts")):
        if setup.get(section, option, fallback="") != f"$base/lib/{name}":
            yield f"{folder.relative_to(ROOT)}/setup.cfg: {option} of [{section}] must be $base/lib/{name}"


def faults_of(package_xml: Path) -> Iterator[str]:
    """Return the dependencies that a package uses and does not name.

    Args:
        package_xml: Its package.xml.

    Yields:
        A sentence per dependency, with the first place that uses it.
    """
    root = ET.parse(package_xml).getroot()
    name = root.findtext("name", "")
    named = {(item.text or "").strip() for tag in DEPENDS for item in root.findall(tag)}
    used: dict[str, str] = {}
    for path in _python_files(package_xml.parent, name):
        for module, line in imports(path):
            used.setdefault(KEYS.get(module, module), f"{path.relative_to(ROOT)}:{line}")
    for path in sorted((package_xml.parent / "launch").glob("*.launch.xml")):
        for found in PKG.findall(path.read_text(encoding="utf-8")):
            used.setdefault("".join(found), str(path.relative_to(ROOT)))
    for key in sorted(set(used) - named - {name} - OPTIONAL - set(sys.stdlib_module_names)):
        yield f"{package_xml.relative_to(ROOT)}: {key} is missing; {used[key]} uses it"


def _python_files(folder: Path, name: str) -> Iterator[Path]:
    """Yield the modules of a package, its launch files, whose folder may be a link, and the tests that belong to it."""
    for path in sorted(folder.rglob("*.py")):
        if path.name != "setup.py" and "build" not in path.relative_to(folder).parts:
            yield path
    if (folder / "launch").is_symlink():
        yield from sorted((folder / "launch").glob("*.py"))
    if name in TESTS:
        yield from sorted((ROOT / TESTS[name]).glob("*.py"))


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Return the modules that a file imports when it runs.

    Args:
        path: The file.

    Yields:
        The first part of each absolute import, and of each that pytest tries, and its line.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    typing_only = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for statement in node.body
        for part in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0], node.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.importorskip":
            yield ast.literal_eval(node.args[0]).partition(".")[0], node.lineno


if __name__ == "__main__":
    sys.exit(main())
