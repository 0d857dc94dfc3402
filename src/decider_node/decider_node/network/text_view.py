"""The network as text: the tree, the active path, and the locks."""

from __future__ import annotations

from .decider import C, Decider
from .network import Network


def draw(network: Network[C]) -> str:
    """Return a line for each decider; ``>`` marks the active path, ``#`` a lock.

    Args:
        network: The network. A child that is shared is listed under each of its parents.
    """
    path = network.descent.path
    lines: list[str] = []

    def add(decider: Decider[C], depth: int, name: str, is_under_path: bool) -> None:
        is_active = is_under_path and depth < len(path) and path[depth] is decider
        mark = ">" if is_active else " "
        lock = " #" if decider in network.descent.locks else ""
        lines.append(f"{mark} {'  ' * depth}{name}{lock}")
        for key, child in decider.children.items():
            add(child, depth + 1, key, is_active)

    add(network.descent.root, 0, network.descent.root.name, True)
    if network.error is not None:
        lines.append(f"stopped: {network.error}")
    return "\n".join(lines)
