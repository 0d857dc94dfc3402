"""Functions shared by skills that only move the arm: pose of the hand, held object, reachable poses, arrival."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from handiwork_core.contracts.arrival import ee_pose
from handiwork_core.contracts.commands import (
    CloseGripper,
    Function,
    OpenGripper,
)
from handiwork_core.contracts.planning import Attachment
from handiwork_core.contracts.skill import Context, StepFailed
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.geometry import Array, Pose, Rotation
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot.robot import ArmSpec
from skill_server.params import checks
from skill_server.state import gripper_state
from skill_server.state.held_object import held_name
from skill_server.state.scene_query import ignored_objects, objects_inside, supports

OPEN, KEEP, CLOSE = 1, 0, -1
"""Values of the parameter ``gripper_state``."""
AXES = {
    "+x": (1.0, 0.0, 0.0),
    "-x": (-1.0, 0.0, 0.0),
    "+y": (0.0, 1.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "+z": (0.0, 0.0, 1.0),
    "-z": (0.0, 0.0, -1.0),
}


def hand(context: Context, world: World) -> Pose:
    """Return the measured EE pose.

    Args:
        context: Context of the run.
        world: Snapshot with the measured joints.

    Returns:
        world_T_ee.
    """
    return ee_pose(world, context.robot, context.arm_spec, context.world.world_T_base())


def world_begun(context: Context, world: World) -> World:
    """Return the world of the run's beginning: an earlier attempt may have moved the arm since.

    Args:
        context: Context of the run.
        world: Snapshot that is taken where no run has begun.

    Returns:
        The snapshot to which a relative goal refers.
    """
    return world if context.begun is None else context.begun


def hand_at(context: Context, q: Array) -> Pose:
    """Return the EE pose at a configuration.

    Args:
        context: Context of the run.
        q: Configuration, (dof,), rad or m.

    Returns:
        world_T_ee.
    """
    return context.world.world_T_base() @ forward(context.robot, context.arm_spec.name, q)


def held(context: Context, world: World, name: str = "") -> Attachment:
    """Return the held object, as recorded when it was grasped, else by measurement, which is then recorded.

    Args:
        context: Context of the run, whose ``held`` is read and written.
        world: Snapshot with the contacts.
        name: Object that must be held; empty: any.

    Returns:
        The object and its pose in the EE frame.

    Raises:
        StepFailed: The gripper holds nothing, or not the object ``name``.
    """
    found = held_name(context, world)
    if not found or found not in world.states:
        text = "the gripper holds nothing; pick an object first"
        raise StepFailed(Outcome(Code.CONTRADICTION, text, "select", "object"))
    if name and found != name:
        text = f"the gripper holds {found!r}, not {name!r}; leave object empty or name {found!r}"
        raise StepFailed(Outcome(Code.CONTRADICTION, text, "select", "object"))
    if found not in context.held:
        base = context.world.world_T_base()
        context.held[found] = gripper_state.attachment(world, context.robot, context.arm_spec, base, found)
    return context.held[found]


def contents(context: Context, world: World) -> frozenset[str]:
    """Return the objects that are inside of the held ones and move with them.

    Args:
        context: Context of the run.
        world: Snapshot of the world.

    Returns:
        Names of the objects whose origin is within the bounds of a held object.
    """
    return frozenset().union(*(objects_inside(world, name) for name in context.held if name in world.states))


def touching_now(context: Context, world: World) -> frozenset[str]:
    """Return the objects on which the held ones rest now, and which they must be allowed to leave.

    Args:
        context: Context of the run.
        world: Snapshot of the world.

    Returns:
        Names of the supporting objects.
    """
    return frozenset().union(*(supports(world, name) for name in context.held if name in world.states))


def no_obstacles(substrings: Sequence[str], context: Context, world: World) -> frozenset[str]:
    """Return the objects that no motion of a goal avoids.

    Args:
        substrings: Parts of names, as in ``ignore_substring``.
        context: Context of the run.
        world: Snapshot of the world.

    Returns:
        Names of the objects that the goal names, and of those inside of the held ones.
    """
    return ignored_objects(substrings, world) | contents(context, world)


def check_length(field: str, vector: tuple[float, float, float]) -> Outcome:
    """Refuse a direction without a length.

    Args:
        field: Name of the parameter.
        vector: The direction.

    Returns:
        OK, or the fault.
    """
    if float(np.linalg.norm(vector)) > 1e-6:
        return OK
    return checks.fault(
        Code.BAD_NUMBER, field, f"{field} {list(vector)} has no length; write one such as [0, 0, -1]"
    )


def gripper_functions(state: int) -> tuple[Function, ...]:
    """Return the functions of a stage that opens or closes the gripper.

    Args:
        state: ``OPEN``, ``CLOSE`` or ``KEEP``.

    Returns:
        One function; none for ``KEEP``.
    """
    if state == OPEN:
        return (OpenGripper(),)
    return (CloseGripper(),) if state == CLOSE else ()


def check_gripper_state(state: int, arm: ArmSpec, *, keep: bool = True) -> Outcome:
    """Refuse an unknown gripper state, and a gripper motion of an arm that has no gripper.

    Args:
        state: Field ``gripper_state``.
        arm: Arm of the goal.
        keep: True when ``KEEP`` is valid.

    Returns:
        OK, or the fault.
    """
    words = {OPEN: "1 to open", CLOSE: "-1 to close"} | ({KEEP: "0 to keep"} if keep else {})
    if state not in words:
        text = f"gripper_state is {state}; use {', '.join(words.values())}"
        return checks.fault(Code.BAD_GOAL, "gripper_state", text)
    return OK if state == KEEP else checks.with_gripper(arm)


def check_run(params: SkillParams) -> Outcome:
    """Check the fields that every skill has for the executor.

    Args:
        params: Parameters of the skill.

    Returns:
        OK, or the faults.
    """
    return checks.all_faults(
        checks.execution(
            params.t_eps,
            params.o_eps,
            params.max_velocity_scaling_factor,
            params.max_acceleration_scaling_factor,
            params.allowed_planning_time,
        )
    )


def check_vector(field_name: str, values: Sequence[float], most: float, unit: str) -> Outcome:
    """Refuse components whose absolute value is above ``most``.

    Args:
        field_name: Field of the goal.
        values: Components.
        most: Largest absolute value of a component.
        unit: Unit in the message.

    Returns:
        OK, or the faults.
    """
    return checks.all_faults(
        checks.number(f"{field_name}[{i}]", value, -most, most, unit) for i, value in enumerate(values)
    )


def check_range(field_name: str, low: Sequence[float], high: Sequence[float]) -> Outcome:
    """Refuse a pair of vectors whose first is above the second in a component.

    Args:
        field_name: Field of the goal.
        low: Least components.
        high: Greatest components.

    Returns:
        OK, or the first fault.
    """
    for i, (a, b) in enumerate(zip(low, high, strict=True)):
        if a > b:
            text = f"{field_name} runs from {a:g} down to {b:g} in component {i}; write the smaller one first"
            return checks.fault(Code.CONTRADICTION, field_name, text)
    return OK


def check_hold(weights: Sequence[float]) -> Outcome:
    """Refuse hold weights that are not six numbers of at least 0; an empty list is valid.

    Args:
        weights: Weights of angular x, y, z, then linear x, y, z.

    Returns:
        OK, or the fault.
    """
    if len(weights) in (0, 6) and all(0.0 <= weight < 1e6 for weight in weights):
        return OK
    text = f"hold_vec_weight is {list(weights)}; write six weights of at least 0: angles x, y, z, then lines x, y, z"
    return checks.fault(Code.BAD_GOAL, "hold_vec_weight", text)


def hold_of(weights: Sequence[float]) -> tuple[float, ...] | None:
    """Return the hold weights for the planner.

    Args:
        weights: Weights of angular x, y, z, then linear x, y, z; may be empty.

    Returns:
        The weights; None when all are zero.
    """
    return tuple(weights) if any(weights) else None


def arrived(target: Pose, here: Pose, within_m: float, within_rad: float) -> Outcome:
    """Check whether the hand is at a pose, in position and in angle.

    Args:
        target: world_T_ee of the goal.
        here: world_T_ee of the hand.
        within_m: Position tolerance, m.
        within_rad: Angle tolerance, rad.

    Returns:
        OK or NOT_REACHED, with both errors.
    """
    gap_m, turn_rad = here.distance_to(target)
    text = f"the hand is {gap_m * 1e3:.1f} mm and {turn_rad:.3f} rad from its target"
    if gap_m <= within_m and turn_rad <= within_rad:
        return Outcome(Code.OK, text, position_error_m=gap_m, angle_error_rad=turn_rad)
    return Outcome(Code.NOT_REACHED, text, position_error_m=gap_m, angle_error_rad=turn_rad)


def noisy(pose: Pose, noise_m: float, noise_deg: float, rng: np.random.Generator) -> Pose:
    """Add noise to a pose: a shift on each axis, and a turn about a random axis.

    Args:
        pose: Pose without noise.
        noise_m: Largest shift on each axis, m.
        noise_deg: Largest turn, deg.
        rng: Source of the noise.

    Returns:
        The pose with noise, in the same frame.
    """
    if noise_m <= 0.0 and noise_deg <= 0.0:
        return pose
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    turn = Rotation.from_axis_angle(axis, math.radians(float(rng.uniform(-noise_deg, noise_deg))))
    return Pose.of(pose.translation_m + rng.uniform(-noise_m, noise_m, 3), pose.rotation @ turn)
