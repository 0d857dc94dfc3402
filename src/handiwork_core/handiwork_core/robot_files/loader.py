"""Builds a ``Robot`` from a folder: ``robot.yaml``, and its URDF or xacro and sphere file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from handiwork_core.config.dataclass_loader import (
    ConfigError,
    load,
    nearest,
    parse,
    read_yaml,
)
from handiwork_core.dynamics.payload import tool_mass
from handiwork_core.intake.limits import URDF_BYTES
from handiwork_core.intake.regular_files import FileRefused, check_file, read_bytes
from handiwork_core.model.geometry import Array, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.robot.followers import ArmJoints, follower_faults, with_follower_limits
from handiwork_core.robot.mesh_paths import with_mesh_files
from handiwork_core.robot.prefixed import prefixed
from handiwork_core.robot.robot import ArmSpec, Joint, Robot, Spheres
from handiwork_core.robot.several import Member, together
from handiwork_core.robot.urdf import UrdfModel, read_urdf

from .base_file import BaseFile
from .keys import (
    ArmFile,
    LikeFile,
    MotionLimits,
    RobotFile,
    SphereFile,
    SpheresFile,
)
from .several_file import SeveralFile
from .simbox.configured import configured
from .xacro_file import expand_xacro


def load_robot(robot_dir: Path) -> Robot:
    """Load a robot from its folder.

    Args:
        robot_dir: The folder.

    Raises:
        ConfigError: A file has faults; the error lists those of the first such file: the key, the fault, the remedy.
    """
    path = robot_dir / "robot.yaml"
    data = read_yaml(path)
    if "like" in data:
        return _like(parse(LikeFile, data, str(path)), robot_dir)
    if "robots" in data:
        return _with_own_names(_several(parse(SeveralFile, data, str(path)), robot_dir), path)
    spec = parse(RobotFile, data, str(path))
    urdf_path = robot_dir / spec.urdf
    urdf = expand(urdf_path)
    model = read_urdf(urdf, urdf_path, needs_inertia=True)
    spheres = _all_spheres(robot_dir / spec.spheres, model.links)
    coarse = _all_spheres(robot_dir / spec.coarse_spheres, model.links) if spec.coarse_spheres else ()
    bare = sorted({item.link for item in spheres if len(item.radii)} - {item.link for item in coarse})
    if coarse and bare:
        text = f"links: {', '.join(bare)} have spheres in {spec.spheres} and none here; fit_spheres --coarse adds them"
        raise ConfigError(str(robot_dir / spec.coarse_spheres), [text])
    faults = _faults(spec, model)
    if faults:
        raise ConfigError(str(path), faults)
    robot = Robot(
        name=spec.name,
        root_link=model.links[0],
        links=model.links,
        joints=with_follower_limits(
            {name: _limited(joint, spec.limits.get(name)) for name, joint in model.joints.items()},
            [joint for arm in spec.arms.values() for joint in arm.joints],
        ),
        spheres=spheres,
        ignored_pairs=frozenset((min(a, b), max(a, b)) for a, b in spec.ignored_pairs),
        arms={name: _arm(name, arm) for name, arm in spec.arms.items()},
        urdf=urdf,
        posture=dict(spec.posture),
        simbox=spec.simbox.build() if spec.simbox is not None else None,
        tool_frames={name: frame.build() for name, frame in spec.tool_frames.items()},
        cameras=tuple(camera.build(name) for name, camera in spec.cameras.items()),
        coarse_spheres=coarse,
    )
    return _with_own_names(_with_tool_masses(_on_base(robot, spec.base, urdf_path)), path)


def _on_base(robot: Robot, spec: BaseFile | None, urdf_path: Path) -> Robot:
    """Return the robot on its mobile base; without one, the same robot."""
    if spec is None:
        return robot
    urdf = spec.placed_under(robot.urdf, robot.root_link)
    model = read_urdf(urdf, urdf_path, needs_inertia=True)
    joints = {
        name: _limited(joint, MotionLimits(*spec.limits(name))) if name in spec.joints else robot.joints[name]
        for name, joint in model.joints.items()
    }
    return dataclasses.replace(
        robot,
        root_link=model.links[0],
        links=model.links,
        joints=joints,
        urdf=urdf,
        base=spec.build(robot.root_link),
    )


def _with_tool_masses(robot: Robot) -> Robot:
    """Return the robot with the masses of the tools of arms whose rated payload is known."""
    arms = {
        name: dataclasses.replace(arm, tool_mass_kg=tool_mass(robot, arm).mass_kg)
        if arm.rated_payload_kg
        else arm
        for name, arm in robot.arms.items()
    }
    return dataclasses.replace(robot, arms=arms)


def _like(spec: LikeFile, robot_dir: Path) -> Robot:
    """Return another folder's robot, on a base, with other names, or with a robot file of the SimBox format."""
    other, path = robot_dir / spec.like, robot_dir / "robot.yaml"
    if not (other / "robot.yaml").is_file() or "like" in read_yaml(other / "robot.yaml"):
        text = f"like: is {spec.like!r}; write the path to the folder of a robot without the key like"
        raise ConfigError(str(path), [text])
    robot = load_robot(other)
    if spec.base is not None and robot.base is not None:
        text = f"base: the robot of {spec.like!r} has a mobile base already; leave base out"
        raise ConfigError(str(path), [text])
    robot = prefixed(_on_base(robot, spec.base, path), spec.tf_prefix)
    robot = dataclasses.replace(robot, name=spec.name)
    unknown = [
        f"arms.{name}: no such arm; {nearest(name, tuple(robot.arms))}"
        for name in spec.arms
        if name not in robot.arms
    ]
    if unknown:
        raise ConfigError(str(path), unknown)
    arms = {
        name: spec.arms[name].applied(arm) if name in spec.arms else arm for name, arm in robot.arms.items()
    }
    robot = _with_own_names(dataclasses.replace(robot, arms=arms), path)
    if not spec.config:
        return robot
    config = robot_dir / spec.config
    return configured(robot, read_yaml(config), str(config), folder=config.parent).robot


def _several(spec: SeveralFile, robot_dir: Path) -> Robot:
    """Return several robots on one mount as one robot."""
    path, faults, members = robot_dir / "robot.yaml", list[str](), list[Member]()
    for name, item in spec.robots.items():
        other = robot_dir / item.like
        if not (other / "robot.yaml").is_file() or "robots" in read_yaml(other / "robot.yaml"):
            text = "write the path to the folder of a robot without the key robots"
            faults.append(f"robots.{name}.like: is {item.like!r}; {text}")
        else:
            members.append(Member(name, prefixed(load_robot(other), item.prefix(name)), item.xyz, item.rpy))
    if faults:
        raise ConfigError(str(path), faults)
    try:
        return together(spec.name, members, spec.pairs)
    except ValueError as error:
        raise ConfigError(str(path), str(error).splitlines()) from error


def expand(path: Path, arguments: Mapping[str, str] | None = None) -> str:
    """Return the URDF text of a file, with the absolute paths of its meshes.

    Args:
        path: A ``.urdf`` file, or a ``.xacro`` file, which is expanded.
        arguments: Arguments of the xacro file; None: its defaults.

    Raises:
        ConfigError: The file cannot be read or expanded.
    """
    try:
        if path.suffix != ".xacro":
            return with_mesh_files(read_bytes(path, URDF_BYTES).decode("utf-8"), path.parent)
        check_file(path, URDF_BYTES)
        return with_mesh_files(expand_xacro(path, arguments or {}), path.parent)
    except ImportError as error:
        text = "needs the package xacro; install it (`pip install xacro`, or ros-jazzy-xacro)"
        raise ConfigError(str(path), [text]) from error
    except FileRefused as error:
        raise ConfigError(str(path), [str(error)]) from error
    except OSError as error:
        raise ConfigError(str(path), [f"cannot be read: {error.strerror}; check the path"]) from error
    except Exception as error:  # broad on purpose: xacro passes on any error of its expressions
        remedy = "" if "; " in str(error) else "; correct the file"
        raise ConfigError(str(path), [f"xacro cannot expand it: {error}{remedy}"]) from error


def _faults(spec: RobotFile, model: UrdfModel) -> list[str]:
    faults: list[str] = []
    for joint in spec.limits:
        _known(joint, list(model.joints), f"limits.{joint}", "joint", faults)
    for i, pair in enumerate(spec.ignored_pairs):
        for link in pair:
            _known(link, model.links, f"ignored_pairs[{i}]", "link", faults)
    joints = with_follower_limits(model.joints, [j for arm in spec.arms.values() for j in arm.joints])
    for name, arm in spec.arms.items():
        _arm_faults(f"arms.{name}", arm, spec, model, joints, faults)
    arms = [ArmJoints(name, arm.base_link, arm.ee_link, arm.joints) for name, arm in spec.arms.items()]
    faults += follower_faults(model.joints, arms)
    _posture_faults(spec, model, faults)
    for name, frame in spec.tool_frames.items():
        _known(frame.link, model.links, f"tool_frames.{name}.link", "link", faults)
        if name in model.links:
            faults.append(f"tool_frames.{name}: is also the name of a link; give the frame another name")
    for name, camera in spec.cameras.items():
        _known(camera.link, model.links, f"cameras.{name}.link", "link", faults)
    for joint in spec.simbox.indices if spec.simbox is not None else ():
        _known(joint, list(model.joints), f"simbox.indices.{joint}", "joint", faults)
    for word, link in spec.simbox.links.items() if spec.simbox is not None else ():
        _known(link, model.links, f"simbox.links.{word}", "link", faults)
    return faults


def _with_own_names(robot: Robot, path: Path) -> Robot:
    """Return the robot; two that would have one controller are refused: each would stop the other's motions."""
    owners: dict[str, str] = {}
    faults: list[str] = []
    for name, arm in robot.arms.items():
        named = [
            (f"arms.{name}.controller", arm.controller),
            (f"arms.{name}.hardware_controller", arm.hardware_controller),
        ]
        if arm.gripper is not None and arm.gripper.joint:
            named.append((f"arms.{name}.gripper.action", arm.gripper.action_name))
        for key, value in named:
            if (other := owners.setdefault(value.removeprefix("/"), key)) != key:
                faults.append(f"{key}: is {value!r}, as {other}; give each a name of its own")
    if faults:
        raise ConfigError(str(path), faults)
    return robot


def _posture_faults(spec: RobotFile, model: UrdfModel, faults: list[str]) -> None:
    driven = {joint for arm in spec.arms.values() for joint in arm.joints}
    driven |= {arm.gripper.joint for arm in spec.arms.values() if arm.gripper is not None}
    for name, value in spec.posture.items():
        key = f"posture.{name}"
        if not _known(name, list(model.joints), key, "joint", faults):
            continue
        joint = model.joints[name]
        if joint.type is JointKind.FIXED or joint.mimic is not None:
            faults.append(f"{key}: does not move by itself; take it out")
        elif name in driven:
            faults.append(f"{key}: belongs to an arm or a gripper; take it out, their home says where it is")
        elif not joint.lower <= value <= joint.upper:
            faults.append(f"{key}: {value} is outside its limits {joint.lower} to {joint.upper}")


def _arm_faults(
    key: str,
    arm: ArmFile,
    spec: RobotFile,
    model: UrdfModel,
    joints: Mapping[str, Joint],
    faults: list[str],
) -> None:
    """Add the faults of an arm; the limits of ``joints`` are narrowed by those that follow them."""
    for field, link in (("base_link", arm.base_link), ("ee_link", arm.ee_link), ("tcp_link", arm.tcp_link)):
        _known(link, model.links, f"{key}.{field}", "link", faults)
    for i, (name, home) in enumerate(zip(arm.joints, arm.home, strict=True)):
        if not _known(name, list(model.joints), f"{key}.joints[{i}]", "joint", faults):
            continue
        joint = joints[name]
        if joint.type is JointKind.FIXED:
            faults.append(f"{key}.joints[{i}]: {name} is fixed; name a joint that moves")
        elif joint.mimic is not None:
            faults.append(
                f"{key}.joints[{i}]: {name} mimics {joint.mimic.joint}; name that one, or take it out"
            )
        elif name not in spec.limits:
            faults.append(f"limits.{name}: missing; add its acceleration and jerk")
        elif not joint.lower <= home <= joint.upper:
            narrowed = "" if joint is model.joints[name] else ", which joints that follow it narrow"
            faults.append(
                f"{key}.home[{i}]: {home} is outside {name}'s limits {joint.lower} to {joint.upper}{narrowed}"
            )
    for field in ("filter_links", "forbid_collision_links"):
        for i, link in enumerate(getattr(arm, field)):
            _known(link, model.links, f"{key}.{field}[{i}]", "link", faults)
    if arm.suction is not None:
        _known(arm.suction.link, model.links, f"{key}.suction.link", "link", faults)
    if arm.payload is not None and arm.payload.flange:
        _flange_faults(key, arm, arm.payload.flange, model, faults)
    if arm.gripper is None:
        return
    for i, link in enumerate(arm.gripper.finger_links):
        _known(link, model.links, f"{key}.gripper.finger_links[{i}]", "link", faults)
    if _known(arm.gripper.joint, list(model.joints), f"{key}.gripper.joint", "joint", faults):
        followed = model.joints[arm.gripper.joint].mimic
        if followed is not None:
            text = f"{arm.gripper.joint} follows {followed.joint}; name a joint that moves by itself"
            faults.append(f"{key}.gripper.joint: {text}")
    if arm.filter_links and set(arm.filter_links) != set(arm.gripper.finger_links):
        faults.append(f"{key}.filter_links: differ from gripper.finger_links; write the same links")


def _flange_faults(key: str, arm: ArmFile, flange: str, model: UrdfModel, faults: list[str]) -> None:
    """Refuse a flange that is no link between the arm's last joint and its hand."""
    if not _known(flange, model.links, f"{key}.payload.flange", "link", faults):
        return
    above, last = {joint.child: joint for joint in model.joints.values()}, arm.joints[-1]
    chain, link = [arm.ee_link], arm.ee_link
    while link in above and above[link].name != last:
        link = above[link].parent
        chain.append(link)
    if flange not in chain:
        faults.append(
            f"{key}.payload.flange: is {flange!r}; name the link at the end of the arm, one of {chain[::-1]}"
        )


def _known(name: str, names: list[str] | tuple[str, ...], key: str, what: str, faults: list[str]) -> bool:
    if name in names:
        return True
    faults.append(f"{key}: no {what} {name!r} in the URDF; {nearest(name, names)}")
    return False


def _limited(joint: Joint, limits: MotionLimits | None) -> Joint:
    if limits is None:
        return joint
    return dataclasses.replace(joint, acceleration=limits.acceleration, jerk=limits.jerk)


def _all_spheres(path: Path, links: tuple[str, ...]) -> tuple[Spheres, ...]:
    found = load(SpheresFile, path).links
    unknown = [f"links.{link}: no such link; {nearest(link, links)}" for link in found if link not in links]
    if unknown:
        raise ConfigError(str(path), unknown)
    return tuple(_spheres(link, items) for link, items in found.items())


def _spheres(link: str, items: tuple[SphereFile, ...]) -> Spheres:
    centers: Array = np.array([item.center for item in items], dtype=np.float64).reshape(-1, 3)
    return Spheres(link, frozen(centers), frozen([item.radius for item in items]))


def _arm(name: str, arm: ArmFile) -> ArmSpec:
    tool = arm.gripper or arm.suction
    gripper = tool.build() if tool is not None else None
    return ArmSpec(
        name, arm.base_link, arm.ee_link, arm.tcp_link, arm.joints, frozen(arm.home), gripper,
        frozen(arm.home_std), arm.filter_links, arm.forbid_collision_links, arm.controller_profile,
        arm.controller, arm.hardware_controller, arm.driver.build() if arm.driver is not None else None,
        arm.payload.mass if arm.payload is not None else 0.0, arm.payload.flange if arm.payload is not None else "",
    )  # fmt: skip
