"""The tree of the links and joints of a URDF: its order, and a check that it is one tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from handiwork_core.config.dataclass_loader import nearest


@dataclass(frozen=True, slots=True)
class Connection:
    """A joint and the links that it connects."""

    joint: str
    parent: str
    child: str


def tree_order(links: Sequence[str], connections: Sequence[Connection], faults: list[str]) -> list[str]:
    """Return the links in tree order, root first.

    Args:
        links: Names of the links.
        connections: The joints.
        faults: Receives the faults; then the order may be incomplete.
    """
    before = len(faults)
    if not links:
        faults.append("links: there are none; describe the robot's links")
    _check_names("link", links, faults)
    _check_names("joint", [each.joint for each in connections], faults)
    _check_ends(links, connections, faults)
    above: dict[str, list[Connection]] = {}
    for each in connections:
        above.setdefault(each.child, []).append(each)
    for link, joints in above.items():
        if len(joints) > 1:
            names = ", ".join(each.joint for each in joints)
            faults.append(f"link {link}: is the child of {len(joints)} joints, {names}; a tree has one")
    if len(faults) > before:
        return []
    parents = {each.child: each.parent for each in connections}
    return _ordered(links, parents, faults)


def _check_names(what: str, names: Sequence[str], faults: list[str]) -> None:
    for name, count in Counter(names).items():
        if not name:
            faults.append(f"{what}s: {count} have no name; give each one")
        elif count > 1:
            faults.append(f"{what} {name}: is described {count} times; keep one")


def _check_ends(links: Sequence[str], connections: Sequence[Connection], faults: list[str]) -> None:
    for each in connections:
        for end, name in (("parent", each.parent), ("child", each.child)):
            if name not in links:
                text = f"{end} link {name!r} does not exist; {nearest(name, links)}"
                faults.append(f"joint {each.joint}: {text}")


def _ordered(links: Sequence[str], parents: dict[str, str], faults: list[str]) -> list[str]:
    roots = [link for link in links if link not in parents]
    children: dict[str, list[str]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    order = list(roots)
    for link in order:
        order.extend(children.get(link, []))
    if len(roots) > 1:
        faults.append(f"links: {roots} have no parent; a tree has one root, so connect the others by joints")
    left = [link for link in links if link not in order]
    while left:
        ring = _ring(left[0], parents)
        faults.append(f"links: {' > '.join([*ring, ring[0]])} form a cycle; break it at one joint")
        left = [link for link in left if _ring(link, parents)[0] not in ring]
    return order


def _ring(link: str, parents: dict[str, str]) -> list[str]:
    """Return the cycle above a link, from parent to child."""
    seen: list[str] = []
    while link not in seen:
        seen.append(link)
        link = parents[link]
    return seen[seen.index(link) :][::-1]
