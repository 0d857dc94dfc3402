"""Stages: the parts of a skill, each declared once. Feasibility, messages and commands follow from the declaration.

The word is that of MoveIt Task Constructor: a skill is a sequence of stages, such as approach, grasp, lift, retreat.
"""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.model.geometry import Array, Pose
from handiwork_core.model.trajectory import Trajectory

from .commands import Function, Motion


@dataclass(frozen=True, slots=True, eq=False)
class SkillStage:
    """One part of a skill: go to a waypoint, do the functions there in order, wait.

    What the functions do counts for the stages behind: an opened gripper is open, and an attached object moves with the
    hand. An object that was attached or detached is no obstacle when the planner judges later waypoints of candidates,
    since its place follows from the candidate; the motion itself is planned with the object where it then is.

    Attributes:
        name: Name in feedback and results.
        world_T_ee: Pose of the waypoint; None: stay, or go to ``q``.
        motion: The way in which the arm gets to the waypoint.
        functions: The actions at the waypoint, in order, such as ``OpenGripper`` and ``AttachObject``.
        touching: Objects that may be touched on the way and at the waypoint.
        leaving: Objects that may be touched on the way alone, because they are where the motion begins.
        ignored: Objects that are no obstacle in this stage, besides those that the goal ignores.
        hold_vec_weight: Weights of the pose components that the motion holds, as in ``PlanRequest``; None for none.
        speed: Share of the full speed of the motion.
        dwell_s: Wait after the motion and the first function, s.
        waypoint: Name of the waypoint in messages; empty: that of the stage.
        cost: Cost of the waypoint. A sequence of stages with a lower sum is preferred.
        holds_m: Distance between the pads that a closing hand is expected to stop at, m; None: not known.
        q: Configuration (dof,) of the waypoint, rad or m. ``choose_stages`` fills it in for poses.
        planned: A motion to ``q``, which ``choose_stages`` fills in where it planned one.
        path: Poses of the curve that a PATH motion follows without a stop, world_T_ee; the last one is the pose.
        stop_force_n: Force on the tool that ends a STRAIGHT motion before its waypoint, N; 0: none does.
        tool_speed: Greatest speed of the hand, m/s; 0: that of ``speed``.
    """

    name: str
    world_T_ee: Pose | None = None
    motion: Motion = Motion.FREE
    functions: tuple[Function, ...] = ()
    touching: frozenset[str] = frozenset()
    leaving: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    hold_vec_weight: tuple[float, ...] | None = None
    speed: float = 1.0
    dwell_s: float = 0.0
    waypoint: str = ""
    cost: float = 0.0
    holds_m: float | None = None
    q: Array | None = None
    planned: Trajectory | None = None
    path: tuple[Pose, ...] = ()
    stop_force_n: float = 0.0
    tool_speed: float = 0.0

    @property
    def label(self) -> str:
        """The name of the waypoint in messages."""
        return self.waypoint or self.name
