"""The settings of the search for obstacles that nobody modelled, strict YAML within the object table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from handiwork_core.voxels.voxel_map import VoxelGrid

MOST_CAMERAS = 16


class Unseen(Enum):
    """What cells are that no camera has looked into."""

    FREE = "free"
    OCCUPIED = "occupied"


class DepthKind(Enum):
    """The kinds of sources."""

    DEPTH = "depth"
    CLOUD = "cloud"


@dataclass(frozen=True, slots=True)
class DepthSpec:
    """One source as written.

    Attributes:
        type: ``depth`` (sensor_msgs/Image, 16UC1 in millimetres or 32FC1 in metres, with its CameraInfo) or ``cloud``
            (sensor_msgs/PointCloud2, also the centres of an OctoMap's cells): each cloud replaces the one before.
        topic: Its topic.
        camera_info: Topic of the image's CameraInfo; empty: ``camera_info`` beside the image.
    """

    type: str
    topic: str
    camera_info: str = ""

    def __post_init__(self) -> None:
        kinds = [kind.value for kind in DepthKind]
        if self.type not in kinds:
            raise ValueError(f"type: is {self.type!r}; write one of {', '.join(kinds)}")
        if not self.topic:
            raise ValueError("topic: is empty; write the topic of the depth images or clouds")
        if self.camera_info and self.kind is not DepthKind.DEPTH:
            raise ValueError(f"camera_info: belongs to depth, not to {self.type}; take it away")

    @property
    def kind(self) -> DepthKind:
        """The kind of the source."""
        return DepthKind(self.type)

    @property
    def info_topic(self) -> str:
        """The topic of the CameraInfo."""
        folder, slash, _ = self.topic.rpartition("/")
        return self.camera_info or f"{folder}{slash}camera_info"


@dataclass(frozen=True, slots=True)
class ObstacleSettings:
    """Where obstacles are looked for, by what, and what counts as one.

    Attributes:
        cameras: The sources; none: obstacles are not looked for.
        position: Centre of the box of space in ``world``, m.
        size: Its edges along the axes of ``world``, m.
        cell: Edge of a cell, m.
        unseen: Whether space that no depth camera has looked into is ``free`` or ``occupied``.
        rate: Looks of each source per second, Hz; 0: only on request by ``perception/look``.
        padding: Points so near to a known object belong to it, m.
        robot_padding: Points so near to a sphere of the robot belong to the robot, m.
        min_points: Points that a cell must have in one look to be occupied.
        grain: Edge of the cube that a pixel of a depth image stands for, m: of an occupied cell the box around these
            cubes counts. The edge of a cell or more: all of it counts.
        least_depth: Nearer points are not believed, m.
        most_depth: Farther points are not believed, m.
    """

    cameras: tuple[DepthSpec, ...] = ()
    position: tuple[float, float, float] = (0.5, 0.0, 0.5)
    size: tuple[float, float, float] = (1.2, 1.2, 1.2)
    cell: float = 0.02
    unseen: str = "free"
    rate: float = 2.0
    padding: float = 0.02
    robot_padding: float = 0.03
    min_points: int = 3
    grain: float = 0.01
    least_depth: float = 0.1
    most_depth: float = 4.0

    def __post_init__(self) -> None:
        if len(self.cameras) > MOST_CAMERAS:
            raise ValueError(f"cameras: has {len(self.cameras)}; give {MOST_CAMERAS} at most")
        kinds = [kind.value for kind in Unseen]
        if self.unseen not in kinds:
            raise ValueError(f"unseen: is {self.unseen!r}; write one of {', '.join(kinds)}")
        if not 0.0 <= self.rate <= 30.0:
            raise ValueError(f"rate: is {self.rate:g} Hz; give 0 (on request) to 30")
        for key in ("padding", "robot_padding"):
            if not 0.0 <= getattr(self, key) <= 0.5:
                raise ValueError(f"{key}: is {getattr(self, key):g} m; give 0 to 0.5")
        if not 0.002 <= self.grain <= 1.0:
            raise ValueError(
                f"grain: is {self.grain:g} m; give 0.002 to 1, where the edge of a cell means whole cells"
            )
        if self.min_points < 1:
            raise ValueError(f"min_points: is {self.min_points}; give 1 or more")
        if not 0.0 <= self.least_depth < self.most_depth:
            text = f"are {self.least_depth:g} and {self.most_depth:g} m; give 0 or more, and more"
            raise ValueError(f"least_depth and most_depth: {text}")
        self.grid()

    def grid(self) -> VoxelGrid:
        """Return the cells.

        Raises:
            ValueError: The box has no size, or too many cells.
        """
        return VoxelGrid.over(self.position, self.size, self.cell)

    @property
    def is_unseen_occupied(self) -> bool:
        """True if cells that no camera has looked into are occupied."""
        return Unseen(self.unseen) is Unseen.OCCUPIED
