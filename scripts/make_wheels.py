"""Builds the wheels that a release publishes into dist/. Run it by `make wheels`, after `make setup`.

The packages are built from a clean copy of their sources, so that neither a stale build folder nor a file that Python
left behind gets into a wheel. The interface packages are compiled in the folders that `make setup` uses.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from machine import Missing
from steps import pip

from setup import (
    BUILD,
    INTERFACES,
    REQUIREMENTS,
    ROOT,
    announced,
    find_headers,
    finish,
    start,
    wheel_command,
)

DIST = ROOT / "dist"
LEFT_BEHIND = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist")


def packages() -> list[Path]:
    """Return the folders of the Python packages of src/."""
    return sorted(path.parent for path in (ROOT / "src").glob("*/setup.py"))


def build_interface_wheels() -> None:
    """Build a wheel of each interface package, side by side.

    Raises:
        Missing: A build failed.
    """
    headers = find_headers(BUILD / "headers")
    with announced(f"Building {', '.join(package.name for package in INTERFACES)}"):
        started = [(path.name, *start(path.name, wheel_command(path, DIST, headers))) for path in INTERFACES]
        for name, process, log in started:
            finish(f"building {name}", process, log)


def build_package_wheels() -> None:
    """Build a wheel of each Python package.

    Raises:
        Missing: A build failed.
    """
    with announced(f"Building {len(packages())} packages of src/"), tempfile.TemporaryDirectory() as folder:
        # The package handiwork reads requirements/run.txt, at the same place as in the repository.
        shutil.copytree(REQUIREMENTS, Path(folder) / "requirements")
        copies = [Path(folder) / "src" / package.name for package in packages()]
        for package, copy in zip(packages(), copies, strict=True):
            shutil.copytree(package, copy, ignore=LEFT_BEHIND)
        command = pip("wheel", "--no-build-isolation", "--no-deps", "-w", str(DIST), *map(str, copies))
        finish("building the packages", *start("package-wheels", command))


def main() -> int:
    """Build all wheels, and return the exit status."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    try:
        build_interface_wheels()
        build_package_wheels()
    except (Missing, OSError) as error:
        print(f"make wheels: {error}", file=sys.stderr)
        return 1
    wheels = sorted(DIST.glob("*.whl"))
    missing = len(INTERFACES) + len(packages()) - len(wheels)
    size_mb = sum(path.stat().st_size for path in wheels) / 1e6
    print(f"{len(wheels)} wheels in {DIST.relative_to(ROOT)}/, {size_mb:.1f} MB")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
