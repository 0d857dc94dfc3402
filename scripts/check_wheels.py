"""Install the wheels of dist/ alone into an empty environment, and run the demo there: `make check-wheels`.

All other packages come from the package index, in the versions of requirements/lock.txt. The demo runs in a temporary
folder, without the environment variables of another ROS, and must end with the monitor's verdict TRUE.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from kernels import kernel_commands

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PLACE = """
import sys
from pathlib import Path
import handiwork, handiwork_bringup, handiwork_msgs
for name in handiwork.__all__:
    getattr(handiwork, name)
for package in (handiwork, handiwork_bringup, handiwork_msgs):
    assert Path(package.__file__).is_relative_to(sys.prefix), package.__file__
"""
"""A check that every public name loads, and that nothing comes from the source tree."""
KEPT = (
    "HOME",
    "LANG",
    "PATH",
    "TMPDIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "ROS_DOMAIN_ID",
)


def environment() -> dict[str, str]:
    """Return this process's variables that are the machine's, with pip's settings and no ROS."""
    return {name: value for name, value in os.environ.items() if name in KEPT or name.startswith("PIP_")}


def run(folder: Path, *command: str | Path) -> None:
    """Run a command in a folder.

    Args:
        folder: The folder.
        command: The program and its arguments.

    Raises:
        subprocess.CalledProcessError: The command failed.
    """
    words = list(map(str, command))
    print("$", Path(words[0]).name, *words[1:3], "...", flush=True)
    subprocess.run(words, cwd=folder, env=environment(), check=True)


def check(folder: Path, wheels: list[Path]) -> None:
    """Install the wheels into folder/venv and run the demo.

    Args:
        folder: An empty folder.
        wheels: The wheels.

    Raises:
        subprocess.CalledProcessError: A step failed.
        FileNotFoundError: The demo wrote no film.
    """
    run(folder, sys.executable, "-m", "venv", "venv")
    python = folder / "venv" / "bin" / "python"
    # dist/ is the only source of our own names: a file that is named is never taken from the index.
    lock = ROOT / "requirements" / "lock.txt"
    run(folder, python, "-m", "pip", "install", "--quiet", "--prefer-binary", "-c", lock, *wheels)
    run(folder, python, "-c", PLACE)
    robot = folder / "venv" / "share" / "robot_description" / "robots" / "fr3"
    for stage in kernel_commands(python, robot):
        for command in stage.values():
            run(folder, *command)
    run(folder, python.with_name("handiwork"), "demo", "--out", folder / "out")
    film = folder / "out" / "demo.webp"
    if not film.is_file():
        raise FileNotFoundError(f"the demo wrote no film to {film}")


def main() -> int:
    """Check the wheels, and return the exit status."""
    wheels = sorted(DIST.glob("*.whl"))
    if not wheels:
        print("check_wheels: dist/ has no wheels; run `make wheels`", file=sys.stderr)
        return 1
    folder = Path(tempfile.mkdtemp(prefix="handiwork-wheels-"))
    try:
        check(folder, wheels)
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"check_wheels: {error}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(wheels)} wheels: installed alone, the demo works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
