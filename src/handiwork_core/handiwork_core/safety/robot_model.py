"""A robot's kinematics, limits, collision spheres and zones, written as the arrays of the compiled checks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import ArmSpec, BaseSpec, Joint, Robot, Spheres

from .config import SafetyConfig, Zone, ZoneFrame, ZoneShape
from .kernel_arrays import Body, JointTable, Tree, Zones

KINDS = {ZoneShape.BOX: 0, ZoneShape.CYLINDER: 1, ZoneShape.HALF_SPACE: 2}


class RobotModel:
    """All data of a robot that the checks need.

    Args:
        robot: The robot.
        names: Joints in the order of the robot's joint vector, (n,).
        config: Limits and zones.
        world_T_root: Pose of the robot's root link.
    """

    def __init__(self, robot: Robot, names: Sequence[str], config: SafetyConfig, world_T_root: Pose) -> None:
        # A navigation server commands wheels, not the joints of the base.
        base = () if robot.commanded_base is None else (robot.commanded_base,)
        self.parts: tuple[ArmSpec | BaseSpec, ...] = (*base, *robot.arms.values())
        self.names = tuple(names)
        self.supervised = tuple(name for part in self.parts for name in part.joint_names)
        self.table = _table(robot, self.names, self.supervised, config)
        moving = [joint for joint in robot.joints.values() if joint.type is not JointKind.FIXED]
        frames = _frames(robot, moving)
        self.tree = _tree(robot, moving, frames, self.names)
        self.link_arm = arm_of_links(robot)
        self.arms = tuple(robot.arms)
        self.body = _body(robot, frames, self.link_arm, config.keep_clear)
        self.zones = _zones(config.zones, world_T_root)
        self.zone_names = tuple(zone.name for zone in config.zones)
        self.group_links = tuple(item.link for item in _kept(robot, self.link_arm, config.keep_clear))


def _table(robot: Robot, names: Sequence[str], supervised: Sequence[str], config: SafetyConfig) -> JointTable:
    joints = [robot.joints[name] for name in supervised]

    def column(key: str, scale: float) -> Array:
        values = np.array([getattr(joint, key) for joint in joints], dtype=np.float64) * scale
        return np.where(values > 0.0, values, np.inf)

    index = np.array([names.index(name) for name in supervised], dtype=np.int64)
    slack = config.position_tolerance
    return JointTable(
        index,
        np.array([joint.lower - slack for joint in joints], dtype=np.float64),
        np.array([joint.upper + slack for joint in joints], dtype=np.float64),
        column("velocity", config.velocity_scale),
        column("acceleration", config.acceleration_scale),
        column("acceleration", config.stop_scale),
        column("effort", config.effort_scale),
    )


def _frames(robot: Robot, moving: Sequence[Joint]) -> dict[str, tuple[int, Pose]]:
    """Return for each link the frame that carries it and its pose in that frame."""
    number = {joint.name: i + 1 for i, joint in enumerate(moving)}
    frames = {robot.root_link: (0, Pose.identity())}
    for joint in robot.joints.values():
        if joint.name in number:
            frames[joint.child] = (number[joint.name], Pose.identity())
        else:
            frame, pose = frames[joint.parent]
            frames[joint.child] = (frame, pose @ joint.parent_T_joint)
    return frames


def _tree(
    robot: Robot, moving: Sequence[Joint], frames: dict[str, tuple[int, Pose]], names: Sequence[str]
) -> Tree:
    poses = [frames[joint.parent][1] @ joint.parent_T_joint for joint in moving]
    leads = [joint.name if joint.mimic is None else joint.mimic.joint for joint in moving]
    source = [names.index(lead) if lead in names else -1 for lead in leads]
    laws = [(1.0, 0.0) if j.mimic is None else (j.mimic.multiplier, j.mimic.offset) for j in moving]
    offset = [
        law[1] if at >= 0 else joint_position(robot, joint.name, {})
        for law, at, joint in zip(laws, source, moving, strict=True)
    ]
    return Tree(
        np.array([frames[joint.parent][0] for joint in moving], dtype=np.int64),
        np.array([pose.rotation.matrix() for pose in poses]).reshape(-1, 3, 3),
        np.array([pose.translation_m for pose in poses]).reshape(-1, 3),
        np.array([joint.axis for joint in moving], dtype=np.float64).reshape(-1, 3),
        np.array([joint.type is JointKind.PRISMATIC for joint in moving], dtype=np.int64),
        np.array(source, dtype=np.int64),
        np.array([law[0] for law in laws], dtype=np.float64),
        np.array(offset, dtype=np.float64),
    )


def arm_of_links(robot: Robot) -> dict[str, str]:
    """Return the arm that moves each link.

    Args:
        robot: The robot.

    Returns:
        Name of the arm by link; links that no arm moves are absent.
    """
    owner: dict[str, str] = {}
    joint_arm = {name: arm.name for arm in robot.arms.values() for name in arm.joint_names}
    for joint in robot.joints.values():
        leader = joint.name if joint.mimic is None else joint.mimic.joint
        arm = joint_arm.get(leader) or owner.get(joint.parent)
        if arm:
            owner[joint.child] = arm
    return owner


def _kept(robot: Robot, link_arm: dict[str, str], keep_clear: Sequence[str]) -> list[Spheres]:
    """Return the robot's spheres that are kept out of the zones, link by link: those of moving arms."""
    wanted = set(keep_clear or robot.arms)
    return [item for item in robot.spheres if link_arm.get(item.link) in wanted and len(item.radii)]


def _body(
    robot: Robot, frames: dict[str, tuple[int, Pose]], link_arm: dict[str, str], keep_clear: Sequence[str]
) -> Body:
    kept = _kept(robot, link_arm, keep_clear)
    centers = [frames[item.link][1].apply(item.centers) for item in kept]
    middles = [0.5 * (group.min(axis=0) + group.max(axis=0)) for group in centers]
    bounds = [
        float((np.linalg.norm(group - middle, axis=1) + item.radii).max())
        for group, middle, item in zip(centers, middles, kept, strict=True)
    ]
    tools = [frames[arm.tcp_link] for arm in robot.arms.values()]
    return Body(
        np.cumsum([0, *(len(item.radii) for item in kept)]).astype(np.int64),
        np.array([frames[item.link][0] for item in kept], dtype=np.int64),
        np.array(middles, dtype=np.float64).reshape(-1, 3),
        np.array(bounds, dtype=np.float64),
        np.concatenate([np.zeros((0, 3)), *centers]),
        np.concatenate([np.zeros(0), *(item.radii for item in kept)]),
        np.array([frame for frame, _pose in tools], dtype=np.int64),
        np.array([pose.translation_m for _frame, pose in tools], dtype=np.float64).reshape(-1, 3),
    )


def _zones(zones: Sequence[Zone], world_T_root: Pose) -> Zones:
    root_T_world = world_T_root.inverse()
    poses = [root_T_world @ zone.pose() if zone.frame is ZoneFrame.WORLD else zone.pose() for zone in zones]
    halves = [
        np.array(z.size) / 2.0
        if z.shape is ZoneShape.BOX
        else np.array([z.size[0], z.size[0], z.size[1] / 2])
        for z in zones
    ]
    return Zones(
        np.array([KINDS[zone.shape] for zone in zones], dtype=np.int64),
        np.array([pose.rotation.matrix() for pose in poses], dtype=np.float64).reshape(-1, 3, 3),
        np.array([pose.translation_m for pose in poses], dtype=np.float64).reshape(-1, 3),
        np.array(halves, dtype=np.float64).reshape(-1, 3),
    )
