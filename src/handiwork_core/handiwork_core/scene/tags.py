"""AprilTags on objects, as written in scene files and object tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handiwork_core.model.geometry import Pose, Rotation

FAMILY = "36h11"
COUNT = 587
"""Tags of the family 36h11."""
LARGEST_M = 2.0


@dataclass(frozen=True, slots=True)
class TagSpec:
    """One AprilTag of the family 36h11 on an object.

    The frame of the tag is in its middle: x to the right of the printed tag, y up, z out of it.

    Attributes:
        id: Its number, 0 to 586.
        size: Edge of its black square, m.
        position: Its middle in the object's frame, m.
        rpy: Roll, pitch and yaw of its frame, rad.
    """

    id: int
    size: float
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not 0 <= self.id < COUNT:
            raise ValueError(f"id: is {self.id}; family {FAMILY} has 0 to {COUNT - 1}")
        if not 0.0 < self.size <= LARGEST_M:
            raise ValueError(f"size: is {self.size:g} m; give more than 0, and {LARGEST_M:g} at most")

    def pose(self) -> Pose:
        """Return the pose of the tag's frame in the object's."""
        return Pose.of(self.position, Rotation.from_rpy(*self.rpy))


def shared_tags(tags: Mapping[str, Sequence[TagSpec]]) -> list[str]:
    """Return a sentence for each tag that is there more than once.

    Args:
        tags: Tags by the names of their objects.
    """
    owners = dict[int, str]()
    faults = []
    for name, specs in tags.items():
        for spec in specs:
            if spec.id in owners:
                where = "twice" if owners[spec.id] == name else f"also on {owners[spec.id]!r}"
                faults.append(
                    f"{name}.tags: tag {spec.id} is {where}; give each tag to one place of one object"
                )
            owners.setdefault(spec.id, name)
    return faults
