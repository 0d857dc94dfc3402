"""``handiwork launch`` as a process of its own, as a user starts it, and the processes that it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from handiwork_cli.launch_files.package_paths import share_of

END_S = 20.0
"""Longest wait for the end of everything; each process gets SIGKILL after ten seconds."""


def is_running(pid: int) -> bool:
    """Check whether a process exists and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children_of(pid: int) -> set[int]:
    """Return the processes that a process has started and that run."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found |= {int(child) for child in task.read_text().split()}
        except (FileNotFoundError, ProcessLookupError):  # the thread has ended meanwhile
            continue
    return {child for child in found if is_running(child)}


def descendants_of(pid: int) -> set[int]:
    """Return the processes below a process that run."""
    children = children_of(pid)
    return children.union(*map(descendants_of, children))


class Started:
    """The running command; ``output`` is all of its output so far."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process, self._log = process, log

    @property
    def output(self) -> str:
        """Return the output of the command and its nodes."""
        return self._log.read_text(errors="replace")

    def exit_code(self, timeout_s: float = END_S) -> int:
        """Wait for the end."""
        return self.process.wait(timeout_s)

    def children(self) -> set[int]:
        """Return the processes that the command has started and that run."""
        return children_of(self.process.pid)


@contextmanager
def launched(log: Path, arguments: dict[str, str], file: str = "bringup.launch.xml") -> Iterator[Started]:
    """Start the whole stack, or another launch file, by the command line; it is ended in any case."""
    command = [str(Path(sys.executable).parent / "handiwork"), "launch", "handiwork_bringup"]
    words = [f"{name}:={value}" for name, value in arguments.items()]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, file, *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Started(process, log)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()  # the kernel then kills its children
                process.wait(END_S)


def from_folder(path: Path, package: str, folder: str) -> str:
    """Return the value of a launch argument that names a file in a package's folder, for a path elsewhere."""
    return os.path.relpath(path.resolve(), (share_of(package) / folder).resolve())
