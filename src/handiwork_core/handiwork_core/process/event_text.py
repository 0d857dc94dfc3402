"""Log lines that programs can read: an event and its fields as ``key=value`` words (logfmt)."""

from __future__ import annotations

import json
import re

_PLAIN = re.compile(r"[A-Za-z0-9_./:+-]+")
MOST_CHARACTERS = 400
"""A longer value is cut, so that no goal can fill a log."""


def event_text(event: str, **fields: str | int | float | bool | None) -> str:
    """Return ``event=... key=value ...``; fields that are None or empty are left out.

    Args:
        event: The event in a few words.
        **fields: Its details. Text that is not one plain word is quoted as in JSON.
    """
    words = [("event", event), *((key, value) for key, value in fields.items() if value not in (None, ""))]
    return " ".join(f"{key}={_value(value)}" for key, value in words)


def _value(value: str | int | float | bool | None) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value)
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS] + "..."
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
