"""The plan of a previewed skill: its commands with their motions, or its steps, and the world they were made in."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from handiwork_core.contracts.commands import Command
from handiwork_core.contracts.skill import Skill
from handiwork_core.model.geometry import Pose
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot


@dataclass(frozen=True, slots=True, eq=False)
class PlannedMotion:
    """One motion of a plan, of one arm or of several at the same time.

    Attributes:
        stage: Stage that it belongs to.
        trajectory: The motion, with the joints of all arms that it moves.
        world_T_ee: Some poses of the EE of each arm that it moves, from beginning to end, by the name of the arm.
    """

    stage: str
    trajectory: Trajectory
    world_T_ee: Mapping[str, tuple[Pose, ...]]

    @property
    def length_m(self) -> float:
        """The length of the path of the EE, m; of several arms that of the first."""
        path = next(iter(self.world_T_ee.values()), ())
        pairs = itertools.pairwise(path)
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
class PlannedStep:
    """One step of a plan.

    Attributes:
        label: Name of the step, with which its stages begin.
        plan: What the step does.
        left: Number of steps that follow, for the progress.
    """

    label: str
    plan: SkillPlan
    left: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class SkillPlan:
    """What a skill would do: commands of its own, or steps, one after the other.

    Attributes:
        skill: The skill.
        params: Parameters of the goal.
        arm: Name of the arm.
        seed: Seed of the preview.
        commands: The commands, each fixed to its motion; none for a skill that is done by steps.
        motions: The motions in order, with those of the steps.
        before: What the plan was made in.
        steps: The steps of a skill that is done by others, or the skills of a task.
        further: What the plan was made in for each further arm that it needs, by the name of the arm.
        robot: Robot with the changes of a task file; None: that of the server.
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
    steps: tuple[PlannedStep, ...] = ()
    further: Mapping[str, WorldBefore] = field(default_factory=dict)
    robot: Robot | None = None
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


def joined_motions(steps: Sequence[PlannedStep]) -> tuple[PlannedMotion, ...]:
    """Return the motions of steps in order, each with the name of its step before that of its stage.

    Args:
        steps: The steps.
    """
    return tuple(
        replace(motion, stage=f"{step.label}: {motion.stage}")
        for step in steps
        for motion in step.plan.motions
    )
