"""The model of a robot for the rest of Handiwork: kinematic tree, limits, collision spheres, arms and grippers.

``robot_files.loader.load_robot`` builds it from ``robot_description/robots/<name>/``; no other code reads those files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from handiwork_core.cameras.camera import Camera
from handiwork_core.model.controller_profile import DEFAULT_PROFILE, ControllerProfile
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.suction import SuctionSpec

from .driver import Driver


@dataclass(frozen=True, slots=True, eq=False)
class Mimic:
    """A joint position that follows another: ``multiplier * joint + offset``."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """One joint and its child link.

    Attributes:
        name: Name of the joint.
        type: Its type.
        parent: Name of the parent link.
        child: Name of the child link.
        parent_T_joint: Pose of the child link at position zero.
        axis: Unit vector in the child frame, (3,).
        lower: Lower position, rad or m.
        upper: Upper position, rad or m.
        velocity: Largest speed, rad/s or m/s.
        acceleration: Largest acceleration, rad/s^2 or m/s^2.
        jerk: Largest jerk, rad/s^3 or m/s^3.
        effort: Largest effort, Nm or N.
        mimic: The joint that it follows; None for none.
    """

    name: str
    type: JointKind
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
    """Collision spheres of one link.

    Attributes:
        link: Name of the link.
        centers: Centers in the link frame, (n, 3), m.
        radii: Radii, (n,), m.
    """

    link: str
    centers: Array
    radii: Array


@dataclass(frozen=True, slots=True, eq=False)
class Keypoints:
    """Points of a hand in the EE frame.

    Attributes:
        head: Point between the fingertips, (3,), m.
        tail: Point between the fingers' roots, (3,), m.
        side: Point at the side of the right fingertip, (3,), m.
    """

    head: Array
    tail: Array
    side: Array


class GripperAction(Enum):
    """Types of actions of ``control_msgs`` that command a gripper."""

    PARALLEL = "ParallelGripperCommand"
    SINGLE = "GripperCommand"


@dataclass(frozen=True, slots=True, eq=False)
class GripperSpec:
    """A parallel gripper. ``width`` and ``position`` convert between its opening and the position of its joint.

    Attributes:
        name: Name of the gripper.
        joint: The driven joint; the others mimic it. Empty for a suction cup.
        finger_links: Links that touch a held object.
        min_width_m: Smallest opening, m.
        max_width_m: Largest opening, m.
        width_per_joint: Opening per joint position, m/m or m/rad, if it is constant; else 0.
        max_force_n: Largest force of a finger, N.
        home_width_m: Opening at home, m.
        ee_axis: Index of the EE axis that points out of the hand.
        closing_axis: Index of the EE axis along which the fingers close.
        tcp_offset_m: Distance of the TCP from the EE frame along ``ee_axis``, m.
        R_ee_graspnet: GraspNet axes in the EE frame, (3, 3).
        width_table: Rows of joint position, m or rad, and opening, m, positions rising; if the ratio is not constant.
        keypoints: Points of the hand, if they are known.
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
    """Limits of a suction cup: it has no ``joint``; width 0 is suction on and any other width is off."""
    width_table: tuple[tuple[float, float], ...] = ()
    keypoints: Keypoints | None = None
    extra_depth: tuple[tuple[float, float], ...] = ()
    """Rows of grasp width and additional depth of the grasp, m, for linkages whose tips move as they close."""
    action: str = field(default="", kw_only=True)
    """Name of the action of its driver; empty for the usual one."""
    action_type: GripperAction = field(default=GripperAction.PARALLEL, kw_only=True)
    """Type of that action."""

    @property
    def action_name(self) -> str:
        """Name of the action that commands it."""
        return self.action or f"{self.name}_controller/gripper_cmd"

    def width(self, position: float) -> float:
        """Return the opening at a position of ``joint``.

        Args:
            position: Joint position, m or rad.

        Returns:
            Opening, m.
        """
        if not self.width_table:
            return self.width_per_joint * position
        positions, widths = zip(*self.width_table, strict=True)
        return float(np.interp(position, positions, widths))

    def position(self, width_m: float) -> float:
        """Return the position of ``joint`` at an opening.

        Args:
            width_m: Opening, m.

        Returns:
            Joint position, m or rad.
        """
        if not self.width_table:
            return width_m / self.width_per_joint
        widths, positions = zip(*sorted((w, p) for p, w in self.width_table), strict=True)
        return float(np.interp(width_m, widths, positions))

    @property
    def mean_width_rate(self) -> float:
        """Opening per joint position over the whole stroke, m/m or m/rad; less than 0 if the joint closes it."""
        if not self.width_table:
            return self.width_per_joint
        (first, first_m), (last, last_m) = self.width_table[0], self.width_table[-1]
        return (last_m - first_m) / (last - first)


@dataclass(frozen=True, slots=True, eq=False)
class ToolFrame:
    """A named frame on a link, for goals that are given for a tool or a sensor.

    Attributes:
        link: Name of the link that carries it.
        link_T_tool: Its pose in the link's frame.
    """

    link: str
    link_T_tool: Pose


@dataclass(frozen=True, slots=True, eq=False)
class ArmSpec:
    """One arm; poses are planned for ``ee_link``.

    Attributes:
        name: Name of the arm.
        base_link: Link from which its poses are measured.
        ee_link: Link whose poses are planned.
        tcp_link: Link at the tool centre point.
        joint_names: Joints from base to tool, (dof,).
        home_q: Home configuration, (dof,), rad or m.
        gripper: Its gripper; None for none.
        home_std: Standard deviation of a randomised home, (dof,), rad or m; empty for none.
        filter_links: Links whose contacts are no collision.
        forbid_collision_links: Links that must touch nothing.
        controller_profile: Tolerances of its controller.
        controller_name: Name of the controller that the skills command; empty for the usual one.
        hardware_controller_name: Name of that which the safety layer commands; empty for the usual one.
        driver: The driver whose stops and speed scaling are read; None for none.
        rated_payload_kg: Greatest mass at the flange, the tool included, kg; 0: not known.
        flange_link: Link at which the arm ends and its tool begins; empty: ``ee_link``.
        tool_mass_kg: Mass of that tool in the URDF, kg; 0 where the rated payload is not known.
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
    controller_name: str = ""
    hardware_controller_name: str = ""
    driver: Driver | None = None
    rated_payload_kg: float = 0.0
    flange_link: str = ""
    tool_mass_kg: float = 0.0

    @property
    def flange(self) -> str:
        """Link at which the arm ends and its tool begins."""
        return self.flange_link or self.ee_link

    @property
    def controller(self) -> str:
        """ROS name prefix of the trajectory action."""
        return self.controller_name or f"{self.name}_controller"

    @property
    def hardware_controller(self) -> str:
        """Name of the controller of ros2_control that the safety layer commands."""
        return self.hardware_controller_name or f"{self.name}_hardware_controller"


@dataclass(frozen=True, slots=True)
class NavigationSpec:
    """The navigation of a mobile base by an action server, as nav2's.

    Attributes:
        action: ROS name of its ``nav2_msgs/action/NavigateToPose``.
        map_frame: Frame of tf in which goals are sent.
        base_frame: Frame of tf of the link that moves, as the robot's odometry names it.
        behavior_tree: File of the behavior tree on the server's machine; empty: the server's own.
    """

    action: str
    map_frame: str
    base_frame: str
    behavior_tree: str = ""


class BaseKind(Enum):
    """The directions in which a base moves: any, or along its heading alone."""

    HOLONOMIC = "holonomic"
    DIFFERENTIAL = "differential"


@dataclass(frozen=True, slots=True, eq=False)
class BaseSpec:
    """A mobile base.

    Attributes:
        name: Name of the base.
        link: The link that moves; the root link stays in place.
        joint_names: Joints x and y, m, and yaw, rad, which carry ``link`` from the root link.
        controller_profile: Tolerances of its controller.
        navigation: The server that drives it; None: its controller does.
        kind: The directions in which it moves.
    """

    name: str
    link: str
    joint_names: tuple[str, ...]
    controller_profile: ControllerProfile = DEFAULT_PROFILE
    navigation: NavigationSpec | None = None
    kind: BaseKind = BaseKind.HOLONOMIC

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
    """The names of a robot in robot files of the SimBox format.

    Attributes:
        target_class: Name of the robot's class.
        indices: Indices of its joints in the articulation of the published model, by joint name.
        links: Link by its name in the format, if the two differ.
        also: Further names of the class that robot files may use.
    """

    target_class: str
    indices: Mapping[str, int]
    links: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PhysxSolver:
    """Settings of PhysX for the robot in an exported stage; None keeps the default of PhysX."""

    position_iterations: int = 32
    velocity_iterations: int | None = None
    stabilization_threshold: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Robot:
    """The whole robot.

    Attributes:
        name: Name of the robot.
        root_link: Root of the kinematic tree.
        links: Links in tree order, root first.
        joints: Joints by name, in tree order.
        spheres: Collision spheres by link.
        coarse_spheres: Few, large spheres by link for an optimiser whose motions are checked with ``spheres``; empty
            where the robot has none.
        ignored_pairs: Link pairs that may overlap (adjacent or never in reach), each sorted by name.
        arms: Arms by name.
        urdf: The expanded description.
        posture: Position, rad or m, of held joints of no arm, such as a lift or a head, by name.
        base: The mobile base; None for none.
        simbox: Its names in the SimBox format, if there are any.
        physx: Settings of PhysX; None: the defaults.
        tool_frames: Named frames on its links.
        cameras: Cameras on its links.
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
    tool_frames: Mapping[str, ToolFrame] = field(default_factory=dict)
    cameras: tuple[Camera, ...] = ()
    coarse_spheres: tuple[Spheres, ...] = ()

    @property
    def commanded_base(self) -> BaseSpec | None:
        """The mobile base whose joints a trajectory controller moves, as those of arms; None where a server drives."""
        return None if self.navigation is not None else self.base

    @property
    def navigation(self) -> NavigationSpec | None:
        """The server that drives the mobile base; None without one."""
        return None if self.base is None else self.base.navigation

    def arm(self, name: str) -> ArmSpec:
        """Return an arm.

        Args:
            name: Its name; an empty name means the only one.

        Raises:
            KeyError: There is no such arm, or the name is empty with several arms; the message lists the arms.
        """
        if not name and len(self.arms) == 1:
            return next(iter(self.arms.values()))
        if name not in self.arms:
            raise KeyError(f"arm {name!r} is not one of {sorted(self.arms)}")
        return self.arms[name]
