"""A robot as the rest of Handiwork sees it: kinematic tree, limits, collision spheres, arms and grippers.

``robot_loader.load_robot`` builds it from ``robot_description/robots/<name>/``; nothing else reads those files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from handiwork_core.model.controller_profile import DEFAULT_PROFILE, ControllerProfile
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.suction import SuctionSpec


class JointType(Enum):
    """URDF joint types that we support."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"


@dataclass(frozen=True, slots=True, eq=False)
class Mimic:
    """This joint's position is ``multiplier * joint + offset``."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """``parent_T_joint`` is the pose of the child link at position zero; ``axis`` (3,) unit vector in the child frame.

    Limits: positions [rad or m], ``velocity`` [rad/s or m/s], ``acceleration``, ``jerk``, ``effort`` [N*m or N].
    """

    name: str
    type: JointType
    parent: str
    child: str
    parent_T_joint: Pose
    axis: Array
    lower: float = 0.0
    upper: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0
    jerk: float = 0.0
    effort: float = 0.0
    mimic: Mimic | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Spheres:
    """Collision spheres of one link: ``centers`` (n, 3) in the link frame [m], ``radii`` (n,) [m]."""

    link: str
    centers: Array
    radii: Array


@dataclass(frozen=True, slots=True, eq=False)
class Keypoints:
    """Points (3,) in the EE frame [m]: ``head`` between the fingertips, ``tail`` between the fingers' roots.

    ``side``: at the side of the right fingertip.
    """

    head: Array
    tail: Array
    side: Array


@dataclass(frozen=True, slots=True, eq=False)
class GripperSpec:
    """A parallel gripper, driven by ``joint``; the others mimic it. ``width`` and ``position`` tell one by the other.

    ``width_per_joint``: opening per joint position where that is one number; where it is not, 0, and ``width_table``
    holds rows of joint position and opening [m], positions rising.
    ``R_ee_graspnet``: (3, 3), GraspNet axes in the EE frame; ``finger_links`` touch the object when it is held.
    """

    name: str
    joint: str
    finger_links: tuple[str, ...]
    min_width_m: float
    max_width_m: float
    width_per_joint: float
    max_force_n: float
    home_width_m: float
    ee_axis: int
    closing_axis: int
    tcp_offset_m: float
    R_ee_graspnet: Array
    suction: SuctionSpec | None = field(default=None, kw_only=True)
    """Set for a suction cup: no ``joint``, width 0 is sucking and any other is not."""
    width_table: tuple[tuple[float, float], ...] = ()
    keypoints: Keypoints | None = None
    extra_depth: tuple[tuple[float, float], ...] = ()
    """Rows of grasp width and of how much deeper such a grasp goes [m], for linkages whose tips move as they close."""

    def width(self, position: float) -> float:
        """Opening [m] at a position of ``joint`` [m or rad]."""
        if not self.width_table:
            return self.width_per_joint * position
        positions, widths = zip(*self.width_table, strict=True)
        return float(np.interp(position, positions, widths))

    def position(self, width_m: float) -> float:
        """Position of ``joint`` [m or rad] at an opening [m]."""
        if not self.width_table:
            return width_m / self.width_per_joint
        widths, positions = zip(*sorted((w, p) for p, w in self.width_table), strict=True)
        return float(np.interp(width_m, widths, positions))

    @property
    def mean_width_rate(self) -> float:
        """Opening per joint position [m/m or m/rad] over the whole stroke; less than 0 where the joint closes it."""
        if not self.width_table:
            return self.width_per_joint
        (first, first_m), (last, last_m) = self.width_table[0], self.width_table[-1]
        return (last_m - first_m) / (last - first)


@dataclass(frozen=True, slots=True, eq=False)
class ArmSpec:
    """One arm: ``joint_names`` from base to tool, ``home_q`` (dof,) [rad]; poses are planned for ``ee_link``.

    ``home_std`` (dof,): standard deviation of a randomised home [rad], empty for none. ``filter_links``: their touch is
    no collision. ``forbid_collision_links``: these must touch nothing.
    """

    name: str
    base_link: str
    ee_link: str
    tcp_link: str
    joint_names: tuple[str, ...]
    home_q: Array
    gripper: GripperSpec | None
    home_std: Array = field(default_factory=lambda: np.zeros(0))
    filter_links: tuple[str, ...] = ()
    forbid_collision_links: tuple[str, ...] = ()
    controller_profile: ControllerProfile = DEFAULT_PROFILE

    @property
    def controller(self) -> str:
        """ROS name prefix of the trajectory action."""
        return f"{self.name}_controller"

    @property
    def hardware_controller(self) -> str:
        """Name of the controller of ros2_control that the safety layer commands."""
        return f"{self.name}_hardware_controller"


@dataclass(frozen=True, slots=True, eq=False)
class BaseSpec:
    """A mobile base: ``joint_names`` x, y [m] and yaw [rad] carry ``link`` from the root link, which stays."""

    name: str
    link: str
    joint_names: tuple[str, ...]
    controller_profile: ControllerProfile = DEFAULT_PROFILE

    @property
    def controller(self) -> str:
        """ROS name prefix of the trajectory action."""
        return f"{self.name}_controller"

    @property
    def hardware_controller(self) -> str:
        """Name of the controller of ros2_control that the safety layer commands."""
        return f"{self.name}_hardware_controller"


@dataclass(frozen=True, slots=True)
class SimboxNames:
    """How robot files of the SimBox format name a robot.

    ``indices``: of its joints in the articulation of the published model; ``links``: where a link has another name.
    """

    target_class: str
    indices: Mapping[str, int]
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PhysxSolver:
    """What PhysX solves the robot with, in an exported stage; None: what PhysX does by itself."""

    position_iterations: int = 32
    velocity_iterations: int | None = None
    stabilization_threshold: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Robot:
    """The whole robot. ``links`` are in tree order, root first; ``urdf`` is the expanded description.

    ``ignored_pairs``: link pairs that may overlap (adjacent or never in reach), each sorted by name.
    ``posture``: joints of no arm that are held, such as a lift or a head, and where [rad or m].
    """

    name: str
    root_link: str
    links: tuple[str, ...]
    joints: Mapping[str, Joint]
    spheres: tuple[Spheres, ...]
    ignored_pairs: frozenset[tuple[str, str]]
    arms: Mapping[str, ArmSpec]
    urdf: str
    posture: Mapping[str, float] = field(default_factory=dict)
    base: BaseSpec | None = None
    simbox: SimboxNames | None = None
    physx: PhysxSolver | None = None

    def arm(self, name: str) -> ArmSpec:
        """The named arm; an empty name means the only one.

        Raises:
            KeyError: no such arm, or an empty name with several arms; the message lists the arms.
        """
        if not name and len(self.arms) == 1:
            return next(iter(self.arms.values()))
        if name not in self.arms:
            raise KeyError(f"arm {name!r} is not one of {sorted(self.arms)}")
        return self.arms[name]
