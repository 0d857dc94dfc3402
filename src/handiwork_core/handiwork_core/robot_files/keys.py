"""The keys of a robot's files: ``robot.yaml`` and the sphere file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from handiwork_core.cameras.camera_file import CameraFile, check_camera_names
from handiwork_core.model.controller_profile import DEFAULT_PROFILE, ControllerProfile
from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.robot.robot import GripperAction, GripperSpec, Keypoints, SimboxNames, ToolFrame

from .base_file import BaseFile
from .driver_file import ArmDriverFile, DriverFile, check_name
from .payload_file import PayloadFile
from .suction_file import SuctionFile

Row = tuple[float, float, float]
PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class MotionLimits:
    """Limits that a URDF cannot hold: acceleration, rad/s^2 or m/s^2, and jerk, rad/s^3 or m/s^3."""

    acceleration: float
    jerk: float

    def __post_init__(self) -> None:
        if min(self.acceleration, self.jerk) <= 0.0:
            raise ValueError(f"acceleration {self.acceleration} and jerk {self.jerk} must be more than 0")


@dataclass(frozen=True, slots=True)
class KeypointsFile:
    """Points in the EE frame, m; see ``Keypoints``."""

    tool_head: Row
    tool_tail: Row
    tool_side: Row

    def build(self) -> Keypoints:
        """Return the keypoints as a value."""
        return Keypoints(frozen(self.tool_head), frozen(self.tool_tail), frozen(self.tool_side))


@dataclass(frozen=True, slots=True)
class GripperFile:
    """A gripper as written; see ``GripperSpec``. One of ``width_per_joint`` and ``width_table`` is needed."""

    name: str
    joint: str
    finger_links: tuple[str, ...]
    min_width: float
    max_width: float
    max_force: float
    home_width: float
    ee_axis: int
    closing_axis: int
    tcp_offset: float
    R_ee_graspnet: tuple[Row, Row, Row]
    width_per_joint: float = 0.0
    width_table: tuple[tuple[float, float], ...] = ()
    keypoints: KeypointsFile | None = None
    extra_depth: tuple[tuple[float, float], ...] = ()
    action: str = ""
    action_type: GripperAction = GripperAction.PARALLEL

    def __post_init__(self) -> None:
        check_name("action", self.action)
        if not 0.0 <= self.min_width <= self.home_width <= self.max_width:
            raise ValueError(
                f"widths {self.min_width}, {self.home_width}, {self.max_width}: write min <= home <= max"
            )
        if {self.ee_axis, self.closing_axis} - {0, 1, 2}:
            raise ValueError("ee_axis and closing_axis are 0, 1 or 2")
        if (self.width_per_joint == 0.0) != bool(self.width_table):
            raise ValueError("width_per_joint: needs either it or width_table; write one of them")
        _check_table(self.width_table)
        given = [row[0] for row in self.extra_depth]
        if given and (len(given) < 4 or sorted(set(given)) != given):
            raise ValueError("extra_depth: write four rows [width, depth] or more, widths rising")
        Rotation.from_matrix(self.R_ee_graspnet)

    def build(self) -> GripperSpec:
        """Return the gripper as a value."""
        return GripperSpec(
            self.name, self.joint, self.finger_links, self.min_width, self.max_width, self.width_per_joint,
            self.max_force, self.home_width, self.ee_axis, self.closing_axis, self.tcp_offset,
            frozen(self.R_ee_graspnet), width_table=self.width_table,
            keypoints=self.keypoints.build() if self.keypoints else None, extra_depth=self.extra_depth,
            action=self.action, action_type=self.action_type,
        )  # fmt: skip


def _check_table(table: tuple[tuple[float, float], ...]) -> None:
    positions, widths = [row[0] for row in table], [row[1] for row in table]
    if table and (len(table) < 2 or sorted(set(positions)) != positions):
        raise ValueError("width_table: write two rows [position, width] or more, positions rising")
    if widths not in (sorted(set(widths)), sorted(set(widths), reverse=True)):
        raise ValueError("width_table: widths must only rise or only fall")


@dataclass(frozen=True, slots=True)
class ArmFile:
    """An arm as written; ``joints`` are in the order from base to tool."""

    base_link: str
    ee_link: str
    tcp_link: str
    joints: tuple[str, ...]
    home: tuple[float, ...]
    gripper: GripperFile | None = None
    suction: SuctionFile | None = field(default=None, kw_only=True)
    home_std: tuple[float, ...] = ()
    filter_links: tuple[str, ...] = ()
    forbid_collision_links: tuple[str, ...] = ()
    controller_profile: ControllerProfile = DEFAULT_PROFILE
    controller: str = ""
    hardware_controller: str = ""
    driver: DriverFile | None = None
    payload: PayloadFile | None = None

    def __post_init__(self) -> None:
        check_name("controller", self.controller)
        check_name("hardware_controller", self.hardware_controller)
        if self.home_std and (len(self.home_std) != len(self.joints) or min(self.home_std) < 0.0):
            raise ValueError(f"home_std: write {len(self.joints)} numbers, none less than 0, or leave it out")
        if self.gripper is not None and self.suction is not None:
            raise ValueError("has both gripper and suction; an arm has one tool, keep one")
        if len(self.joints) != len(self.home):
            raise ValueError(
                f"home has {len(self.home)} entries; write {len(self.joints)}, one for each joint"
            )


@dataclass(frozen=True, slots=True)
class SimboxFile:
    """The names of the SimBox format as written; see ``SimboxNames``."""

    target_class: str
    indices: dict[str, int]
    links: dict[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.indices.values())) < len(self.indices) or min(self.indices.values(), default=0) < 0:
            raise ValueError("indices: give each joint an index of its own, 0 or more")

    def build(self) -> SimboxNames:
        """Return the names as a value."""
        return SimboxNames(self.target_class, dict(self.indices), dict(self.links), self.also)


@dataclass(frozen=True, slots=True)
class ToolFrameFile:
    """A tool frame as written: its link, and its place there, m, with a quaternion w, x, y, z."""

    link: str
    xyz: Row = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        try:
            self.build()
        except ValueError as error:
            raise ValueError(f"quaternion: {error}") from error

    def build(self) -> ToolFrame:
        """Return the frame as a value."""
        return ToolFrame(self.link, Pose.of(self.xyz, Rotation.from_wxyz(self.quaternion)))


@dataclass(frozen=True, slots=True)
class LikeFile:
    """``robot.yaml`` of a robot like another one, but for a base, its drivers, or a robot file of the SimBox format."""

    name: str
    like: str
    config: str = ""
    base: BaseFile | None = None
    arms: dict[str, ArmDriverFile] = field(default_factory=dict)
    tf_prefix: str = ""

    def __post_init__(self) -> None:
        check_prefix(self.tf_prefix)
        if not self.config and not self.arms and not self.tf_prefix and self.base is None:
            raise ValueError(
                "has none of base, config, arms and tf_prefix; write one of them, or use the robot that it is like"
            )


def check_prefix(tf_prefix: str) -> None:
    """Check a prefix of links and joints.

    Args:
        tf_prefix: The prefix; empty for none.

    Raises:
        ValueError: It has other signs than names of ROS.
    """
    if tf_prefix and not PREFIX.fullmatch(tf_prefix):
        raise ValueError(f"tf_prefix: is {tf_prefix[:80]!r}; write letters, digits and _, such as left_")


@dataclass(frozen=True, slots=True)
class RobotFile:
    """The keys of ``robot.yaml``."""

    name: str
    urdf: str
    spheres: str
    limits: dict[str, MotionLimits]
    ignored_pairs: tuple[tuple[str, str], ...]
    arms: dict[str, ArmFile]
    posture: dict[str, float] = field(default_factory=dict)
    base: BaseFile | None = None
    simbox: SimboxFile | None = None
    tool_frames: dict[str, ToolFrameFile] = field(default_factory=dict)
    cameras: dict[str, CameraFile] = field(default_factory=dict)
    coarse_spheres: str = ""

    def __post_init__(self) -> None:
        check_camera_names(self.cameras)


@dataclass(frozen=True, slots=True)
class SphereFile:
    """One collision sphere in its link's frame, m."""

    center: Row
    radius: float

    def __post_init__(self) -> None:
        if self.radius <= 0.0:
            raise ValueError(f"radius {self.radius} must be more than 0")


@dataclass(frozen=True, slots=True)
class SpheresFile:
    """The keys of ``spheres.yaml`` and ``coarse_spheres.yaml``."""

    links: dict[str, tuple[SphereFile, ...]]
