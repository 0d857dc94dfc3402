"""Compares what each package imports, and what its launch files start, with the dependencies in its package.xml.

rosdep and colcon install only what a package.xml names, and an indirect dependency may go away.
"""

from __future__ import annotations

import ast
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

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
    """Print each package's missing dependencies.

    Returns:
        Exit code, 0 exactly when none is missing.
    """
    faults = [fault for path in sorted((ROOT / "src").glob("*/package.xml")) for fault in faults_of(path)]
    for fault in faults:
        print(fault)
    return int(bool(faults))


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
