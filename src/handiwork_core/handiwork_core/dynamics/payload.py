"""What an arm carries at its flange: its tool, and the objects that the tool holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from handiwork_core.contracts.planning import Attachment
from handiwork_core.model.geometry import Pose
from handiwork_core.model.world import WorldObject
from handiwork_core.robot.kinematics import link_poses
from handiwork_core.robot.robot import ArmSpec, Robot

from .link_masses import link_masses
from .mass_properties import MassProperties, combined, mass_properties


def tool_mass(
    robot: Robot, arm: ArmSpec, joint_positions: Mapping[str, float] | None = None
) -> MassProperties:
    """Return mass and inertia of all that is fixed to the flange of an arm, as the URDF gives them.

    Args:
        robot: The robot.
        arm: The arm.
        joint_positions: Positions of the tool's own joints by name, rad or m; those that are not named are at home.

    Returns:
        The properties in the frame of the flange; a mass of 0 where the URDF has none.
    """
    masses = link_masses(robot.urdf)
    links = [link for link in carried_links(robot, arm.flange) if link in masses]
    poses = link_poses(robot, joint_positions or {}, (*links, arm.flange))
    flange_T_root = poses[arm.flange].inverse()
    return combined([masses[link].placed(flange_T_root @ poses[link]) for link in links])


def load_mass(
    robot: Robot, arm: ArmSpec, held: Iterable[Attachment], objects: Mapping[str, WorldObject]
) -> MassProperties:
    """Return mass and inertia of the objects that an arm holds.

    Args:
        robot: The robot.
        arm: The arm.
        held: The objects; one that is not among ``objects``, or has no mass there, does not count.
        objects: Objects of the world by name.

    Returns:
        The properties in the frame of the flange; a mass of 0 where nothing with a mass is held.
    """
    known = [(one, objects[one.object]) for one in held if one.object in objects]
    weighed = [(one, body) for one, body in known if body.mass_kg > 0.0]
    poses = link_poses(robot, {}, (arm.flange, *(one.link for one, _ in weighed)))
    flange_T_root = poses[arm.flange].inverse()
    return combined(
        [object_mass(body, flange_T_root @ poses[one.link] @ one.link_T_object) for one, body in weighed]
    )


def object_mass(body: WorldObject, pose: Pose) -> MassProperties:
    """Return mass and inertia of an object of even density.

    Args:
        body: The object; without a volume it is a point at its origin.
        pose: Its pose in the frame of the result.
    """
    try:
        found = mass_properties(body.shapes, body.mass_kg)
    except ValueError:
        found = MassProperties.of(body.mass_kg, np.zeros(3), np.zeros((3, 3)))
    return found.placed(pose)


def carried_links(robot: Robot, link: str) -> tuple[str, ...]:
    """Return a link and all links that it carries, in tree order.

    Args:
        robot: The robot.
        link: Name of the link.
    """
    found = {link: None}
    for joint in robot.joints.values():
        if joint.parent in found:
            found[joint.child] = None
    return tuple(found)
