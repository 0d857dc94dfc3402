"""Whose defaults hold in a task file: ours, or those of the SimBox format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from handiwork_core.config.dataclass_loader import shown

AddMessage = Callable[[str, str], None]
"""Receives the path of a key, and a text about it."""
FORMATS = ("handiwork", "simbox")


def is_simbox(body: Mapping[str, Any], prefix: str, fault: AddMessage, note: AddMessage) -> bool:
    """Decide whether a task is one of the SimBox format; that it is, is noted.

    Args:
        body: The task.
        prefix: Path of the task in the file; empty where it is not below ``tasks``, as that format has it.
        fault: Receives a ``format`` that is none.
        note: Receives that the task is read as SimBox.

    Returns:
        True when the format's defaults hold.
    """
    meant = body.get("format", "simbox" if prefix else "handiwork")
    if meant not in FORMATS:
        fault(f"{prefix}format", f"is {shown(meant)}; write {' or '.join(FORMATS)}")
    if meant == "simbox":
        text = "is read as SimBox, so what an entry leaves out has that format's default"
        note(f"{prefix}format", f"{text}; write format: handiwork for ours")
    return bool(meant == "simbox")
