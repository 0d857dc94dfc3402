"""The requirement lists of a ROS distribution. They are written for Jazzy; those of others differ in versions alone."""

from __future__ import annotations

import re
from pathlib import Path

from steps import BUILD, ROOT

REQUIREMENTS = ROOT / "requirements"
JAZZY = "jazzy"
DISTRIBUTIONS = (JAZZY, "kilted")
PIN = re.compile(r"^(?P<name>ros-[a-z0-9-]+)(?P<extra>\[[a-z]+\])?==\S+", re.MULTILINE)


def list_of(name: str, ros: str) -> Path:
    """Return a requirement list with the versions of a distribution.

    Args:
        name: Name of a file in ``requirements``, without its ending.
        ros: Name of the distribution.

    Returns:
        The file itself for Jazzy; for others one below ``build``, which is written where it is not up to date. It has
        the packages of ``<distribution>-<name>.txt`` besides, if there is such a file.
    """
    path = REQUIREMENTS / f"{name}.txt"
    if ros == JAZZY:
        return path
    text = with_versions(path.read_text(encoding="utf-8"), versions_of(ros))
    more = REQUIREMENTS / f"{ros}-{name}.txt"
    if more.exists():
        text += more.read_text(encoding="utf-8")
    made = BUILD / "requirements" / ros / path.name
    if not made.exists() or made.read_text(encoding="utf-8") != text:
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(text, encoding="utf-8")
    return made


def versions_of(ros: str) -> dict[str, str]:
    """Return the versions of a distribution's packages, where they differ from Jazzy's.

    Args:
        ros: Name of the distribution.
    """
    text = (REQUIREMENTS / f"{ros}.txt").read_text(encoding="utf-8")
    pairs = (line.split("==") for line in text.splitlines() if line.startswith("ros-"))
    return {name: version.strip() for name, version in pairs}


def with_versions(text: str, versions: dict[str, str]) -> str:
    """Return a requirement list with other versions.

    Args:
        text: The list.
        versions: Versions by package.
    """

    def pinned(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in versions:
            return found[0]
        return f"{name}{found['extra'] or ''}=={versions[name]}"

    return PIN.sub(pinned, text)
