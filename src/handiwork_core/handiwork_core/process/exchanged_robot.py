"""The robot that a node got while it ran, for the next process of that node under the same launch. No ROS.

Launch starts a node that ended again with the parameters of the first start. Without this record it would come back
with the tool that is no longer on the arm.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from .domain import node_file_name, runtime_folder


def note_exchange(domain_id: int, full_name: str, launched: str, current: str) -> None:
    """Note which robot a node has now, for the next process of the node that this process's parent starts.

    Args:
        domain_id: The DDS domain.
        full_name: Name of the node, with its namespace.
        launched: ``robot_dir`` as the parent gave it.
        current: ``robot_dir`` now; the same removes the note.

    Raises:
        DomainError: There is no folder for notes.
        OSError: The note cannot be written.
    """
    path = _file(domain_id, full_name)
    if launched == current:
        path.unlink(missing_ok=True)
        return
    words = {"parent": _parent(), "launched": launched, "current": current}
    new = path.with_suffix(".new")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "w") as stream:
        json.dump(words, stream)
    new.replace(path)


def noted_exchange(domain_id: int, full_name: str, launched: str) -> str:
    """Return the robot that an earlier process of a node had at its end.

    Args:
        domain_id: The DDS domain.
        full_name: Name of the node, with its namespace.
        launched: ``robot_dir`` as the parent gave it.

    Returns:
        Its ``robot_dir``; ``launched`` when nothing is noted, or another parent process or ``robot_dir`` was noted.

    Raises:
        DomainError: There is no folder for notes.
    """
    try:
        words = json.loads(_file(domain_id, full_name).read_text())
    except (OSError, ValueError):
        return launched
    known = {"parent": _parent(), "launched": launched}
    if not isinstance(words, dict) or not known["parent"] or known != {key: words.get(key) for key in known}:
        return launched
    return str(words.get("current", launched))


def _file(domain_id: int, full_name: str) -> Path:
    return runtime_folder() / f"handiwork_{node_file_name(domain_id, full_name)}.robot.json"


def _parent() -> str:
    """Return what tells the parent process from every other one: its id, its start in clock ticks, and the boot."""
    pid = os.getppid()
    try:
        # The second field is the name of the program, which may contain spaces and brackets.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
    return f"{pid} {fields[19]} {boot}"
