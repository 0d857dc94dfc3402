"""Builds a compiled MuJoCo model from a robot and a scene: servos, contact settings, inertias.

The simulator's module is an argument, because ``mujoco/world.py`` alone imports it.
"""

# ruff: noqa: ANN401 the simulator's module is an argument

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from handiwork_core.control.finger_drives import finger_drives, finger_joints
from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import Shape, ShapeKind
from handiwork_core.robot.followers import followers_of, followers_of_arms
from handiwork_core.robot.kinematics import joint_position
from handiwork_core.robot.robot import GripperSpec, Joint, Robot
from handiwork_core.scene.loader import Scene, SceneObject
from sim_bridge.mujoco.belts import make_belt, part_fixtures, soften
from sim_bridge.mujoco.cup_lip import soften_lips
from sim_bridge.mujoco.parts import add_part
from sim_bridge.mujoco.suction import add_seals

STEP_S = 0.001
"""The length of a physics step, s."""

CONTACT = (2.0 * STEP_S, 1.0)
"""Time constant [s] and damping ratio of contacts, as stiff as the step allows.

The solver ignores how contact frames change in a turn, so a held object slips by speed x angle x this constant / 2:
1 mm per radian at 1 m/s.
"""

FIRST_TOUCH = 0.1
"""Impedance d of a soft contact at depth 0.

MuJoCo's contacts are ``d / (1 - d)`` times as stiff as their time constant says: with the usual 0.95 nineteen times.
"""

ARM_BANDWIDTH = 100.0
"""Natural frequency of the joint servos [rad/s]: a reference accelerating at 10 rad/s^2 is followed within 1 mrad."""

ROTOR_INERTIA = 0.1
"""Reflected rotor inertia of an arm joint [kg*m^2], typical of geared arms; it keeps light wrists stable."""

FINGER_FRICTION = (1.2, 0.02, 0.0001)
"""Rubber tips: sliding, torsional [m], rolling [m]."""

ROBOT_BIT, OBJECT_BIT = 2, 1
"""Robot links touch objects; objects touch objects. Links do not touch links: their boxes are rough hulls that overlap,
and a plan is checked against self-collision with finer spheres."""


def compile_model(mj: Any, robot: Robot, scene: Scene) -> Any:
    """Build the model; actuators are ``<joint>`` (position) and, for arms, ``<joint>/rate`` (velocity feed-forward).

    Args:
        mj: The simulator's module.
        robot: The robot.
        scene: The scene.

    Returns:
        The compiled model.

    Raises:
        ValueError: The robot description or a scene object cannot be compiled; the message is the simulator's.
    """
    spec = mj.MjSpec()
    spec.option.timestep = STEP_S
    spec.option.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mj.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    spec.option.noslip_iterations = 3
    add_robot(mj, spec, robot, scene.world_T_base)
    for item in scene.objects:
        _add_object(mj, spec, item)
    part_fixtures(spec, scene)
    add_seals(mj, spec, robot, scene)
    try:
        model = spec.compile()
        soften_lips(mj, spec, model, robot)
        _add_servos(mj, spec, model, robot)
        return spec.compile()
    except ValueError as error:
        raise ValueError(
            f"{scene.source}: the simulator refuses robot {robot.name!r} in this scene: {error}"
        ) from error


def driven_joints(robot: Robot) -> tuple[Joint, ...]:
    """Return all joints that move, those that mimic too, in the robot's order.

    Args:
        robot: The robot.
    """
    return tuple(joint for joint in robot.joints.values() if joint.type is not JointKind.FIXED)


def grippers(robot: Robot) -> tuple[GripperSpec, ...]:
    """Return the grippers of all arms that have fingers to drive; a suction cup has none.

    Args:
        robot: The robot.
    """
    tools = (arm.gripper for arm in robot.arms.values() if arm.gripper is not None)
    return tuple(tool for tool in tools if tool.suction is None)


def held_joints(robot: Robot) -> tuple[str, ...]:
    """Return joints that neither an arm nor a gripper moves, such as a lift: a servo holds each at its start.

    Those that follow a joint of an arm are moved by it: the simulator couples them as the URDF says.

    Args:
        robot: The robot.

    Returns:
        Names of the joints.
    """
    moved = {name for arm in robot.arms.values() for name in arm.joint_names}
    moved |= {name for gripper in grippers(robot) for name in finger_joints(robot, gripper)}
    moved |= set(robot.base.joint_names) if robot.base is not None else set()
    moved |= followers_of_arms(robot)
    return tuple(joint.name for joint in driven_joints(robot) if joint.name not in moved)


def home_positions(robot: Robot) -> dict[str, float]:
    """Return the joint positions at the start of the world: posture, home of the arms, home width of the grippers.

    Args:
        robot: The robot.

    Returns:
        Name of the joint -> position, rad or m.
    """
    return {joint.name: joint_position(robot, joint.name, {}) for joint in driven_joints(robot)}


def drawn_home(robot: Robot, seed: int) -> Robot:
    """Return the robot with homes drawn about its own by their deviations, within the joint limits.

    Args:
        robot: The robot.
        seed: Seed of the draw.

    Returns:
        A robot that differs in the arms with deviations only.
    """
    rng, arms = np.random.default_rng(seed), dict(robot.arms)
    for name, arm in robot.arms.items():
        if arm.home_std.any():
            low, high = np.array([(robot.joints[j].lower, robot.joints[j].upper) for j in arm.joint_names]).T
            drawn = np.clip(rng.normal(arm.home_q, arm.home_std), low, high)
            arms[name] = replace(arm, home_q=frozen(drawn))
    return replace(robot, arms=arms)


def add_robot(mj: Any, spec: Any, robot: Robot, world_T_base: Pose) -> None:
    """Add the robot's bodies ``<robot>/<link>`` with its collision shapes.

    Args:
        mj: The simulator's module.
        spec: The specification of the model.
        robot: The robot.
        world_T_base: Pose of its root link.

    Raises:
        ValueError: The simulator cannot read the URDF; the message says why.
    """
    settings = 'strippath="false" fusestatic="false" discardvisual="true" balanceinertia="true"'
    options = f"<mujoco><compiler {settings}/></mujoco>"
    urdf = re.sub(r"(<robot\b[^>]*>)", lambda found: found.group(1) + options, robot.urdf, count=1)
    urdf = urdf.replace("file://", "")
    try:
        part = mj.MjSpec.from_string(urdf)
    except ValueError as error:
        raise ValueError(f"robot {robot.name!r}: the simulator cannot read its URDF: {error}") from error
    fingers = {link for gripper in grippers(robot) for link in gripper.finger_links}
    for body in part.bodies:
        body.gravcomp = 1.0
        for geom in body.geoms:
            geom.contype, geom.conaffinity = ROBOT_BIT, 0
            geom.friction = FINGER_FRICTION if body.name in fingers else (0.6, 0.005, 0.0001)
            geom.condim = 4 if body.name in fingers else 3
            geom.solref, geom.solimp = CONTACT, (0.95, 0.99, 0.001, 0.5, 2.0)
    for coupling in part.equalities:
        coupling.solref, coupling.solimp = CONTACT, (0.99, 0.999, 0.0001, 0.5, 2.0)
    drives = {drive.joint: drive for gripper in grippers(robot) for drive in finger_drives(robot, gripper)}
    led = followers_of_arms(robot)
    for joint in part.joints:
        if joint.name not in led:
            joint.armature = drives[joint.name].armature if joint.name in drives else ROTOR_INERTIA
    frame = spec.worldbody.add_frame(pos=world_T_base.translation_m, quat=world_T_base.rotation.wxyz)
    spec.attach(part, frame=frame, prefix=f"{robot.name}/")


def _add_servos(mj: Any, spec: Any, model: Any, robot: Robot) -> None:
    """Add servos for every joint. Their gains come from the inertia that each joint has at home."""
    data = mj.MjData(model)
    for name, position in home_positions(robot).items():
        data.joint(f"{robot.name}/{name}").qpos[0] = position
    mj.mj_forward(model, data)
    inertia = np.zeros((model.nv, model.nv))
    mj.mj_fullM(model, data, inertia)
    for gripper in grippers(robot):
        for drive in finger_drives(robot, gripper):
            if drive.stiffness > 0.0:
                limit = gripper.max_force_n * drive.force_per_grip
                _servo(mj, spec, f"{robot.name}/{drive.joint}", drive.stiffness, drive.damping, limit)
    in_arms = [name for arm in robot.arms.values() for name in arm.joint_names]
    in_arms += robot.base.joint_names if robot.base is not None else ()
    for name in (*in_arms, *held_joints(robot)):
        joint = f"{robot.name}/{name}"
        moves = np.zeros(model.nv)
        moves[model.joint(joint).dofadr[0]] = 1.0
        for each in followers_of(robot.joints, name) if name in in_arms else ():
            assert each.mimic is not None
            moves[model.joint(f"{robot.name}/{each.name}").dofadr[0]] = each.mimic.multiplier
        seen = float(moves @ inertia @ moves)
        _servo(mj, spec, joint, seen * ARM_BANDWIDTH**2, 2.0 * seen * ARM_BANDWIDTH, 0.0)
        if name in in_arms:
            rate = spec.add_actuator(name=f"{joint}/rate", target=joint, trntype=mj.mjtTrn.mjTRN_JOINT)
            rate.gainprm[0] = 2.0 * seen * ARM_BANDWIDTH


def _servo(mj: Any, spec: Any, joint: str, stiffness: float, damping: float, max_force: float) -> None:
    servo = spec.add_actuator(name=joint, target=joint, trntype=mj.mjtTrn.mjTRN_JOINT)
    servo.biastype = mj.mjtBias.mjBIAS_AFFINE
    servo.gainprm[0] = stiffness
    servo.biasprm[1:3] = (-stiffness, -damping)
    if max_force > 0.0:
        servo.forcelimited, servo.forcerange = True, (-max_force, max_force)


def _add_object(mj: Any, spec: Any, item: SceneObject) -> None:
    if item.body.articulation is not None:
        body = add_part(mj, spec, item, item.body.articulation)
    else:
        pose = item.world_T_object
        body = spec.worldbody.add_body(name=item.name, pos=pose.translation_m, quat=pose.rotation.wxyz)
        if not item.body.is_static:
            body.add_freejoint(name=item.name)
        elif item.belt is not None:
            make_belt(mj, body, item.name)
    volumes = [_volume(shape) for shape in item.body.shapes]
    for index, (shape, volume) in enumerate(zip(item.body.shapes, volumes, strict=True)):
        geom = add_shape(mj, spec, body, shape, f"{item.name}/{index}")
        geom.mass = item.body.mass_kg * volume / sum(volumes)
        geom.contype, geom.conaffinity = OBJECT_BIT, OBJECT_BIT | ROBOT_BIT
        geom.friction, geom.condim = (item.friction, 0.005, 0.0005), 4
        geom.solref, geom.solimp = CONTACT, (0.95, 0.99, 0.001, 0.5, 2.0)
        geom.rgba = item.color
        if item.belt is not None:
            soften(geom)
        if item.contact_s > 0.0:  # also in a contact with something harder
            geom.priority, geom.solref = 1, (item.contact_s, 1.0)
        if item.contact_m > 0.0:
            geom.solimp = (FIRST_TOUCH, 0.95, item.contact_m, 0.5, 2.0)


def add_shape(mj: Any, spec: Any, body: Any, shape: Shape, name: str) -> Any:
    """Add a convex solid to a body.

    Args:
        mj: The simulator's module.
        spec: The specification of the model.
        body: The body.
        shape: The solid.
        name: Name of its geom: ``<object>/<number>``.

    Returns:
        The geom.

    Raises:
        ValueError: The solid is concave.
    """
    types = {
        ShapeKind.BOX: mj.mjtGeom.mjGEOM_BOX,
        ShapeKind.SPHERE: mj.mjtGeom.mjGEOM_SPHERE,
        ShapeKind.CYLINDER: mj.mjtGeom.mjGEOM_CYLINDER,
        ShapeKind.CAPSULE: mj.mjtGeom.mjGEOM_CAPSULE,
        ShapeKind.CONVEX: mj.mjtGeom.mjGEOM_MESH,
    }
    if shape.kind not in types:
        raise ValueError(
            f"object {name.rsplit('/', 1)[0]!r} has a concave mesh, which MuJoCo would fill to its convex hull; "
            "cut it into convex parts (CoACD does) and list those as its shapes, or take concave: true away"
        )
    placed = shape.object_T_shape
    geom = body.add_geom(
        name=name, type=types[shape.kind], pos=placed.translation_m, quat=placed.rotation.wxyz
    )
    if shape.vertices is not None:
        spec.add_mesh(name=name, uservert=shape.vertices.ravel())
        geom.meshname = name
        return geom
    half = shape.size / 2.0 if shape.kind is ShapeKind.BOX else shape.size * (1.0, 0.5)[: len(shape.size)]
    geom.size = np.concatenate([half, np.zeros(3 - len(half))])
    return geom


def _volume(shape: Shape) -> float:
    if shape.vertices is not None:
        return float(ConvexHull(shape.vertices).volume)
    if shape.kind is ShapeKind.BOX:
        return float(np.prod(shape.size))
    radius = float(shape.size[0])
    ball = 4.0 / 3.0 * np.pi * radius**3
    if shape.kind is ShapeKind.SPHERE:
        return ball
    rod = np.pi * radius**2 * float(shape.size[1])
    return rod + ball if shape.kind is ShapeKind.CAPSULE else rod
