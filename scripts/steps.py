"""Steps of the set-up: commands with log files, and stamps of the steps that are done."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from machine import Missing

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
BUILD = ROOT / "build"
STAMPS = VENV / "stamps"
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
CLEAR = "\r\x1b[K"
"""Ends the line of a terminal that is written again and again."""
ONE_INSTALLATION = threading.Lock()
"""Held while pip writes into the environment, as two of them would read each other's half-written metadata."""


def clean_environment() -> dict[str, str]:
    """Return the environment for the build: the venv first, no other ROS."""
    environment = {name: value for name, value in os.environ.items() if name not in OTHER_ROS}
    environment["VIRTUAL_ENV"] = str(VENV)
    environment["PATH"] = f"{VENV / 'bin'}{os.pathsep}{environment.get('PATH', os.defpath)}"
    return environment


def hash_files(files: Iterable[Path], *words: str) -> str:
    """Return a hash of the files' names and contents, and of some words.

    Args:
        files: Files of the repository.
        words: The words.
    """
    digest = hashlib.sha256(repr((sys.version_info[:2], words)).encode())
    for path in sorted(files):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_done(step: str, content: str) -> bool:
    """Check whether a step was done with this content.

    Args:
        step: Name of the step.
        content: Hash of all that the step depends on.
    """
    stamp = STAMPS / step
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == content


def mark_done(step: str, content: str) -> None:
    """Write the stamp of a step that was done.

    Args:
        step: Name of the step.
        content: Hash of all that the step depends on.
    """
    STAMPS.mkdir(exist_ok=True)
    (STAMPS / step).write_text(content, encoding="utf-8")


class RunningSteps:
    """The steps that run now: in a terminal one line that counts their seconds, elsewhere a line at begin and end.

    The venv, and with it every library for this, is made by these steps.

    Args:
        stream: Where they are shown.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._lock = stream, threading.Lock()
        self._begun_s: dict[str, float] = {}
        self._done = 0
        self._turn = threading.Condition(self._lock)

    @contextmanager
    def shown(self, what: str) -> Iterator[None]:
        """Show a step while it runs.

        Args:
            what: Name of the step.

        Yields:
            Nothing.
        """
        is_terminal = self._stream.isatty()
        with self._turn:
            is_first = not self._begun_s
            self._begun_s[what] = begun_s = time.monotonic()
            if not is_terminal:
                self._write(f"{what} ...\n")
        if is_terminal and is_first:
            threading.Thread(target=self._count, name="running-steps", daemon=True).start()
        try:
            yield
        except BaseException:
            with self._turn:
                self._end(what, "")
            raise
        with self._turn:
            self._end(what, f"{what}: {time.monotonic() - begun_s:.0f} s\n")

    def _end(self, what: str, line: str) -> None:
        del self._begun_s[what]
        self._done += bool(line)
        self._write(f"{CLEAR if self._stream.isatty() else ''}{line}")
        self._turn.notify_all()

    def _count(self) -> None:
        with self._turn:
            while self._begun_s:
                now_s = time.monotonic()
                running = ", ".join(f"{what} {now_s - at_s:.0f} s" for what, at_s in self._begun_s.items())
                width = shutil.get_terminal_size().columns - 1
                self._write(f"{CLEAR}{f'{self._done} steps done; {running}'[:width]}")
                self._turn.wait(1.0)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


RUNNING = RunningSteps(sys.stdout)


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Print that a step begins, and afterwards its duration; steps may run side by side, so each line names its step.

    Args:
        what: Name of the step.

    Yields:
        Nothing.
    """
    with RUNNING.shown(what):
        yield


def start(name: str, command: list[str]) -> tuple[subprocess.Popen[bytes], Path]:
    """Start a command in the clean environment; its output goes to a log file.

    Args:
        name: The name of the log file.
        command: The program and its arguments.

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
    """Wait for a started command.

    Args:
        name: Name of the command for the message.
        process: The started process.
        log: Its log file.

    Raises:
        Missing: The command failed; the end of its log is shown before.
    """
    if process.wait() == 0:
        return
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-LINES_OF_LOG:]
    print(f"{name} failed", *tail, sep="\n", flush=True)
    raise Missing(f"{name} failed: the lines above have the reason, {log.relative_to(ROOT)} has all of them.")


def pip(*arguments: str) -> list[str]:
    """Return a pip command of the venv.

    Args:
        arguments: Arguments of pip.
    """
    return [str(VENV / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", *arguments]


def python_script(name: str, *arguments: str) -> list[str]:
    """Return a command that runs a script of this folder in the venv.

    Args:
        name: File name of the script.
        arguments: Arguments of the script.
    """
    return [str(VENV / "bin" / "python"), str(Path(__file__).with_name(name)), *arguments]


def install(name: str, log: str, *arguments: str) -> None:
    """Install by pip, one installation at a time.

    Python compiles modules at their first import: a third of the installed ones is never imported.

    Args:
        name: Name of the packages for the message of a failure.
        log: The name of the log file.
        arguments: Arguments of pip's ``install``.

    Raises:
        Missing: pip failed.
    """
    with ONE_INSTALLATION:
        finish(name, *start(log, pip("install", "--no-compile", *arguments)))
