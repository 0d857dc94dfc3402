"""A static transform in a file, as ``handiwork calibrate`` writes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from handiwork_core.config.dataclass_loader import load
from handiwork_core.model.geometry import Pose, Rotation


@dataclass(frozen=True, slots=True)
class StaticFrame:
    """The file.

    Attributes:
        parent_frame: The parent frame.
        child_frame: The child frame.
        position: Its place in the parent frame, m.
        quaternion_wxyz: Its rotation there.
    """

    parent_frame: str
    child_frame: str
    position: tuple[float, float, float]
    quaternion_wxyz: tuple[float, float, float, float]

    def __post_init__(self) -> None:
        if not self.parent_frame or not self.child_frame or self.parent_frame == self.child_frame:
            raise ValueError("parent_frame and child_frame: give two different names")
        self.pose()

    def pose(self) -> Pose:
        """Return the pose of the child frame in the parent frame."""
        return Pose.of(self.position, Rotation.from_wxyz(self.quaternion_wxyz))


def load_frame(path: Path) -> StaticFrame:
    """Load a static transform.

    Args:
        path: The file.

    Raises:
        ConfigError: The file is missing or faulty.
    """
    return load(StaticFrame, path)
