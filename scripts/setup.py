"""Make .venv: ROS 2 from wheels, the built interfaces, and the packages of src/. Run it by `make setup`.

A second run compares content hashes and ends at once. Only Python's standard library is used.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import resource
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kernel_steps import begin_later_kernels, compile_kernels, compile_later_kernels
from machine import Missing, check_machine
from pins import DISTRIBUTIONS, JAZZY, list_of
from python_headers import find_headers
from steps import (
    BUILD,
    ROOT,
    VENV,
    announced,
    finish,
    hash_files,
    install,
    is_done,
    mark_done,
    python_script,
    start,
)

INTERFACES = (
    ROOT / "src" / "handiwork_msgs",
    ROOT / "src" / "ros_underlay" / "control_msgs",
    ROOT / "src" / "ros_underlay" / "simulation_interfaces",
    ROOT / "src" / "ros_underlay" / "tf2_msgs",
    ROOT / "src" / "ros_underlay" / "vision_msgs",
)
MOVEIT_INTERFACES = (
    (
        ROOT / "src" / "ros_underlay" / "octomap_msgs",
        ROOT / "src" / "ros_underlay" / "object_recognition_msgs",
    ),
    (ROOT / "src" / "ros_underlay" / "moveit_msgs",),
    (ROOT / "src" / "ros_underlay" / "moveit_task_constructor_msgs",),
)
"""The interfaces of clients of MoveIt; each group is compiled against the headers of those before it."""
NAV2_INTERFACES = (ROOT / "src" / "ros_underlay" / "nav2_msgs",)
"""The interface of robots whose base nav2 drives."""


def make_venv(ros: str) -> None:
    """Make the virtual environment; one that another Python made, or of another ROS, is removed before.

    Args:
        ros: Name of the distribution.
    """
    content = f"{sys.version} {sys.base_prefix} {VENV}{'' if ros == JAZZY else ' ' + ros}"
    if is_done("venv", content):
        return
    check_machine(ROOT)
    with announced(f"Making .venv with Python {sys.version.split()[0]}"):
        shutil.rmtree(VENV, ignore_errors=True)
        shutil.rmtree(BUILD / "interfaces", ignore_errors=True)
        finish("venv", *start("venv", [sys.executable, "-m", "venv", str(VENV)]))
    mark_done("venv", content)


def install_build_requirements(ros: str) -> None:
    """Install the requirements of the interfaces' build, so that it can begin while other wheels are downloaded.

    Args:
        ros: Name of the distribution.
    """
    run, build, lock = (list_of(name, ros) for name in ("run", "build", "lock"))
    content = hash_files([run, build, lock])
    if is_done("requirements-build", content):
        return
    check_machine(ROOT)
    lines = run.read_text(encoding="utf-8").splitlines()
    needed = [line for line in lines if line.startswith(("ros-", "numpy=="))]
    with announced("Installing the wheels of ROS 2 and of the build"):
        install_wheels("build", ros, "-r", str(build), *needed)
    mark_done("requirements-build", content)


def install_requirements(lists: tuple[str, ...], ros: str) -> None:
    """Install the pinned wheels of some requirement lists.

    Args:
        lists: Names of files in ``requirements``, without their ending.
        ros: Name of the distribution.

    Raises:
        Missing: pip failed.
    """
    files = [list_of(name, ros) for name in lists]
    content = hash_files([*files, list_of("lock", ros)])
    step = f"requirements-{'-'.join(lists)}"
    if is_done(step, content):
        return
    check_machine(ROOT)
    with announced(f"Installing the wheels of requirements/: {', '.join(lists)}"):
        install_wheels(step, ros, *(option for path in files for option in ("-r", str(path))))
    mark_done(step, content)


def install_wheels(log: str, ros: str, *what: str) -> None:
    """Install pinned wheels, and their dependencies in the versions of lock.txt.

    Args:
        log: The name of the log file.
        ros: Name of the distribution.
        what: Packages, or options of pip.

    Raises:
        Missing: pip failed.
    """
    lock = str(list_of("lock", ros))
    install("pip install (is there a network?)", log, "--prefer-binary", "-c", lock, *what)


def build_interfaces(ros: str, packages: tuple[Path, ...] = INTERFACES) -> None:
    """Build the interface packages that changed, side by side, and install them as wheels.

    They have a low priority, as the kernels, which one process compiles, take longer.

    Args:
        ros: Name of the distribution.
        packages: Their folders; none depends on another one of them.

    Raises:
        Missing: a build failed.
    """
    shared = [*(ROOT / "cmake").rglob("*.*"), list_of("build", ros)]
    contents = {
        package: hash_files([*shared, *(path for path in package.rglob("*") if path.is_file())])
        for package in packages
    }
    changed = [package for package in packages if not is_done(package.name, contents[package])]
    if not changed:
        return
    headers = find_headers(BUILD / "headers")
    if headers:  # Debian's pyconfig.h includes another one, by its path below usr/include
        os.environ["CPATH"] = os.pathsep.join(map(str, headers))
    wheels = BUILD / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    with announced(f"Building {', '.join(package.name for package in changed)}"):
        started = [
            (package.name, *start(package.name, ["nice", *wheel_command(package, wheels, headers)]))
            for package in changed
        ]
        for name, process, log in started:
            finish(f"building {name}", process, log)
        built = [str(path) for path in sorted(wheels.glob("*.whl"))]
        install("pip install", "wheels", "--no-deps", "--force-reinstall", *built)
    for package in changed:
        mark_done(package.name, contents[package])


def wheel_command(package: Path, wheels: Path, headers: list[Path]) -> list[str]:
    """Return the command that builds an interface package; its build folder is kept for the next change.

    Args:
        package: The package's folder.
        wheels: The folder for the wheel.
        headers: Folders of Python's C headers, the one with Python.h first; none if Python has its own.
    """
    folder = BUILD / "interfaces" / package.name
    settings = [f"build-dir={folder}"]
    if headers:
        settings.append(f"cmake.define.Python3_INCLUDE_DIR={headers[0]}")
    return python_script("interface_wheel.py", str(wheels), str(package), *settings)


def install_packages() -> None:
    """Install the Python packages of src/ so that edits take effect at once, by path entries."""
    packages = sorted(path.parent for path in (ROOT / "src").glob("*/setup.py"))
    content = hash_files(
        [package / name for package in packages for name in ("setup.py", "setup.cfg")], "commands"
    )
    if is_done("packages", content):
        return
    with announced(f"Installing {len(packages)} packages of src/"):
        commands = [(package.name, name) for package in packages for name in commands_of(package)]
        for package, name in commands:
            unlink_command(package, name)
        wheels = BUILD / "editable"
        shutil.rmtree(wheels, ignore_errors=True)
        command = python_script("editable_wheels.py", str(wheels), *map(str, packages))
        finish("making editable wheels", *start("editable wheels", command))
        made = [str(path) for path in sorted(wheels.glob("*.whl"))]
        install("pip install", "packages", "--no-index", "--no-deps", "--force-reinstall", *made)
        for package in packages:
            link_share(package)
        for package, name in commands:
            link_command(package, name)
    mark_done("packages", content)


def commands_of(package: Path) -> list[str]:
    """Returns the names of the commands that a package's setup.py declares."""
    return re.findall(r'"(\w+) = [\w.]+:main"', (package / "setup.py").read_text(encoding="utf-8"))


def places_of(package: str, name: str) -> tuple[Path, Path]:
    """Returns where a command can be called from: in bin/, and in lib/<package>/ as ROS expects it."""
    return VENV / "bin" / name, VENV / "lib" / package / name


def unlink_command(package: str, name: str) -> None:
    """Removes the links of an earlier set-up: pip would write through one to where another package had the command."""
    for link in places_of(package, name):
        if link.is_symlink():
            link.unlink()


def link_command(package: str, name: str) -> None:
    """Link a command in bin/ and in lib/<package>/, wherever pip has put it; setup.cfg asks for lib/.

    Args:
        package: Name of the package.
        name: Name of the command.

    Raises:
        Missing: pip made no such command.
    """
    unlink_command(package, name)
    places = places_of(package, name)
    made = [path for path in places if path.exists()]
    if not made:
        raise Missing(f"pip made no command {name!r} of {package}: run `make clean` and try again.")
    for link in places:
        if not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(made[0])


def link_share(package: Path) -> None:
    """Make an editable package known to ament_index: a marker, and links from share/ to its data folders.

    Args:
        package: The package's folder.
    """
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


def set_up_moveit(ros: str) -> None:
    """Build the interfaces of MoveIt, which only ``moveit_facade`` uses, after the set-up without them.

    Args:
        ros: Name of the distribution.

    Raises:
        Missing: a step failed.
    """
    with (BUILD / "setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for packages in MOVEIT_INTERFACES:
            build_interfaces(ros, packages)


def set_up_nav2(ros: str) -> None:
    """Build the interface of nav2, which only robots with ``navigate_action`` use, after the set-up without it.

    Args:
        ros: Name of the distribution.

    Raises:
        Missing: the build failed.
    """
    with (BUILD / "setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        build_interfaces(ros, NAV2_INTERFACES)


def set_up(with_dev: bool, for_demo: bool, with_page: bool = False, ros: str = JAZZY) -> None:
    """Do all steps that are not done yet, one run at a time.

    The interfaces are built, and the other wheels downloaded, while the kernels are compiled. A step that fails leaves
    no stamp, and the other threads continue to their end, so that the next run does only what is missing.

    Args:
        with_dev: Also install the requirements of tests and checks.
        for_demo: Leave out the kernels that the demo does not need.
        with_page: Also install what the page in the browser needs.
        ros: Name of the distribution.

    Raises:
        Missing: a step failed.
    """
    if any(os.environ.get(name) for name in ("ROS_DISTRO", "AMENT_PREFIX_PATH")):
        print("A native ROS is sourced: `colcon build` uses it; make goes on with its own wheels in .venv.")
    BUILD.mkdir(exist_ok=True)
    with (BUILD / "setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        make_venv(ros)
        install_build_requirements(ros)
        with ThreadPoolExecutor() as strands:
            strand = strands.submit(build_interfaces, ros)
            install_requirements(("run",), ros)
            install_packages()
            kernels = strands.submit(compile_kernels)
            if with_dev:
                install_requirements(("dev",), ros)
            if with_page:
                install_requirements(("show",), ros)
            kernels.result()
            if not for_demo:
                compile_later_kernels()
            strand.result()


def main() -> int:
    """Set up, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="also install what tests and checks need")
    parser.add_argument("--for-demo", action="store_true", help="leave out the kernels of the decider")
    parser.add_argument("--page", action="store_true", help="also install what the page in the browser needs")
    parser.add_argument("--moveit", action="store_true", help="also build the interfaces of MoveIt")
    parser.add_argument(
        "--nav2", action="store_true", help="also build the interface of nav2; --dev does so too"
    )
    parser.add_argument("--later-kernels", action="store_true", help="only compile these kernels")
    parser.add_argument("--in-background", action="store_true", help="only begin to compile these kernels")
    parser.add_argument("--ros", choices=DISTRIBUTIONS, default=JAZZY, help="distribution of ROS 2")
    arguments = parser.parse_args()
    start_s = time.monotonic()
    try:
        if arguments.in_background:
            begin_later_kernels()
        elif arguments.later_kernels:
            compile_later_kernels()
        else:
            set_up(arguments.dev, arguments.for_demo, arguments.page, arguments.ros)
            if arguments.moveit:
                set_up_moveit(arguments.ros)
            if arguments.nav2 or arguments.dev:
                set_up_nav2(arguments.ros)
    except (Missing, OSError) as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if (processor_s := used.ru_utime + used.ru_stime) > 1.0:
        print(f"Set up in {time.monotonic() - start_s:.0f} s, with {processor_s:.0f} s of processor time.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
