"""Two hands on one object: their chains, and the planner's scenes of a motion of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from handiwork_core.contracts.planning import Attachment, OtherArm, SceneQuery
from handiwork_core.contracts.skill import Context
from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.outcome import BodyPair
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from skill_server.motions.arm_motions import hand
from skill_server.state.gripper_state import arm_q, gripper_bodies
from skill_server.state.scene_query import gripper_joints, measured_gripper_joints, touch_pairs, width_across

from .arm_chain import ArmChain

Joints = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """One hand on the object.

    Attributes:
        context: Context of the arm.
        chain: Kinematics of the arm.
        q: Configuration of the arm at the object, (dof,), rad or m.
        object_T_ee: Pose of the hand in the frame of the object.
        gripper_m: Joints of the gripper while it holds the object.
    """

    context: Context
    chain: ArmChain
    q: Array
    object_T_ee: Pose
    gripper_m: Joints


def chain_of(context: Context) -> ArmChain:
    """Return the kinematics of an arm where its base is now.

    Args:
        context: Context of the arm.
    """
    return ArmChain(context.robot, context.arm_spec, context.world.world_T_base())


def measured_hold(context: Context, name: str, world: World) -> Hold:
    """Return how a hand holds the object now.

    Args:
        context: Context of the arm.
        name: The object.
        world: Snapshot of the world.
    """
    object_T_ee = world.states[name].world_T_object.inverse() @ hand(context, world)
    joints = measured_gripper_joints(world, context.robot, context.arm_spec.gripper)
    return Hold(context, chain_of(context), arm_q(world, context.arm_spec), object_T_ee, joints)


def expected_hold(
    context: Context, chain: ArmChain, name: str, world: World, q: Array, object_T_ee: Pose
) -> Hold:
    """Return how a hand will hold the object where it is.

    Args:
        context: Context of the arm.
        chain: Kinematics of the arm.
        name: The object.
        world: Snapshot of the world.
        q: Configuration of the arm at the object, (dof,), rad or m.
        object_T_ee: Pose of the hand in the frame of the object.
    """
    gripper = context.arm_spec.gripper
    assert gripper is not None
    at = world.states[name].world_T_object @ object_T_ee
    joints = gripper_joints(context.robot, gripper, width_across(world, name, at, gripper))
    return Hold(context, chain, q, object_T_ee, joints)


def scenes(
    holds: Sequence[Hold],
    parts: Sequence[Trajectory],
    name: str,
    touching: frozenset[str],
    ignored: frozenset[str],
) -> tuple[SceneQuery, SceneQuery]:
    """Return the scene of each arm in a motion of both: the other one is where it is at the same time.

    The object is a part of the first arm's motion. The second arm has it beside itself, as a thing that the first one
    carries, and may touch it with its hand.

    Args:
        holds: Both hands.
        parts: Their trajectories, at the same times.
        name: The object.
        touching: What the object may touch on the way.
        ignored: Objects that are no obstacles.
    """
    first, second = holds
    one, other = first.context, second.context
    held = Attachment(name, one.arm_spec.ee_link, first.object_T_ee.inverse())
    their_hand = {BodyPair(body, name) for body in gripper_bodies(other.robot, other.arm_spec)}
    allowed = touch_pairs(one.robot, one.arm_spec, (name,), touching) | their_hand
    scene = SceneQuery(ignored, (held,), allowed, first.gripper_m, (_beside(second, parts[1]),))
    carried = replace(_beside(first, parts[0]), attached=(held,))
    return scene, SceneQuery(ignored, (), frozenset(their_hand), second.gripper_m, (carried,))


def _beside(hold: Hold, part: Trajectory) -> OtherArm:
    return OtherArm(hold.context.arm_spec.name, part.q, (), hold.gripper_m, part.t_s)
