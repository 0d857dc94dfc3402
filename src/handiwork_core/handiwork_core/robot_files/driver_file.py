"""The driver of an arm as ``robot.yaml`` writes it, and the names of controllers and actions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from handiwork_core.robot.driver import DRIVERS, Driver

NAME = re.compile(r"/?[A-Za-z][A-Za-z0-9_]*(/[A-Za-z][A-Za-z0-9_]*)*")


def check_name(key: str, name: str) -> None:
    """Check the name of a controller or an action.

    Args:
        key: Its key in the file.
        name: The name; empty for the usual one.

    Raises:
        ValueError: It is no name of ROS.
    """
    if name and not NAME.fullmatch(name):
        raise ValueError(f"{key}: is {name[:80]!r}; write letters, digits and _, with / between parts")


@dataclass(frozen=True, slots=True)
class DriverFile:
    """A driver as written: its name, and what comes before the names of its topics, such as ``left/``."""

    name: str
    prefix: str = ""

    def __post_init__(self) -> None:
        if self.name not in DRIVERS:
            raise ValueError(f"name: is {self.name[:80]!r}; write one of {', '.join(sorted(DRIVERS))}")
        check_name("prefix", self.prefix.removesuffix("/"))

    def build(self) -> Driver:
        """Return the driver as a value."""
        return replace(DRIVERS[self.name], prefix=self.prefix)
