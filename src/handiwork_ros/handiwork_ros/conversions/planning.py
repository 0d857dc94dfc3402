"""Conversions of scenes, plan options, plan results and verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from handiwork_msgs.msg import BodyPair as BodyPairMsg
from handiwork_msgs.msg import CandidateVerdict as CandidateVerdictMsg
from handiwork_msgs.msg import PlanningScene
from handiwork_msgs.msg import PlanOptions as PlanOptionsMsg
from handiwork_msgs.msg import PlanResult as PlanResultMsg
from sensor_msgs.msg import JointState as JointStateMsg
from trajectory_msgs.msg import JointTrajectory

from handiwork_core.contracts.planning import (
    NO_Q,
    CandidateVerdict,
    PlanResult,
    SceneQuery,
    Verdict,
)
from handiwork_core.intake.limits import OBJECTS
from handiwork_core.model.outcome import BodyPair, Code, Outcome
from handiwork_core.model.world import JointState

from .other_arm import attachment_from_msg, attachment_to_msg, other_arm_from_msg, other_arm_to_msg
from .outcome import blocking_from_msg, blocking_to_msg, code_from_msg, outcome_from_msg, outcome_to_msg
from .pose import BadMessage, at_most, finite
from .trajectory import trajectory_from_msg, trajectory_to_msg
from .world import joint_state_from_msg, joint_state_to_msg


@dataclass(frozen=True, slots=True, eq=False)
class PlanOptions:
    """The options that all planning requests share.

    Attributes:
        arm: Name of the arm; empty: the robot's only arm.
        start: Joints at the start; None: the newest measured joints.
        scene: Obstacles and held objects.
        hold_vec_weight: Weights (ang x, y, z, lin x, y, z) of base-frame components that keep their start value; None
            for no constraint.
        budget_s: Longest planning time, s of steady time.
        velocity_scaling: Share of the velocity limits, 0 to 1.
        acceleration_scaling: Share of the acceleration limits, 0 to 1.
        seed: Seed of the random choices.
        min_world_version: Oldest version of the world that may be used; 0: any.
    """

    arm: str = ""
    start: JointState | None = None
    scene: SceneQuery = field(default_factory=SceneQuery)
    hold_vec_weight: tuple[float, ...] | None = None
    budget_s: float = 5.0
    velocity_scaling: float = 1.0
    acceleration_scaling: float = 1.0
    seed: int = 0
    min_world_version: int = 0


def scene_from_msg(msg: PlanningScene, field: str = "scene") -> SceneQuery:
    """Read the scene of a planning request.

    Args:
        msg: The message.
        field: Name of the message in error texts.

    Raises:
        BadMessage: See ``attachment_from_msg`` and ``other_arm_from_msg``; or a list is too long, or positions are not
            finite.
    """
    for name in ("ignored", "attached", "allowed", "others"):
        at_most(f"{field}.{name}", len(getattr(msg, name)), OBJECTS, "entries")
    gripper = joint_state_from_msg(msg.gripper, f"{field}.gripper")
    return SceneQuery(
        frozenset(msg.ignored),
        tuple(attachment_from_msg(a, f"{field}.attached[{i}]") for i, a in enumerate(msg.attached)),
        frozenset(BodyPair(p.a, p.b) for p in msg.allowed),
        tuple(gripper.position.items()),
        tuple(other_arm_from_msg(o, f"{field}.others[{i}]") for i, o in enumerate(msg.others)),
    )


def scene_to_msg(scene: SceneQuery) -> PlanningScene:
    """Write the scene of a planning request.

    Args:
        scene: The scene.
    """
    return PlanningScene(
        ignored=sorted(scene.ignored),
        attached=[attachment_to_msg(a) for a in scene.attached],
        allowed=[BodyPairMsg(a=p.a, b=p.b) for p in sorted(scene.allowed)],
        gripper=joint_state_to_msg(JointState(0.0, dict(scene.gripper_m))),
        others=[other_arm_to_msg(o) for o in scene.others],
    )


def options_from_msg(msg: PlanOptionsMsg, field: str = "options") -> PlanOptions:
    """Read the options that all planning requests share.

    Args:
        msg: The message.
        field: Name of the message in error texts.

    Raises:
        BadMessage: A number is not finite or a part is malformed.
    """
    weights = finite(msg.hold_vec_weight, f"{field}.hold_vec_weight")
    names = ("allowed_planning_time", "max_velocity_scaling_factor", "max_acceleration_scaling_factor")
    budget_s, velocity, acceleration = (float(finite((getattr(msg, n),), f"{field}.{n}")[0]) for n in names)
    return PlanOptions(
        arm=msg.arm,
        start=joint_state_from_msg(msg.start, f"{field}.start")
        if msg.start.name or msg.start.position
        else None,
        scene=scene_from_msg(msg.scene, f"{field}.scene"),
        hold_vec_weight=tuple(weights.tolist()) if weights.any() else None,
        budget_s=budget_s,
        velocity_scaling=velocity,
        acceleration_scaling=acceleration,
        seed=msg.seed,
        min_world_version=msg.min_world_version,
    )


def options_to_msg(options: PlanOptions) -> PlanOptionsMsg:
    """Write the options that all planning requests share.

    Args:
        options: The options.
    """
    return PlanOptionsMsg(
        arm=options.arm,
        start=JointStateMsg() if options.start is None else joint_state_to_msg(options.start),
        scene=scene_to_msg(options.scene),
        hold_vec_weight=[float(w) for w in options.hold_vec_weight or (0.0,) * 6],
        allowed_planning_time=float(options.budget_s),
        max_velocity_scaling_factor=float(options.velocity_scaling),
        max_acceleration_scaling_factor=float(options.acceleration_scaling),
        seed=int(options.seed),
        min_world_version=int(options.min_world_version),
    )


def plan_result_from_msg(msg: PlanResultMsg) -> PlanResult:
    """Read a planner's answer.

    Args:
        msg: The message.

    Returns:
        The result; an OK without a valid trajectory becomes INTERNAL.
    """
    outcome = outcome_from_msg(msg.outcome)
    code, message, trajectory = outcome.code, outcome.message, None
    if code is Code.OK:
        try:
            trajectory = trajectory_from_msg(msg.trajectory)
        except BadMessage as error:
            code, message = Code.INTERNAL, f"the planner answered OK, but {error}"
    return PlanResult(
        code,
        message,
        trajectory,
        msg.goal_index,
        msg.planning_time,
        blocking_from_msg(msg.outcome.blocking),
        msg.depth,
        msg.outcome.position_error,
        msg.outcome.angle_error,
        msg.world_version,
        msg.seed,
    )


def plan_result_to_msg(result: PlanResult) -> PlanResultMsg:
    """Write a planner's answer.

    Args:
        result: The answer.
    """
    outcome = Outcome(
        result.code,
        result.message,
        blocking=result.blocking,
        position_error_m=result.position_error_m,
        angle_error_rad=result.angle_error_rad,
    )
    return PlanResultMsg(
        outcome=outcome_to_msg(outcome),
        trajectory=JointTrajectory() if result.trajectory is None else trajectory_to_msg(result.trajectory),
        goal_index=result.goal_index,
        planning_time=float(result.planning_time_s),
        depth=float(result.depth_m),
        world_version=int(result.world_version),
        seed=int(result.seed),
    )


def candidate_verdict_from_msg(msg: CandidateVerdictMsg, dof: int) -> CandidateVerdict:
    """Read the verdict on one candidate.

    Args:
        msg: The message.
        dof: Number of the arm's joints.

    Raises:
        BadMessage: The positions are not finite or do not divide into rows of ``dof``.
    """
    flat = finite(msg.positions, "verdicts.positions")
    if flat.size % dof:
        raise BadMessage(
            "verdicts.positions", f"has {flat.size} numbers; send {dof} per waypoint", Code.INTERNAL
        )
    q = flat.reshape(-1, dof) if flat.size else NO_Q
    return CandidateVerdict(
        code_from_msg(msg.code), q, msg.cost, blocking_from_msg(msg.blocking), msg.waypoint
    )


def candidate_verdict_to_msg(verdict: CandidateVerdict) -> CandidateVerdictMsg:
    """Write the verdict on one candidate.

    Args:
        verdict: The verdict.
    """
    return CandidateVerdictMsg(
        code=int(verdict.code),
        positions=np.ravel(verdict.q).tolist(),
        cost=float(verdict.cost),
        blocking=blocking_to_msg(verdict.blocking),
        waypoint=verdict.waypoint,
    )


def verdict_outcome(verdict: Verdict) -> Outcome:
    """Return the outcome of a verdict; messages have separate fields for clearance and path index.

    Args:
        verdict: The verdict.
    """
    return Outcome(verdict.code, verdict.message, blocking=verdict.blocking)
