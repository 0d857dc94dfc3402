"""Which version of Isaac Sim runs, and which graph it gets."""

from __future__ import annotations

import re

from isaac_bridge.graph.ogn_schema import V5_1, V6_0


class UnsupportedError(Exception):
    """One sentence for the user."""


def graph_version(text: str) -> str:
    """The version whose graph goes for this one: ``5.1.0-rc.19`` is 5.1, every 6.x is 6.0.

    Raises:
        UnsupportedError: there is none.
    """
    found = re.match(r"(\d+)\.(\d+)", text)
    if found is None:
        raise UnsupportedError(f"Isaac Sim tells no version but {text!r}, so install 5.1 or 6.x.")
    major, minor = int(found[1]), int(found[2])
    if (major, minor) == (5, 1):
        return V5_1
    if major == 6:
        return V6_0
    if (major, minor) < (5, 1):
        raise UnsupportedError(
            f"Isaac Sim {major}.{minor} is too old, since its grippers or its bridge differ: install 5.1 or 6.x."
        )
    raise UnsupportedError(
        f"Isaac Sim {major}.{minor} is newer than what this script knows: install 5.1 or 6.x."
    )
