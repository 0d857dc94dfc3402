"""The driver of an arm as ``robot.yaml`` writes it, and the names of controllers and actions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from handiwork_core.robot.driver import DRIVERS, Driver
from handiwork_core.robot.robot import ArmSpec, GripperAction

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


@dataclass(frozen=True, slots=True)
class GripperDriverFile:
    """The action of a gripper as a robot that is like another one writes it."""

    action: str
    action_type: GripperAction = GripperAction.PARALLEL

    def __post_init__(self) -> None:
        check_name("action", self.action)


@dataclass(frozen=True, slots=True)
class ArmDriverFile:
    """The names of an arm's controllers and its driver as a robot that is like another one writes them."""

    controller: str = ""
    hardware_controller: str = ""
    driver: DriverFile | None = None
    gripper: GripperDriverFile | None = None

    def __post_init__(self) -> None:
        check_name("controller", self.controller)
        check_name("hardware_controller", self.hardware_controller)

    def applied(self, arm: ArmSpec) -> ArmSpec:
        """Return an arm with these names; those that are empty stay.

        Args:
            arm: The arm.
        """
        gripper = arm.gripper
        if self.gripper is not None and gripper is not None:
            gripper = replace(gripper, action=self.gripper.action, action_type=self.gripper.action_type)
        return replace(
            arm,
            controller_name=self.controller or arm.controller_name,
            hardware_controller_name=self.hardware_controller or arm.hardware_controller_name,
            driver=self.driver.build() if self.driver is not None else arm.driver,
            gripper=gripper,
        )
