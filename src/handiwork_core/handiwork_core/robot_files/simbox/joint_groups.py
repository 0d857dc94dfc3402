"""The joints and links of the fields of a robot file: groups of indices, and paths of links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.robot.robot import ArmSpec, Robot

from .robot_fields import SIDES


def arm_of_side(robot: Robot, side: str) -> ArmSpec | None:
    """Return the arm of a side: the only one with the side in its name; ``left`` is also a single arm.

    Args:
        robot: The robot.
        side: ``left`` or ``right``.

    Returns:
        The arm; None if there is none, or more than one.
    """
    sided = [arm for name, arm in robot.arms.items() if side in name]
    if not sided and side == "left" and len(robot.arms) == 1:
        sided = list(robot.arms.values())
    return sided[0] if len(sided) == 1 else None


def arms_by_side(robot: Robot) -> dict[str, ArmSpec]:
    """Return the arms that the format can name.

    Args:
        robot: The robot.

    Returns:
        Arms by side, ``left`` or ``right``.
    """
    found = {side: arm_of_side(robot, side) for side in SIDES}
    return {side: arm for side, arm in found.items() if arm is not None}


def link_of(robot: Robot, path: str) -> str | None:
    """Return the link of a path of the format: by its last words, joined, or by a name of ``simbox.links``.

    Args:
        robot: The robot.
        path: Words separated by slashes.

    Returns:
        Name of the link; None if there is none.
    """
    words = [word for word in path.split("/") if word]
    tried = ["_".join(words[-count:]) for count in range(len(words), 0, -1)]
    renamed = robot.simbox.links if robot.simbox is not None else {}
    for name in tried:
        if (link := renamed.get(name, name)) in robot.links:
            return link
    return None


@dataclass
class JointGroups:
    """Reads indices of a robot; every index belongs to one group, and to the joint that ``robot.yaml`` assigns."""

    robot: Robot
    faults: list[str]
    taken: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._joint_at: Mapping[int, str] = {}
        if self.robot.simbox is not None:
            self._joint_at = {index: joint for joint, index in self.robot.simbox.indices.items()}

    def take(self, name: str, indices: Sequence[int]) -> None:
        """Record the indices of a field; add a fault for each that is negative or taken.

        Args:
            name: Name of the field.
            indices: Its indices.
        """
        for i, index in enumerate(indices):
            if index < 0:
                self.faults.append(f"{name}[{i}]: is {index}; an index is 0 or more")
            elif index in self.taken:
                self.faults.append(
                    f"{name}[{i}]: is {index}, which is in {self.taken[index]} too; a joint has one index"
                )
            self.taken.setdefault(index, name)

    def joints(self, name: str, indices: Sequence[int]) -> list[str] | None:
        """Return the joints of a field.

        Args:
            name: Name of the field.
            indices: Its indices.

        Returns:
            Names of the joints; None if one is unknown, which adds a fault.
        """
        if not self._joint_at:
            remedy = "add simbox.indices to its robot.yaml"
            self.faults.append(f"{name}: the joints of {self.robot.name!r} have no indices; {remedy}")
            return None
        found = [self._joint_at.get(index, "") for index in indices]
        for i, joint in enumerate(found):
            if not joint:
                self.faults.append(
                    f"{name}[{i}]: is {indices[i]}, which is no joint of {self.robot.name!r}; "
                    f"its joints are {dict(self._joint_at)}"
                )
        return found if all(found) else None

    def compare(self, name: str, indices: Sequence[int], joints: Sequence[str]) -> None:
        """Add a fault for each index that ``robot.yaml`` gives to another joint.

        Args:
            name: Name of the field.
            indices: Its indices, (n,).
            joints: The expected joints, (n,).
        """
        if not self._joint_at or self.robot.simbox is None:
            return
        for i, (index, joint) in enumerate(zip(indices, joints, strict=True)):
            right = self.robot.simbox.indices.get(joint)
            if right is not None and index != right:
                other = self._joint_at.get(index, "no joint that is known")
                self.faults.append(f"{name}[{i}]: is {index}, {other}; joint {joint!r} has index {right}")


def unknown_link(robot: Robot, path: str) -> str:
    """Return the fault of a path that has no link.

    Args:
        robot: The robot.
        path: The path.

    Returns:
        A clause for an error text.
    """
    return f"is {path!r}, which is no link of {robot.name!r}; {nearest(path.rpartition('/')[2], robot.links)}"
