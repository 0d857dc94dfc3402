"""A mobile base as written in ``robot.yaml``, and the three joints that it adds below the robot's root link."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass

from handiwork_core.model.controller_profile import DEFAULT_PROFILE, ControllerProfile
from handiwork_core.robot.robot import BaseKind, BaseSpec, NavigationSpec

WIDEST_RAD = 4.0 * math.pi
EFFORT = 1.0e4
LINK_MASS_KG, LINK_INERTIA = 1.0, 0.01
"""Values of the two links between the joints, which have no body: simulators require a mass of moving links."""

MAP_FRAME, BASE_FRAME = "map", "base_link"
"""Names of REP-105."""
ACTION_NAME = re.compile(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class BaseFile:
    """``base:`` of ``robot.yaml``.

    Attributes:
        kind: The kind of the base.
        velocity: Largest speed, m/s.
        acceleration: Largest acceleration, m/s^2.
        jerk: Largest jerk, m/s^3.
        turn_velocity: Largest speed of turning, rad/s.
        turn_acceleration: Largest acceleration of turning, rad/s^2.
        turn_jerk: Largest jerk of turning, rad/s^3.
        range: Largest distance from its start, along x and y each, m.
        name: Name of the base, and prefix of its joints.
        controller_profile: Tolerances of its controller.
        navigate_action: Name of the ``nav2_msgs/action/NavigateToPose`` that drives it; empty: its controller does.
        map_frame: Frame of tf in which the goals of navigation are sent.
        base_frame: Frame of tf of the root link of the URDF, as the robot's odometry names it.
        behavior_tree: File of nav2's behavior tree on the robot; empty: nav2's own.
    """

    kind: BaseKind
    velocity: float
    acceleration: float
    jerk: float
    turn_velocity: float
    turn_acceleration: float
    turn_jerk: float
    range: float = 10.0
    name: str = "base"
    controller_profile: ControllerProfile = DEFAULT_PROFILE
    navigate_action: str = ""
    map_frame: str = MAP_FRAME
    base_frame: str = BASE_FRAME
    behavior_tree: str = ""

    def __post_init__(self) -> None:
        for key in (
            "velocity",
            "acceleration",
            "jerk",
            "turn_velocity",
            "turn_acceleration",
            "turn_jerk",
            "range",
        ):
            if getattr(self, key) <= 0.0:
                raise ValueError(f"{key}: is {getattr(self, key):g}; make it more than 0")
        if not self.name.isidentifier():
            raise ValueError(f"name: is {self.name!r}; write letters, digits and _")
        self._check_navigation()

    def _check_navigation(self) -> None:
        if not self.navigate_action:
            for key, default in (("map_frame", MAP_FRAME), ("base_frame", BASE_FRAME), ("behavior_tree", "")):
                if getattr(self, key) != default:
                    raise ValueError(
                        f"{key}: is of use with navigate_action alone; name that, or leave it out"
                    )
            return
        if not ACTION_NAME.fullmatch(self.navigate_action):
            text = "write the name of an action, such as navigate_to_pose"
            raise ValueError(f"navigate_action: is {self.navigate_action!r}; {text}")
        for key in ("map_frame", "base_frame"):
            name = getattr(self, key)
            if not name or name.startswith("/") or any(letter.isspace() for letter in name):
                raise ValueError(
                    f"{key}: is {name!r}; write the name of a frame of tf, without a slash before it"
                )

    @property
    def joints(self) -> tuple[str, str, str]:
        """Names of the joints: along x, along y, about z."""
        return f"{self.name}_x", f"{self.name}_y", f"{self.name}_yaw"

    def build(self, link: str) -> BaseSpec:
        """Return the base as a value.

        Args:
            link: The link that the joints carry.
        """
        navigation = None
        if self.navigate_action:
            names = self.navigate_action, self.map_frame, self.base_frame, self.behavior_tree
            navigation = NavigationSpec(*names)
        return BaseSpec(self.name, link, self.joints, self.controller_profile, navigation, self.kind)

    def limits(self, joint: str) -> tuple[float, float]:
        """Return the acceleration and the jerk of a joint.

        Args:
            joint: Name of one of its joints.

        Returns:
            Acceleration, m/s^2 or rad/s^2, and jerk, m/s^3 or rad/s^3.
        """
        if joint == self.joints[2]:
            return self.turn_acceleration, self.turn_jerk
        return self.acceleration, self.jerk

    def placed_under(self, urdf: str, root_link: str) -> str:
        """Return the URDF with ``<name>_origin`` as its root, which stays at the place where the robot starts.

        Args:
            urdf: Text of the robot's URDF.
            root_link: Its root link.
        """
        top = ET.fromstring(urdf)
        links = [f"{self.name}_origin", f"{self.name}_x_link", f"{self.name}_y_link"]
        for link in links:
            ET.SubElement(top, "link", name=link).extend([] if link == links[0] else [_inertia()])
        kinds = ("prismatic", "prismatic", "revolute")
        axes, children = ("1 0 0", "0 1 0", "0 0 1"), (*links[1:], root_link)
        for name, kind, axis, parent, child in zip(self.joints, kinds, axes, links, children, strict=True):
            turns = kind == "revolute"
            most, speed = (WIDEST_RAD, self.turn_velocity) if turns else (self.range, self.velocity)
            joint = ET.SubElement(top, "joint", name=name, type=kind)
            ET.SubElement(joint, "parent", link=parent)
            ET.SubElement(joint, "child", link=child)
            ET.SubElement(joint, "axis", xyz=axis)
            limit = {"lower": -most, "upper": most, "velocity": speed, "effort": EFFORT}
            ET.SubElement(joint, "limit", {key: f"{value!r}" for key, value in limit.items()})
        return ET.tostring(top, encoding="unicode")


def _inertia() -> ET.Element:
    inertial = ET.Element("inertial")
    ET.SubElement(inertial, "mass", value=f"{LINK_MASS_KG}")
    moments = {key: f"{LINK_INERTIA}" for key in ("ixx", "iyy", "izz")}
    ET.SubElement(inertial, "inertia", {**moments, "ixy": "0", "ixz": "0", "iyz": "0"})
    return inertial
