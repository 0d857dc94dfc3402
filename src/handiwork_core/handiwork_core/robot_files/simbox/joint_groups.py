"""Which joints the fields of a robot file mean: groups of indices, and paths of links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.robot.robot import ArmSpec, Robot

from .robot_fields import SIDES


def arm_of_side(robot: Robot, side: str) -> ArmSpec | None:
    """``left`` and ``right`` are the only arm with that in its name, ``left`` also a single arm."""
    sided = [arm for name, arm in robot.arms.items() if side in name]
    if not sided and side == "left" and len(robot.arms) == 1:
        sided = list(robot.arms.values())
    return sided[0] if len(sided) == 1 else None


def arms_by_side(robot: Robot) -> dict[str, ArmSpec]:
    """The arms that the format can name."""
    found = {side: arm_of_side(robot, side) for side in SIDES}
    return {side: arm for side, arm in found.items() if arm is not None}


def link_of(robot: Robot, path: str) -> str | None:
    """The link that a path of the format means: by its last words, joined, or as ``robot.yaml`` renames it."""
    words = [word for word in path.split("/") if word]
    tried = ["_".join(words[-count:]) for count in range(len(words), 0, -1)]
    renamed = robot.simbox.links if robot.simbox is not None else {}
    for name in tried:
        if (link := renamed.get(name, name)) in robot.links:
            return link
    return None


@dataclass
class JointGroups:
    """Reads indices of a robot; every index belongs to one group, and to the joint that ``robot.yaml`` says."""

    robot: Robot
    faults: list[str]
    taken: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._joint_at: Mapping[int, str] = {}
        if self.robot.simbox is not None:
            self._joint_at = {index: joint for joint, index in self.robot.simbox.indices.items()}

    def take(self, name: str, indices: Sequence[int]) -> None:
        """Note the indices of a field."""
        for i, index in enumerate(indices):
            if index < 0:
                self.faults.append(f"{name}[{i}]: is {index}; an index is 0 or more")
            elif index in self.taken:
                self.faults.append(
                    f"{name}[{i}]: is {index}, which is in {self.taken[index]} too; a joint has one index"
                )
            self.taken.setdefault(index, name)

    def joints(self, name: str, indices: Sequence[int]) -> list[str] | None:
        """The joints of a field; None where one is not known, which then is a fault."""
        if not self._joint_at:
            mend = "add simbox.indices to its robot.yaml"
            self.faults.append(f"{name}: nothing says which joints of {self.robot.name!r} these are; {mend}")
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
        """Add a fault for each index that ``robot.yaml`` gives to another joint than these."""
        if not self._joint_at or self.robot.simbox is None:
            return
        for i, (index, joint) in enumerate(zip(indices, joints, strict=True)):
            right = self.robot.simbox.indices.get(joint)
            if right is not None and index != right:
                other = self._joint_at.get(index, "no joint that is known")
                self.faults.append(f"{name}[{i}]: is {index}, {other}; joint {joint!r} has index {right}")


def unknown_link(robot: Robot, path: str) -> str:
    """Words that say that a path means no link."""
    return f"is {path!r}, which is no link of {robot.name!r}; {nearest(path.rpartition('/')[2], robot.links)}"
