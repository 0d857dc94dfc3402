"""Access to files that other processes may name: regular ones only, of bounded size, and below configured folders.

Opening a pipe waits for its other end, ``/dev/zero`` never ends, and an error that differs between a missing and a
forbidden file discloses which files exist.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
CHUNK = 1 << 20


class FileRefused(ValueError):
    """The file is not read; the message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class DataRoots:
    """Folders below which files may be read for other processes.

    Symbolic links are followed, and must lead to a place below one of the folders as well.
    """

    folders: tuple[Path, ...]

    @staticmethod
    def of(folders: Iterable[str | Path]) -> DataRoots:
        """Return roots from paths, with ``~`` and links resolved.

        Args:
            folders: The paths; an empty text is left out.
        """
        found = (Path(folder).expanduser().resolve() for folder in folders if str(folder))
        return DataRoots(tuple(dict.fromkeys(found)))

    def locate(self, name: str) -> Path:
        """Return the absolute path of a regular file that can be read and lies below a root.

        Args:
            name: A path; a relative one is searched below each root, in their order.

        Raises:
            FileRefused: The file lies outside, is missing, cannot be read, or is not a regular file. The message is the
                same for all of these, so that it does not disclose which files exist.
        """
        for candidate in self._candidates(name):
            try:
                path = candidate.resolve()
                if not self._holds(path):
                    continue
                with _opened(path) as file:
                    # A folder may have been replaced by a link since the path was resolved.
                    if self._holds(Path(f"/proc/self/fd/{file.fileno()}").readlink()):
                        return path
            except (OSError, ValueError, RuntimeError):
                continue
        folders = ", ".join(str(folder) for folder in self.folders) or "none"
        raise FileRefused(
            f"{name[:200]!r} is not a readable file below the data folders ({folders}); put it there, or add its "
            "folder to the parameter data_roots"
        )

    def _candidates(self, name: str) -> list[Path]:
        path = Path(name)
        return [path] if path.is_absolute() else [folder / path for folder in self.folders]

    def _holds(self, path: Path) -> bool:
        return any(path.is_relative_to(folder) for folder in self.folders)


def data_roots(parameter: str, *own: Path) -> DataRoots:
    """Return the roots of a node.

    Args:
        parameter: The node's parameter ``data_roots``: folders, separated by colons.
        own: Further folders, such as that of the robot.

    Returns:
        These, the folders of the environment variable ``HANDIWORK_DATA``, separated by colons as well, and the share
        folders of the ROS packages.
    """
    given = [*parameter.split(os.pathsep), *os.environ.get("HANDIWORK_DATA", "").split(os.pathsep)]
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    shares = [Path(prefix) / "share" for prefix in prefixes if prefix]
    return DataRoots.of([*(folder.strip() for folder in given), *own, *shares])


def read_bytes(path: Path, most_bytes: int) -> bytes:
    """Return the content of a regular file.

    Args:
        path: The file; links are followed.
        most_bytes: Greatest size that is read.

    Raises:
        FileRefused: The file cannot be opened, is not a regular file, or is larger.
    """
    try:
        with _opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > most_bytes:
                raise FileRefused(f"has {size} bytes; at most {most_bytes} are read, make it smaller")
            return _content(file, most_bytes)
    except OSError as error:
        raise FileRefused(f"cannot be read: {error.strerror}; check the path") from error


def check_file(path: Path, most_bytes: int) -> None:
    """Check a file that a library reads, with the rules of ``read_bytes``.

    Args:
        path: The file; links are followed.
        most_bytes: Greatest size that is allowed.

    Raises:
        FileRefused: The file cannot be opened, is not a regular file, or is larger.
    """
    try:
        with _opened(path) as file:
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise FileRefused(f"cannot be read: {error.strerror}; check the path") from error
    if size > most_bytes:
        raise FileRefused(f"has {size} bytes; at most {most_bytes} are read, make it smaller")


def _content(file: BinaryIO, most_bytes: int) -> bytes:
    """Return all bytes; files of ``/proc`` have no size, and another process may write while this one reads."""
    parts, count = list[bytes](), 0
    while part := file.read(CHUNK):
        parts.append(part)
        count += len(part)
        if count > most_bytes:
            raise FileRefused(f"has more than {most_bytes} bytes; make it smaller")
    return b"".join(parts)


def _opened(path: Path) -> BinaryIO:
    """Open a regular file without waiting for another process.

    Raises:
        OSError: The file cannot be opened.
        FileRefused: The path is a folder, a pipe, a socket or a device.
    """
    try:
        # Opening a device can have effects, and the opened file may be another one than the file checked before.
        if stat.S_ISREG(path.stat().st_mode):
            number = os.open(path, FLAGS)
            if stat.S_ISREG(os.fstat(number).st_mode):
                return os.fdopen(number, "rb")
            os.close(number)
    except ValueError as error:
        raise FileRefused(f"has no valid name: {error}; check the path") from error
    raise FileRefused("is not a regular file; name one")
