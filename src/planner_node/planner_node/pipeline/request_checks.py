"""The checks of a request before an engine gets it. Every refusal names the field, its value and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.contracts.planning import (
    Capability,
    JointGoals,
    PathGoal,
    PathRest,
    PlanRequest,
    PoseGoals,
    SceneQuery,
)
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.voxels.voxel_map import UNMODELLED

MAX_BUDGET_S = 300.0
STAMP_S = 1e-6
"""Stamps that differ by less are equal: a message holds nanoseconds."""


class RequestRefused(HandiworkError):
    """The request cannot be served as it is.

    Args:
        code: Kind of the refusal.
        message: Explanation that names the field, its value and what to do.
        field: Name of the field; empty when none is at fault.
    """

    def __init__(self, code: Code, message: str, field: str = "") -> None:
        super().__init__(Outcome(code, message, field_name=field))


def checked_arm(robot: Robot, name: str) -> ArmSpec:
    """Return the named arm, or the only one for an empty name.

    Args:
        robot: The robot.
        name: Name of the arm.

    Raises:
        Refused: The robot has no such arm, or the name is empty and it has several.
    """
    try:
        return robot.arm(name)
    except KeyError as error:
        raise RequestRefused(Code.BAD_GOAL, str(error.args[0]), "options.arm") from error


def check_limits(budget_s: float, velocity_scaling: float, acceleration_scaling: float) -> None:
    """Check the limits of a request.

    Args:
        budget_s: Planning time, above 0 and at most 300 s.
        velocity_scaling: Share of the velocity limits, above 0 and at most 1.
        acceleration_scaling: Share of the acceleration limits, above 0 and at most 1.

    Raises:
        Refused: A value is outside its range.
    """
    limits = (
        ("allowed_planning_time", budget_s, MAX_BUDGET_S),
        ("max_velocity_scaling_factor", velocity_scaling, 1.0),
        ("max_acceleration_scaling_factor", acceleration_scaling, 1.0),
    )
    for name, value, top in limits:
        if not 0.0 < value <= top:
            text = f"options.{name} is {value:g}; send a number above 0 and at most {top:g}"
            raise RequestRefused(Code.BAD_NUMBER, text, f"options.{name}")


def checked_q(values: Iterable[float], arm: ArmSpec, field: str) -> Array:
    """Return a list of numbers as configurations.

    Args:
        values: Configurations one after another, rad or m.
        arm: The arm.
        field: Name of the field, for errors.

    Returns:
        Joint positions, (n, dof), n >= 1.

    Raises:
        Refused: The count is 0 or no multiple of dof, or a number is not finite.
    """
    flat, dof = np.asarray(tuple(values), dtype=np.float64), len(arm.joint_names)
    if flat.size == 0 or flat.size % dof:
        text = f"{field} has {flat.size} numbers; send {dof} per configuration of arm {arm.name!r}"
        raise RequestRefused(Code.BAD_GOAL, text, field)
    if not np.isfinite(flat).all():
        raise RequestRefused(Code.BAD_NUMBER, f"{field} is {flat.tolist()}; send finite numbers", field)
    return flat.reshape(-1, dof)


def ordered_q(position: Mapping[str, float], arm: ArmSpec, field: str) -> Array:
    """Return joint positions in the arm's order.

    Args:
        position: Name of the joint -> position, rad or m.
        arm: The arm.
        field: Name of the field, for errors.

    Returns:
        Joint positions, (dof,).

    Raises:
        Refused: A joint of the arm is missing.
    """
    missing = [name for name in arm.joint_names if name not in position]
    if missing:
        raise RequestRefused(
            Code.BAD_GOAL, f"{field} lacks {missing}; name every joint of arm {arm.name!r}", field
        )
    return np.array([position[name] for name in arm.joint_names])


def check_scene(scene: SceneQuery, world: World, robot: Robot, field: str = "options.scene") -> None:
    """Check that the objects, links and joints that a scene names exist.

    Args:
        scene: The scene.
        world: The world with its objects.
        robot: The robot.
        field: Name of the field, for errors.

    Raises:
        Refused: A name is unknown, or a gripper position is not finite.
    """
    objects = sorted({*world.objects, UNMODELLED} if world.voxels is not None else world.objects)
    links = {f"{robot.name}/{link}" for link in robot.links}
    for name in sorted(scene.ignored):
        _known(name, objects, f"{field}.ignored", Code.UNKNOWN_OBJECT)
    for item in scene.attached:
        _known(item.object, sorted(world.objects), f"{field}.attached.object", Code.UNKNOWN_OBJECT)
        _known(item.link, sorted(robot.links), f"{field}.attached.link", Code.BAD_GOAL)
    for body in sorted({body for pair in scene.allowed for body in pair}):
        if body != UNMODELLED:  # clients cannot know whether somebody looks for them
            _known(body, [*objects, *sorted(links)], f"{field}.allowed", Code.UNKNOWN_OBJECT)
    for joint, value in scene.gripper_m:
        _known(joint, sorted(robot.joints), f"{field}.gripper", Code.BAD_GOAL)
        if not np.isfinite(value):
            text = f"{field}.gripper: {joint} is {value}; send a finite number"
            raise RequestRefused(Code.BAD_NUMBER, text, f"{field}.gripper")


def check_others(scene: SceneQuery, world: World, robot: Robot, arm: ArmSpec) -> None:
    """Check that other arms exist, are not the arm that is planned for, and have rows of the right length.

    Args:
        scene: The scene.
        world: The world with its objects.
        robot: The robot.
        arm: The arm that is planned for.

    Raises:
        Refused: An entry of ``others`` is invalid.
    """
    for i, other in enumerate(scene.others):
        field = f"options.scene.others[{i}]"
        _known(other.arm, sorted(set(robot.arms) - {arm.name}), f"{field}.arm", Code.BAD_GOAL)
        dof = len(robot.arm(other.arm).joint_names)
        if len(other.q) and other.q.shape[1] != dof:
            text = (
                f"{field}.positions has {other.q.shape[1]} numbers a row; arm {other.arm!r} has {dof} joints"
            )
            raise RequestRefused(Code.BAD_GOAL, text, f"{field}.positions")
        inner = SceneQuery(attached=other.attached, gripper_m=other.gripper_m)
        check_scene(inner, world, robot, field)


def check_newness(world: World, rest: PathRest) -> None:
    """Refuse a world that does not yet contain the change for which the client asks.

    Args:
        world: The received world.
        rest: The part of the motion, with the oldest geometry and poses that may be used.

    Raises:
        Refused: STALE_WORLD, when the geometry or the poses are older.
    """
    if world.version < rest.objects_version:
        text = f"world/objects is at version {world.version}, min_objects_version is {rest.objects_version}"
        raise RequestRefused(Code.STALE_WORLD, f"{text}; ask again", "min_objects_version")
    if world.stamp_s < rest.states_stamp_s - STAMP_S:
        text = (
            f"world/object_states is of {world.stamp_s:.3f} s, min_states_stamp is {rest.states_stamp_s:.3f}"
        )
        raise RequestRefused(Code.STALE_WORLD, f"{text}; ask again", "min_states_stamp")


def check_world(world: World, min_version: int) -> None:
    """Check that every object has a pose, and that the world is not older than requested.

    Args:
        world: The world.
        min_version: Oldest version that may be used.

    Raises:
        Refused: STALE_WORLD, when one of both fails.
    """
    unplaced = sorted(set(world.objects) - set(world.states))
    if unplaced:
        raise RequestRefused(
            Code.STALE_WORLD, f"no pose was received for {unplaced}; publish world/object_states"
        )
    if world.version < min_version:
        text = f"the world is at version {world.version}, options.min_world_version is {min_version}; ask again later"
        raise RequestRefused(Code.STALE_WORLD, text, "options.min_world_version")


def check_capabilities(engine: str, capabilities: frozenset[Capability], request: PlanRequest) -> None:
    """Check that the engine supports every part of the request.

    Args:
        engine: Name of the engine, for errors.
        capabilities: Capabilities of the engine.
        request: The request.

    Raises:
        Refused: UNSUPPORTED, when a capability is missing.
    """
    goal = request.goal
    kind = Capability.STRAIGHT
    if isinstance(goal, PoseGoals):
        kind = Capability.POSE_GOALS
    elif isinstance(goal, JointGoals):
        kind = Capability.JOINT_GOALS
    elif isinstance(goal, PathGoal):
        kind = Capability.PATH
    needed = [kind]
    if request.hold_vec_weight is not None:
        needed.append(Capability.HOLD_VEC_WEIGHT)
    if request.scene.attached:
        needed.append(Capability.ATTACHED)
    if request.scene.others:
        needed.append(Capability.OTHER_ARMS)
    lacking = [c.value for c in needed if c not in capabilities]
    if lacking:
        text = f"engine {engine!r} cannot do {lacking}; it can do {sorted(c.value for c in capabilities)}"
        raise RequestRefused(Code.UNSUPPORTED, text)


def _known(name: str, choices: list[str], field: str, code: Code) -> None:
    if name not in choices:
        hint = nearest(name, choices) if choices else "there is none"
        raise RequestRefused(code, f"{field}: {name!r} is not known; {hint}", field)
