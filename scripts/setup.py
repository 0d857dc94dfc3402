"""Makes .venv: ROS 2 from wheels, the built interfaces, and the packages of src/. Run it by `make setup`.

A second run compares content hashes and ends at once. Only Python's standard library is used.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kernels import kernel_commands
from machine import Missing, check_machine
from python_headers import find_headers

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
BUILD = ROOT / "build"
STAMPS = VENV / "stamps"
REQUIREMENTS = ROOT / "requirements"
INTERFACES = (
    ROOT / "src" / "handiwork_msgs",
    ROOT / "src" / "ros_underlay" / "control_msgs",
    ROOT / "src" / "ros_underlay" / "simulation_interfaces",
    ROOT / "src" / "ros_underlay" / "tf2_msgs",
)
ROBOT_FOR_KERNELS = ROOT / "src" / "robot_description" / "robots" / "fr3"
OTHER_ROS = (
    "AMENT_PREFIX_PATH",
    "CMAKE_PREFIX_PATH",
    "COLCON_PREFIX_PATH",
    "LD_LIBRARY_PATH",
    "PYTHONHOME",
    "PYTHONPATH",
    "ROS_DISTRO",
    "_ROS_WHEELS_BOOTSTRAP_COMPLETE",
)
"""Variables by which another ROS, or another environment, would get into the build."""
LINES_OF_LOG = 12


def clean_environment() -> dict[str, str]:
    """Returns the environment for the build: the venv first, no other ROS."""
    environment = {name: value for name, value in os.environ.items() if name not in OTHER_ROS}
    environment["VIRTUAL_ENV"] = str(VENV)
    environment["PATH"] = f"{VENV / 'bin'}{os.pathsep}{environment.get('PATH', os.defpath)}"
    return environment


def hash_files(files: Iterable[Path], *words: str) -> str:
    """Returns a hash of the files' names and contents, and of some words."""
    digest = hashlib.sha256(repr((sys.version_info[:2], words)).encode())
    for path in sorted(files):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_done(step: str, content: str) -> bool:
    """Tells whether a step was done with this very content."""
    stamp = STAMPS / step
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == content


def mark_done(step: str, content: str) -> None:
    """Notes that a step was done with this content."""
    STAMPS.mkdir(exist_ok=True)
    (STAMPS / step).write_text(content, encoding="utf-8")


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Says what begins, and afterwards how long it took."""
    print(f"{what} ...", end=" ", flush=True)
    start = time.monotonic()
    yield
    print(f"{time.monotonic() - start:.0f} s", flush=True)


def start(name: str, command: list[str]) -> tuple[subprocess.Popen[bytes], Path]:
    """Starts a command in the clean environment; its output goes to a log file.

    Returns:
        The process and its log file.
    """
    log = BUILD / "log" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=clean_environment(), stdout=output, stderr=subprocess.STDOUT
        )
    return process, log


def finish(name: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Waits for a started command.

    Raises:
        Missing: The command failed; the end of its log is shown before.
    """
    if process.wait() == 0:
        return
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-LINES_OF_LOG:]
    print("failed", *tail, sep="\n", flush=True)
    raise Missing(f"{name} failed: the lines above tell why, {log.relative_to(ROOT)} has all of them.")


def pip(*arguments: str) -> list[str]:
    """Returns a pip command of the venv."""
    return [str(VENV / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", *arguments]


def make_venv() -> None:
    """Makes the virtual environment, anew where it was made by another Python."""
    content = f"{sys.version} {sys.base_prefix} {VENV}"
    if is_done("venv", content):
        return
    check_machine(ROOT)
    with announced(f"Making .venv with Python {sys.version.split()[0]}"):
        shutil.rmtree(VENV, ignore_errors=True)
        shutil.rmtree(BUILD / "interfaces", ignore_errors=True)
        finish("venv", *start("venv", [sys.executable, "-m", "venv", str(VENV)]))
    mark_done("venv", content)


def install_requirements(lists: tuple[str, ...]) -> None:
    """Installs the pinned wheels of some requirement lists."""
    files = [REQUIREMENTS / f"{name}.txt" for name in lists]
    lock = REQUIREMENTS / "lock.txt"
    content = hash_files([*files, lock])
    step = f"requirements-{'-'.join(lists)}"
    if is_done(step, content):
        return
    check_machine(ROOT)
    with announced(f"Installing the wheels of requirements/: {', '.join(lists)}"):
        options = [option for path in files for option in ("-r", str(path))]
        command = pip("install", "--prefer-binary", "-c", str(lock), *options)
        finish("pip install (is there a network?)", *start(step, command))
    mark_done(step, content)


def build_interfaces() -> None:
    """Builds the interface packages that changed, side by side, and installs them as wheels."""
    shared = [ROOT / "cmake" / "pip_ros.cmake", REQUIREMENTS / "build.txt"]
    contents = {
        package: hash_files([*shared, *(path for path in package.rglob("*") if path.is_file())])
        for package in INTERFACES
    }
    changed = [package for package in INTERFACES if not is_done(package.name, contents[package])]
    if not changed:
        return
    headers = find_headers(BUILD / "headers")
    if headers:  # Debian's pyconfig.h includes another one, by its path below usr/include
        os.environ["CPATH"] = os.pathsep.join(map(str, headers))
    wheels = BUILD / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    with announced(f"Building {', '.join(package.name for package in changed)}"):
        started = [
            (package.name, *start(package.name, wheel_command(package, wheels, headers)))
            for package in changed
        ]
        for name, process, log in started:
            finish(f"building {name}", process, log)
        built = [str(path) for path in sorted(wheels.glob("*.whl"))]
        finish("pip install", *start("wheels", pip("install", "--no-deps", "--force-reinstall", *built)))
    for package in changed:
        mark_done(package.name, contents[package])


def wheel_command(package: Path, wheels: Path, headers: list[Path]) -> list[str]:
    """Returns the command that builds an interface package; its build folder is kept for the next change.

    Args:
        package: The package's folder.
        wheels: Where the wheel goes.
        headers: Folders of Python's C headers, the one with Python.h first; none where Python has its own.
    """
    folder = BUILD / "interfaces" / package.name
    settings = ["--config-settings", f"build-dir={folder}"]
    if headers:
        settings += ["--config-settings", f"cmake.define.Python3_INCLUDE_DIR={headers[0]}"]
    return pip("wheel", "--no-build-isolation", "--no-deps", "-w", str(wheels), *settings, str(package))


def install_packages() -> None:
    """Installs the Python packages of src/ so that edits take effect at once, by path entries."""
    packages = sorted(path.parent for path in (ROOT / "src").glob("*/setup.py"))
    content = hash_files(
        [package / name for package in packages for name in ("setup.py", "setup.cfg")], "commands"
    )
    if is_done("packages", content):
        return
    with announced(f"Installing {len(packages)} packages of src/"):
        folders = [option for package in packages for option in ("-e", str(package))]
        options = ("--no-build-isolation", "--no-deps", "--config-settings", "editable_mode=compat")
        finish("pip install -e", *start("packages", pip("install", *options, *folders)))
        for package in packages:
            link_share(package)
            for name in re.findall(
                r'"(\w+) = \w+\.\w+:main"', (package / "setup.py").read_text(encoding="utf-8")
            ):
                link_command(package.name, name)
    mark_done("packages", content)


def link_command(package: str, name: str) -> None:
    """Makes a command reachable in bin/ and in lib/<package>/, wherever pip has put it; setup.cfg asks for lib/."""
    places = (VENV / "bin" / name, VENV / "lib" / package / name)
    for link in places:
        if link.is_symlink():
            link.unlink()
    made = [path for path in places if path.exists()]
    if not made:
        raise Missing(f"pip made no command {name!r} of {package}: run `make clean` and try again.")
    for link in places:
        if not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(made[0])


def link_share(package: Path) -> None:
    """Lets ament_index find an editable package: a marker, and links from share/ to its data folders."""
    markers = VENV / "share" / "ament_index" / "resource_index" / "packages"
    markers.mkdir(parents=True, exist_ok=True)
    (markers / package.name).touch()
    share = VENV / "share" / package.name
    share.mkdir(parents=True, exist_ok=True)
    for name in ("package.xml", "launch", "config", "robots"):
        link = share / name
        if link.is_symlink() or link.is_file():
            link.unlink()
        elif link.is_dir():
            shutil.rmtree(link)
        if (package / name).exists():
            link.symlink_to((package / name).resolve())


def compile_kernels() -> None:
    """Compiles what Numba keeps beside the sources, so that no first start and no test has to wait for it."""
    packages = ("planner_node", "conditionals_node", "decider_node", "handiwork_core/handiwork_core/safety")
    sources = [path for name in packages for path in (ROOT / "src" / name).rglob("*.py")]
    content = hash_files(sources, "kernels")
    if is_done("kernels", content):
        return
    with announced("Compiling kernels"):
        for stage in kernel_commands(VENV / "bin" / "python", ROBOT_FOR_KERNELS):
            for name, running in {name: start(name, command) for name, command in stage.items()}.items():
                finish(name, *running)
    mark_done("kernels", content)


def set_up(with_dev: bool) -> None:
    """Does all steps that are not done yet, one run at a time."""
    if any(os.environ.get(name) for name in ("ROS_DISTRO", "AMENT_PREFIX_PATH")):
        print("A native ROS is sourced: `colcon build` uses it; make goes on with its own wheels in .venv.")
    BUILD.mkdir(exist_ok=True)
    with (BUILD / "setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        make_venv()
        install_requirements(("run", "build"))
        if with_dev:
            install_requirements(("dev",))
        build_interfaces()
        install_packages()
        compile_kernels()


def main() -> int:
    """Sets up; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="also install what tests and checks need")
    arguments = parser.parse_args()
    try:
        set_up(arguments.dev)
    except (Missing, OSError) as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
