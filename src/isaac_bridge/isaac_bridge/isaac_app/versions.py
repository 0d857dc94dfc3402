"""The graph for each version of Isaac Sim."""

from __future__ import annotations

import re

from isaac_bridge.graph.ogn_schema import V5_1, V6_0


class UnsupportedError(Exception):
    """This version of Isaac Sim cannot be used; the message is one sentence for the user."""


def graph_version(text: str) -> str:
    """Return the version whose graph is used for a version: ``5.1.0-rc.19`` is 5.1, every 6.x is 6.0.

    Args:
        text: Version of Isaac Sim.

    Raises:
        UnsupportedError: There is none.
    """
    found = re.match(r"(\d+)\.(\d+)", text)
    if found is None:
        raise UnsupportedError(f"Isaac Sim's version {text!r} cannot be read: install 5.1 or 6.x.")
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
