"""The plan of a previewed skill: its commands with their motions, and the world that they were planned in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Skill
from handiwork_core.model.geometry import Pose
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World


@dataclass(frozen=True, slots=True, eq=False)
class PlannedMotion:
    """One motion of a plan.

    Attributes:
        stage: Stage that it belongs to.
        trajectory: The motion.
        world_T_ee: Some poses of the EE along it, from its beginning to its end.
    """

    stage: str
    trajectory: Trajectory
    world_T_ee: tuple[Pose, ...]

    @property
    def length_m(self) -> float:
        """The length of the path of the EE, m."""
        pairs = zip(self.world_T_ee, self.world_T_ee[1:], strict=False)
        return float(sum(a.distance_to(b)[0] for a, b in pairs))


@dataclass(frozen=True, slots=True, eq=False)
class WorldBefore:
    """What a plan was made in, and what must be the same when it is executed.

    Attributes:
        world: Snapshot with the robot's joints.
        world_T_base: Pose of the arm's base.
        held: Names of the objects in the hand.
        frames: world_T_frame of each frame that the goal names.
        unwatched: Names of the objects that may be anywhere, because the goal ignores them.
        pose_frames: world_T_frame of each frame in which the goal gives poses, when the goal came.
    """

    world: World
    world_T_base: Pose
    held: frozenset[str] = frozenset()
    frames: Mapping[str, Pose] = field(default_factory=dict)
    unwatched: frozenset[str] = frozenset()
    pose_frames: Mapping[str, Pose] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class SkillPlan:
    """What a skill would do.

    Attributes:
        skill: The skill.
        params: Parameters of the goal.
        arm: Name of the arm.
        seed: Seed of the preview.
        commands: The commands, each fixed to its motion.
        motions: The motions in order.
        before: What the plan was made in.
        plan_id: Key in the store; empty before it is kept.
        kept_for_s: Steady time for which the plan is kept, s.
    """

    skill: Skill[Any]
    params: Any
    arm: str
    seed: int
    commands: tuple[Command, ...]
    motions: tuple[PlannedMotion, ...]
    before: WorldBefore
    plan_id: str = ""
    kept_for_s: float = 0.0

    @property
    def motion_time_s(self) -> float:
        """The time on all trajectories, s."""
        return sum(motion.trajectory.duration_s for motion in self.motions)

    @property
    def length_m(self) -> float:
        """The length of the path of the EE, m."""
        return sum(motion.length_m for motion in self.motions)
