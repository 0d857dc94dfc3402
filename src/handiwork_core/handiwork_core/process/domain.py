"""Leases of DDS domains and of node names in them, so that two runs on one machine do not meet by accident."""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

DOMAIN = "ROS_DOMAIN_ID"
DOMAIN_IDS = range(20, 100)
"""The domains that are leased; higher ones would use the kernel's ephemeral ports."""

GREATEST_DOMAIN_ID = 232
"""The largest domain by the mapping from domains to UDP ports in the DDS-RTPS specification."""

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class DomainError(RuntimeError):
    """A domain or a node name in it is in use, or leases cannot be stored; the message says what to do."""


class NameHeldError(DomainError):
    """A live process on this machine is a node of this name."""


class Lease:
    """Locked files. The lease ends with ``close``, or when the process ends in any way.

    Args:
        domain_id: The domain.
    """

    def __init__(self, domain_id: int) -> None:
        self.domain_id = domain_id
        self._files: list[int] = []

    def add(self, file: int) -> None:
        """Add a locked file.

        Args:
            file: Its descriptor.
        """
        self._files.append(file)

    def close(self) -> None:
        """Release all files."""
        while self._files:
            os.close(self._files.pop())

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def lease_domain() -> Lease:
    """Return a lease of the user's ROS_DOMAIN_ID, which needs no file, or else of a free domain.

    Raises:
        DomainError: All are taken, or ROS_DOMAIN_ID is no domain.
    """
    return Lease(current_domain_id()) if os.environ.get(DOMAIN) else lease_free_domain()


def lease_free_domain() -> Lease:
    """Lease the first domain that no other run of this user holds.

    Raises:
        DomainError: All are taken.
    """
    folder = _open_folder()
    try:
        for domain_id in DOMAIN_IDS:
            file = _lock(folder, f"domain_{domain_id}.lock", fcntl.LOCK_EX)
            if file is not None:
                lease = Lease(domain_id)
                lease.add(file)
                return lease
    finally:
        os.close(folder)
    raise DomainError(
        f"all DDS domain ids {DOMAIN_IDS.start} to {DOMAIN_IDS.stop - 1} are in use; end another run"
    )


def lease_nodes(domain_id: int, full_names: Iterable[str]) -> Lease:
    """Lease the names of nodes that will run in a domain.

    Args:
        domain_id: The domain.
        full_names: Names of the nodes, each with its namespace.

    Raises:
        DomainError: Another process of this user runs one of them; the message names its process id.
    """
    lease, folder = Lease(domain_id), _open_folder()
    try:
        for name in sorted(set(full_names)):
            file_name = f"{node_file_name(domain_id, name)}.lock"
            file = _lock(folder, file_name, fcntl.LOCK_EX)
            if file is None:
                lease.close()
                raise DomainError(
                    f"{name} runs already in DDS domain {domain_id}, started by the process with the pid "
                    f"{_holder(folder, file_name)}; end that one, or set {DOMAIN} to another number"
                )
            lease.add(file)
        # Runs that look for a free domain skip this one. It may belong to the run that started this process.
        if (shared := _lock(folder, f"domain_{domain_id}.lock", fcntl.LOCK_SH)) is not None:
            lease.add(shared)
    finally:
        os.close(folder)
    return lease


def lease_node(domain_id: int, full_name: str) -> Lease:
    """Lease the name of a node for the process that is this node, beside the lease of the run that launched it.

    Unlike discovery it finds another process of the name at once, however busy the machine is, and also one that is
    stopped, but only one of this user on this machine.

    Args:
        domain_id: The domain.
        full_name: Name of the node, with its namespace.

    Raises:
        NameHeldError: Another process holds it; the message names its process id.
        DomainError: Leases cannot be stored.
    """
    lease, folder, file_name = (
        Lease(domain_id),
        _open_folder(),
        f"{node_file_name(domain_id, full_name)}.node.lock",
    )
    try:
        file = _lock(folder, file_name, fcntl.LOCK_EX)
        if file is None:
            raise NameHeldError(
                f"{full_name} runs already in this DDS domain as pid {_holder(folder, file_name)} on "
                f"{platform.node()}; end that process, or start this one with another {DOMAIN} or namespace"
            )
        lease.add(file)
    finally:
        os.close(folder)
    return lease


def node_file_name(domain_id: int, full_name: str) -> str:
    """Return the part that the names of all files of a node in ``runtime_folder`` have.

    Args:
        domain_id: The DDS domain.
        full_name: Name of the node, with its namespace.
    """
    return f"domain_{domain_id}_{full_name.strip('/').replace('/', '.')}"


def current_domain_id() -> int:
    """Return the domain of ROS_DOMAIN_ID, 0 when it is not set.

    Raises:
        DomainError: It is no domain.
    """
    text = os.environ.get(DOMAIN) or "0"
    if not text.isdecimal() or int(text) > GREATEST_DOMAIN_ID:
        raise DomainError(f"{DOMAIN} is {text!r}; set it to a number from 0 to {GREATEST_DOMAIN_ID}")
    return int(text)


def runtime_folder() -> Path:
    """Return the folder of the leases, which belongs to this user and is writable for no other.

    Raises:
        DomainError: There is none, and one in the folder for temporary files is not this user's alone.
    """
    user = os.getuid()
    given = os.environ.get("XDG_RUNTIME_DIR")
    for path in (Path(given) if given else None, Path(f"/run/user/{user}")):
        if path is not None and path.is_absolute() and not _fault(path):
            return path
    try:
        own = Path(tempfile.gettempdir()) / f"handiwork-{user}"
        with contextlib.suppress(FileExistsError):
            own.mkdir(mode=0o700)
    except OSError as error:
        text = f"there is no folder for leases ({error.strerror}); set XDG_RUNTIME_DIR to one of your own"
        raise DomainError(text) from error
    if fault := _fault(own):
        raise DomainError(f"{own} {fault}; remove it, or set XDG_RUNTIME_DIR to a folder of your own")
    return own


def _fault(path: Path) -> str:
    """Return why a folder is not this user's alone, empty when it is."""
    try:
        found = path.lstat()
    except OSError as error:
        return f"cannot be looked at ({error.strerror})"
    if not stat.S_ISDIR(found.st_mode):
        return "is no folder"
    if found.st_uid != os.getuid():
        return f"belongs to the user with the id {found.st_uid}"
    return f"has the mode {stat.S_IMODE(found.st_mode):o} instead of 700" if found.st_mode & 0o077 else ""


def _open_folder() -> int:
    path = runtime_folder()
    try:
        return os.open(path, FOLDER_FLAGS)
    except OSError as error:
        raise DomainError(f"{path} cannot be opened ({error.strerror})") from error


def _lock(folder: int, file_name: str, kind: int) -> int | None:
    """Return the descriptor of a locked file; None while another process holds it.

    Raises:
        DomainError: There is something else, such as a link.
    """
    name = f"handiwork_{file_name}"
    try:
        file = os.open(name, FILE_FLAGS, 0o600, dir_fd=folder)
    except OSError as error:
        raise DomainError(
            f"{runtime_folder() / name} is not a file of Handiwork ({error.strerror}); remove it"
        ) from error
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_nlink != 1:
            raise DomainError(f"{runtime_folder() / name} is not a file of Handiwork; remove it")
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    except DomainError:
        os.close(file)
        raise
    if kind == fcntl.LOCK_EX:
        os.ftruncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)
    return file


def _holder(folder: int, file_name: str) -> str:
    try:
        file = os.open(f"handiwork_{file_name}", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return "unknown"
    try:
        text = os.pread(file, 32, 0).decode(errors="replace")
    finally:
        os.close(file)
    return text if text.isdecimal() else "unknown"
