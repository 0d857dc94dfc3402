"""What a request must be before an engine sees it. Every refusal names the field, its value and the mend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from handiwork_core.config.dataclass_loader import nearest
from handiwork_core.contracts.planning import (
    Capability,
    JointGoals,
    PathRest,
    PlanRequest,
    PoseGoals,
    SceneQuery,
)
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot

MAX_BUDGET_S = 300.0
STAMP_S = 1e-6
"""Stamps that differ by less are equal: a message holds nanoseconds."""


class Refused(Exception):
    """The request cannot be served as it is."""

    def __init__(self, code: Code, message: str, field: str = "") -> None:
        self.outcome = Outcome(code, message, field_name=field)
        super().__init__(message)


def checked_arm(robot: Robot, name: str) -> ArmSpec:
    """The named arm, or the only one."""
    try:
        return robot.arm(name)
    except KeyError as error:
        raise Refused(Code.BAD_GOAL, str(error.args[0]), "options.arm") from error


def check_limits(budget_s: float, velocity_scaling: float, acceleration_scaling: float) -> None:
    """Budget in (0, 300] s, scalings in (0, 1]."""
    limits = (
        ("allowed_planning_time", budget_s, MAX_BUDGET_S),
        ("max_velocity_scaling_factor", velocity_scaling, 1.0),
        ("max_acceleration_scaling_factor", acceleration_scaling, 1.0),
    )
    for name, value, top in limits:
        if not 0.0 < value <= top:
            text = f"options.{name} is {value:g}; send a number above 0 and at most {top:g}"
            raise Refused(Code.BAD_NUMBER, text, f"options.{name}")


def checked_q(values: Iterable[float], arm: ArmSpec, field: str) -> Array:
    """Configurations one after another as (n, dof), n >= 1."""
    flat, dof = np.asarray(tuple(values), dtype=np.float64), len(arm.joint_names)
    if flat.size == 0 or flat.size % dof:
        text = f"{field} has {flat.size} numbers; send {dof} per configuration of arm {arm.name!r}"
        raise Refused(Code.BAD_GOAL, text, field)
    if not np.isfinite(flat).all():
        raise Refused(Code.BAD_NUMBER, f"{field} is {flat.tolist()}; send finite numbers", field)
    return flat.reshape(-1, dof)


def ordered_q(position: Mapping[str, float], arm: ArmSpec, field: str) -> Array:
    """Joint positions (dof,) in the arm's order, from a mapping by name."""
    missing = [name for name in arm.joint_names if name not in position]
    if missing:
        raise Refused(Code.BAD_GOAL, f"{field} lacks {missing}; name every joint of arm {arm.name!r}", field)
    return np.array([position[name] for name in arm.joint_names])


def check_scene(scene: SceneQuery, world: World, robot: Robot, field: str = "options.scene") -> None:
    """Objects, links and joints that a scene names exist."""
    objects, links = sorted(world.objects), {f"{robot.name}/{link}" for link in robot.links}
    for name in sorted(scene.ignored):
        _known(name, objects, f"{field}.ignored", Code.UNKNOWN_OBJECT)
    for item in scene.attached:
        _known(item.object, objects, f"{field}.attached.object", Code.UNKNOWN_OBJECT)
        _known(item.link, sorted(robot.links), f"{field}.attached.link", Code.BAD_GOAL)
    for body in sorted({body for pair in scene.allowed for body in pair}):
        _known(body, [*objects, *sorted(links)], f"{field}.allowed", Code.UNKNOWN_OBJECT)
    for joint, value in scene.gripper_m:
        _known(joint, sorted(robot.joints), f"{field}.gripper", Code.BAD_GOAL)
        if not np.isfinite(value):
            text = f"{field}.gripper: {joint} is {value}; send a finite number"
            raise Refused(Code.BAD_NUMBER, text, f"{field}.gripper")


def check_others(scene: SceneQuery, world: World, robot: Robot, arm: ArmSpec) -> None:
    """Other arms are arms of the robot beside the one that is planned for, and their rows have its joints."""
    for i, other in enumerate(scene.others):
        field = f"options.scene.others[{i}]"
        _known(other.arm, sorted(set(robot.arms) - {arm.name}), f"{field}.arm", Code.BAD_GOAL)
        dof = len(robot.arm(other.arm).joint_names)
        if len(other.q) and other.q.shape[1] != dof:
            text = (
                f"{field}.positions has {other.q.shape[1]} numbers a row; arm {other.arm!r} has {dof} joints"
            )
            raise Refused(Code.BAD_GOAL, text, f"{field}.positions")
        inner = SceneQuery(attached=other.attached, gripper_m=other.gripper_m)
        check_scene(inner, world, robot, field)


def check_newness(heard: World, rest: PathRest) -> None:
    """Refuse a world in which what made the client ask has not arrived yet."""
    if heard.version < rest.objects_version:
        text = f"world/objects is at version {heard.version}, min_objects_version is {rest.objects_version}"
        raise Refused(Code.STALE_WORLD, f"{text}; ask again", "min_objects_version")
    if heard.stamp_s < rest.states_stamp_s - STAMP_S:
        text = (
            f"world/object_states is of {heard.stamp_s:.3f} s, min_states_stamp is {rest.states_stamp_s:.3f}"
        )
        raise Refused(Code.STALE_WORLD, f"{text}; ask again", "min_states_stamp")


def check_world(world: World, min_version: int) -> None:
    """The world is known, and not older than asked for."""
    unplaced = sorted(set(world.objects) - set(world.states))
    if unplaced:
        raise Refused(Code.STALE_WORLD, f"no pose was received for {unplaced}; publish world/object_states")
    if world.version < min_version:
        text = f"the world is at version {world.version}, options.min_world_version is {min_version}; ask again later"
        raise Refused(Code.STALE_WORLD, text, "options.min_world_version")


def check_capabilities(engine: str, capabilities: frozenset[Capability], request: PlanRequest) -> None:
    """The engine can honour every part of the request."""
    goal = request.goal
    kind = Capability.STRAIGHT
    if isinstance(goal, PoseGoals):
        kind = Capability.POSE_GOALS
    elif isinstance(goal, JointGoals):
        kind = Capability.JOINT_GOALS
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
        raise Refused(Code.UNSUPPORTED, text)


def _known(name: str, choices: list[str], field: str, code: Code) -> None:
    if name not in choices:
        hint = nearest(name, choices) if choices else "there is none"
        raise Refused(code, f"{field}: {name!r} is not known; {hint}", field)
