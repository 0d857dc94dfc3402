"""Find Python's C headers, or fetch them from Debian's archive into the build folder, without root."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from machine import Missing

REMEDY = "install them, as in `apt install python3-dev`."


def find_headers(folder: Path) -> list[Path]:
    """Return the folders that the compiler needs; none if Python has its headers.

    Args:
        folder: The folder of fetched headers.

    Raises:
        Missing: There are no headers, and they cannot be fetched.
    """
    own = Path(sysconfig.get_path("include"))
    if (own / "Python.h").is_file():
        return []
    unpacked = [folder / own.relative_to(own.anchor), folder / "usr" / "include"]
    if not (unpacked[0] / "Python.h").is_file():
        fetch_headers(folder)
    if not (unpacked[0] / "Python.h").is_file():
        raise Missing(f"Python's C headers are not installed in {own}, and Debian's do not fit: {REMEDY}")
    return unpacked


def fetch_headers(folder: Path) -> None:
    """Download and unpack Debian's package with the headers of this Python.

    Args:
        folder: The folder of the headers; it is made.

    Raises:
        Missing: There is no apt, or it does not have the package.
    """
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise Missing(f"Python's C headers are not installed, and the interfaces need them: {REMEDY}")
    folder.mkdir(parents=True, exist_ok=True)
    package = f"libpython{sys.version_info.major}.{sys.version_info.minor}-dev"
    print(f"Fetching Python's C headers ({package}), as python3-dev is not installed ...", flush=True)
    try:
        run("apt-get", "download", package, folder=folder)
        for archive in folder.glob("*.deb"):
            run("dpkg-deb", "-x", archive.name, ".", folder=folder)
    except subprocess.CalledProcessError as error:
        lines = (error.stderr.strip() or f"exit code {error.returncode}").splitlines()
        raise Missing(
            f"Python's C headers are not installed, and {package} cannot be fetched ({lines[-1]}): {REMEDY}"
        ) from error


def run(*command: str, folder: Path) -> None:
    """Run a command in a folder, without output.

    Args:
        command: The program and its arguments.
        folder: The folder.

    Raises:
        subprocess.CalledProcessError: The command failed; the error has its output.
    """
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
