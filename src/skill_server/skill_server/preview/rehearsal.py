"""Previews a skill: the run itself, attempts and stages and all, on ports that move nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np

from handiwork_core.contracts.commands import (
    AttachObject,
    AwaitObject,
    Command,
    CommandFunction,
    DriveBase,
    DummyForward,
    OpenGripper,
)
from handiwork_core.contracts.composite import CompositeSkill
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.execution.run import ExecutionResult, run_skill
from skill_server.execution.stage_log import StageReport
from skill_server.motions.arm_motions import hand_at, no_obstacles
from skill_server.params.protocol import RunParams
from skill_server.state.held_object import held_name

from .rehearsed_ports import RehearsedCell, RehearsedPlanner
from .skill_plan import PlannedMotion, SkillPlan, WorldBefore
from .surroundings import ALONE, Surroundings

P = TypeVar("P", bound=RunParams)
UNFORESEEN = {
    AwaitObject: "waits for an object that moves",
    DriveBase: "drives the base",
}
"""Functions behind which nothing can be planned before they are done."""
CHOICE = "select"
"""The stage in which each attempt chooses its commands."""
TOOL_POSES = 20
"""The number of poses of the EE along a motion."""


@dataclass(frozen=True, slots=True)
class PreviewResult(ExecutionResult):
    """How a preview ended; its stages have the durations that are foreseen. ``plan``: None after a failure.

    With a plan, the stages are those of the attempt that made it, and ``duration_s`` is theirs; ``planning_time_s`` has
    all attempts.
    """

    plan: SkillPlan | None = None


def preview_skill(
    skill: Skill[P], params: P, context: Context, around: Surroundings = ALONE
) -> PreviewResult:
    """Plan all motions of a skill, each from where the one before leaves the arm, the hand and the objects.

    Nothing moves: the ports of ``context`` are only asked. The motions are planned, and candidates tried, by the code
    that executes the skill. Whether it would succeed is not judged.

    Args:
        skill: The skill.
        params: Its checked parameters.
        context: Ports of the arm.
        around: The server around the preview.

    Returns:
        The result with the plan, or the failure that an execution would have had; BUSY where a goal took the arm.
    """
    cell = RehearsedCell(context)
    rehearsal = Rehearsal(skill, cell, around)
    rehearsed = replace(
        context,
        planner=RehearsedPlanner(context.planner, cell, around),
        arm=cell,
        gripper=cell,
        world=cell,
        clock=cell,
        held=cell.held,
        refused=[],
        right_of_way=None,
        base=None if context.base is None else cell,
        supervision=replace(context.supervision, is_on=False),
        frames_used={},
        partners={},
    )
    ended = run_skill(rehearsal, params, rehearsed)
    if not rehearsal.at_rest.ok:  # the answer to a later attempt has the code of the one before
        ended = replace(ended, outcome=rehearsal.at_rest)
    plan = None
    if ended.outcome.ok:
        plan, stages = rehearsal.plan(params, rehearsed), _last_attempt(ended.stages)
        ended = replace(ended, stages=stages, duration_s=sum(stage.duration_s for stage in stages))
    return PreviewResult(**{one.name: getattr(ended, one.name) for one in fields(ended)}, plan=plan)


class Rehearsal(Skill[P]):
    """A skill for one rehearsal: it notes the motions, and passes over what only the real world can answer.

    Args:
        skill: The skill that is rehearsed.
        cell: Ports of the rehearsal.
        around: The server around the preview.

    Attributes:
        at_rest: OK; BUSY once a goal had taken the arm when an attempt began.
    """

    name = "preview"

    def __init__(self, skill: Skill[P], cell: RehearsedCell, around: Surroundings) -> None:
        self._skill, self._cell, self._around = skill, cell, around
        self.at_rest: Outcome = OK
        self._commands: tuple[Command, ...] = ()
        self._motions = dict[int, tuple[Trajectory, ...]]()
        self._before: WorldBefore

    def is_feasible(self, params: P, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``; BUSY where a goal took the arm while the preview waited."""
        self.at_rest = self._around.at_rest()
        self._cell.stand_still()  # a target that moves is not awaited, but planned to where it is measured
        return self._skill.is_feasible(params, robot, arm, world) if self.at_rest.ok else self.at_rest

    def commands(self, params: P, context: Context) -> Sequence[Command]:
        """Return the commands that can be rehearsed; each attempt begins in the measured world.

        Raises:
            StepFailed: UNSUPPORTED with the skill and its stage, when what comes behind cannot be foreseen; BUSY when
                a goal has the arm, so that it would not begin where it is measured.
        """
        if isinstance(self._skill, CompositeSkill):
            text = (
                f"{self._skill.name} cannot be previewed: it chooses each step in the world as the step before "
                "leaves it; execute it, or preview its skills one by one"
            )
            raise StepFailed(Outcome(Code.UNSUPPORTED, text, CHOICE, "plan_only"))
        self._cell.begin()
        self.at_rest = self._around.at_rest()  # after the measurement, which a goal may have overtaken
        if not self.at_rest.ok:
            raise StepFailed(self.at_rest)
        self._commands, self._motions = tuple(self._skill.commands(params, context)), {}
        for i, command in enumerate(self._commands):
            if why := _unforeseen(command, self._commands[i + 1 :]):
                text = (
                    f"{self._skill.name} cannot be previewed: its stage {command.stage!r} {why}; execute it"
                )
                raise StepFailed(Outcome(Code.UNSUPPORTED, text, command.stage))
        self._before = world_before(self._cell.measured, params, context, self._around.pose_frames)
        self._cell.grasped = _grasped(self._commands)
        self._cell.stand_still()  # not before: the choice of the commands depends on what moves
        return tuple(map(_rehearsable, self._commands))

    def is_subtask_done(self, params: P, command: Command, world: World, context: Context) -> Outcome:
        """See ``Skill``."""
        return self._skill.is_subtask_done(params, command, world, context)

    def is_done(self, params: P, rest: Sequence[Command], context: Context) -> bool:
        """See ``Skill``; notes the motion of the command that was just rehearsed."""
        if made := self._cell.take_motions():
            self._motions[len(self._commands) - len(rest) - 1] = made
        self._cell.grasped = _grasped(rest)
        return self._skill.is_done(params, rest, context)

    def is_success(self, params: P, before: World, after: World, context: Context) -> Outcome:
        """Return OK: only the real world can be judged."""
        motions = [motion for made in self._motions.values() for motion in made]
        took_s, count = sum(motion.duration_s for motion in motions), len(motions)
        text = f"previewed {self._skill.name!r}: {count} motions of {took_s:.2f} s; nothing moved"
        return Outcome(Code.OK, text)

    def plan(self, params: P, context: Context) -> SkillPlan:
        """Return the plan of the last attempt.

        Args:
            params: Parameters of the goal.
            context: Context of the rehearsal.
        """
        fixed = tuple(_fixed(command, self._motions.get(i, ())) for i, command in enumerate(self._commands))
        motions = tuple(
            PlannedMotion(self._commands[i].stage, motion, _tool_path(motion, context))
            for i, made in sorted(self._motions.items())
            for motion in made
        )
        return SkillPlan(
            self._skill,
            params,
            context.arm_spec.name,
            context.seed,
            fixed,
            motions,
            self._before,
        )


def world_before(
    world: World, params: RunParams, context: Context, pose_frames: Mapping[str, Pose]
) -> WorldBefore:
    """Return what a plan is made in, or would be executed in.

    Args:
        world: Snapshot.
        params: Parameters of the goal.
        context: Context of the run, with what the hand holds, and the frames that the goal names.
        pose_frames: world_T_frame of each frame in which the goal gives poses.
    """
    held = frozenset(name for name in (held_name(context, world),) if name)
    # A goal may ignore what its motions do not avoid, and still depend on where that lies in the hand.
    unwatched = no_obstacles(params.ignore_substring, context, world) - frozenset(params.targets) - held
    base, frames = context.world.world_T_base(), dict(context.frames_used)
    return WorldBefore(world, base, held, frames, unwatched, pose_frames)


@dataclass(frozen=True, slots=True)
class PassedOver(CommandFunction):
    """Stands for a function of a package's own that only measures or waits; a rehearsal does not execute it."""

    acts = False

    def execute(self, context: Context, stage: str) -> None:
        """Do nothing."""


def _last_attempt(stages: tuple[StageReport, ...]) -> tuple[StageReport, ...]:
    """Return the stages from the last choice on, with which an attempt begins."""
    first = max((i for i, stage in enumerate(stages) if stage.stage == CHOICE), default=0)
    return stages[first:]


def _tool_path(motion: Trajectory, context: Context) -> tuple[Pose, ...]:
    rows = np.unique(np.linspace(0, len(motion.q) - 1, TOOL_POSES).round().astype(int))
    return tuple(hand_at(context, q) for q in motion.q[rows])


def _rehearsable(command: Command) -> Command:
    own = isinstance(command.function, CommandFunction)
    return replace(command, function=PassedOver()) if own else command


def _unforeseen(command: Command, behind: Sequence[Command]) -> str:
    """Return what makes all that comes behind a command unknown before it is done; empty for nothing."""
    function = command.function
    moves = (one.world_T_ee is not None or isinstance(one.function, DummyForward) for one in behind)
    if command.stop_force_n > 0.0 and any(moves):
        return "ends where something is touched, and the arm moves on from there"
    if isinstance(function, CommandFunction) and (function.acts or function.lets_go):
        effect = "changes the world" if function.acts else "may let go of what is held"
        return f"calls {type(function).__name__!r}, which {effect}"
    return UNFORESEEN.get(type(function), "")


def _fixed(command: Command, motions: tuple[Trajectory, ...]) -> Command:
    """Return a command that makes exactly these motions: the one to its pose, then that of its function."""
    function, way = command.function, list(motions)
    if isinstance(function, DummyForward):  # it sends a motion in any case, and that is its last
        function = replace(function, planned=way.pop() if way else None)
    return replace(command, function=function, planned=way.pop() if way else None, is_fixed=True)


def _grasped(rest: Sequence[Command]) -> str:
    """Return the object that the hand takes before it opens again; empty for none."""
    for command in rest:
        match command.function:
            case AttachObject(name):
                return name
            case OpenGripper() if command is not rest[0]:
                break
    return ""
