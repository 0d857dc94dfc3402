"""Rehearses one skill: the run itself, attempts and stages and all, on ports that move nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from handiwork_core.contracts.commands import (
    AttachObject,
    AwaitObject,
    Command,
    CommandFunction,
    DriveBase,
    DummyForward,
    NavigateBase,
    OpenGripper,
)
from handiwork_core.contracts.skill import Context, Skill, StepFailed
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import OK, Code, Outcome
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from skill_server.motions.arm_motions import hand_at, no_obstacles
from skill_server.params.protocol import RunParams
from skill_server.state.held_object import held_name

from .rehearsed_world import RehearsedWorld
from .skill_plan import PlannedMotion, SkillPlan, WorldBefore
from .surroundings import Surroundings

P = TypeVar("P", bound=RunParams)
UNFORESEEN = {
    AwaitObject: "waits for an object that moves",
    DriveBase: "drives the base",
    NavigateBase: "lets the navigation server drive the base",
}
"""Functions behind which nothing can be planned before they are done."""
TOOL_POSES = 20
"""The number of poses of the EE along a motion."""
Made = Mapping[str, tuple[Trajectory, ...]]
"""The motions of one command, by the name of the arm; those of several arms belong together."""


class Rehearsal(Skill[P]):
    """A skill for one rehearsal: it notes the motions, and passes over what only the real world can answer.

    Args:
        skill: The skill that is rehearsed.
        world: The world of the rehearsal.
        around: The server around the preview.

    Attributes:
        at_rest: OK; BUSY once a goal had taken the arm when an attempt began.
    """

    name = "preview"

    def __init__(self, skill: Skill[P], world: RehearsedWorld, around: Surroundings) -> None:
        self._skill, self._world, self._around = skill, world, around
        self.at_rest: Outcome = OK
        self._commands: tuple[Command, ...] = ()
        self._made = dict[int, Made]()
        self._before: WorldBefore

    def is_feasible(self, params: P, robot: Robot, arm: ArmSpec, world: World) -> Outcome:
        """See ``Skill``; BUSY where a goal took the arm while the preview waited."""
        self.at_rest = self._around.at_rest()
        self._world.stand_still()  # a target that moves is not awaited, but planned to where it is measured
        return self._skill.is_feasible(params, robot, arm, world) if self.at_rest.ok else self.at_rest

    def commands(self, params: P, context: Context) -> Sequence[Command]:
        """Return the commands that can be rehearsed; each attempt begins where the first one began.

        Raises:
            StepFailed: UNSUPPORTED with the skill and its stage, when what comes behind cannot be foreseen; BUSY when
                a goal has the arm, so that it would not begin where it is measured.
        """
        self._world.begin()
        self.at_rest = self._around.at_rest()  # after the measurement, which a goal may have overtaken
        if not self.at_rest.ok:
            raise StepFailed(self.at_rest)
        self._commands, self._made = tuple(self._skill.commands(params, context)), {}
        for i, command in enumerate(self._commands):
            if why := _unforeseen(command, self._commands[i + 1 :]):
                text = (
                    f"{self._skill.name} cannot be previewed: its stage {command.stage!r} {why}; execute it"
                )
                raise StepFailed(Outcome(Code.UNSUPPORTED, text, command.stage))
        self._before = world_before(self._world.began, params, context, self._around.pose_frames)
        self._expect_grasp(context, self._commands)
        self._world.stand_still()  # not before: the choice of the commands depends on what moves
        return tuple(map(_rehearsable, self._commands))

    def is_subtask_done(self, params: P, command: Command, world: World, context: Context) -> Outcome:
        """See ``Skill``."""
        return self._skill.is_subtask_done(params, command, world, context)

    def is_done(self, params: P, rest: Sequence[Command], context: Context) -> bool:
        """See ``Skill``; notes the motions of the command that was just rehearsed."""
        made = {name: cell.take_motions() for name, cell in self._world.cells.items()}
        if any(made.values()):
            self._made[len(self._commands) - len(rest) - 1] = made
        self._expect_grasp(context, rest)
        return self._skill.is_done(params, rest, context)

    def is_success(self, params: P, before: World, after: World, context: Context) -> Outcome:
        """Return OK: only the real world can be judged."""
        motions = tuple(self._motions(context))
        return previewed(self._skill.name, motions)

    def plan(self, params: P, context: Context) -> SkillPlan:
        """Return the plan of the last attempt.

        Args:
            params: Parameters of the goal.
            context: Context of the rehearsal.
        """
        arm = context.arm_spec.name
        fixed = tuple(
            _fixed(command, self._made.get(i, {}).get(arm, ())) for i, command in enumerate(self._commands)
        )
        motions = tuple(self._motions(context))
        return SkillPlan(self._skill, params, arm, context.seed, fixed, motions, self._before)

    def _motions(self, context: Context) -> Iterator[PlannedMotion]:
        contexts = {context.arm_spec.name: context, **context.partners}
        for i, made in sorted(self._made.items()):
            # Arms that are moved by one command have as many motions, at the same times.
            moving = {name: ways for name, ways in made.items() if ways}
            for ways in zip(*moving.values(), strict=True):
                paths = {
                    name: _tool_path(way, contexts[name]) for name, way in zip(moving, ways, strict=True)
                }
                yield PlannedMotion(self._commands[i].stage, _beside(ways), paths)

    def _expect_grasp(self, context: Context, rest: Sequence[Command]) -> None:
        self._world.cells[context.arm_spec.name].grasped = _grasped(rest)


def previewed(name: str, motions: Sequence[PlannedMotion], words: str = "") -> Outcome:
    """Return the success of a preview.

    Args:
        name: Name of the skill.
        motions: The motions that were planned.
        words: What the message says besides, after the count of motions.
    """
    took_s = sum(motion.trajectory.duration_s for motion in motions)
    text = f"previewed {name!r}: {len(motions)} motions of {took_s:.2f} s{words}; nothing moved"
    return Outcome(Code.OK, text)


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


def _beside(ways: Sequence[Trajectory]) -> Trajectory:
    """Return motions at the same times as one, with the joints of all."""
    if len(ways) == 1:
        return ways[0]
    first = ways[0]
    names = tuple(name for way in ways for name in way.joint_names)
    q, qd, qdd = (np.hstack([getattr(way, one) for way in ways]) for one in ("q", "qd", "qdd"))
    return Trajectory(names, first.t_s, q, qd, qdd)


def _tool_path(motion: Trajectory, context: Context) -> tuple[Pose, ...]:
    rows = np.unique(np.linspace(0, len(motion.q) - 1, TOOL_POSES).round().astype(int))
    return tuple(hand_at(context, q) for q in motion.q[rows])


def _rehearsable(command: Command) -> Command:
    function = command.function
    passed = isinstance(function, CommandFunction) and not function.in_preview
    return replace(command, function=PassedOver()) if passed else command


def _unforeseen(command: Command, behind: Sequence[Command]) -> str:
    """Return what makes all that comes behind a command unknown before it is done; empty for nothing."""
    function = command.function
    moves = (one.world_T_ee is not None or isinstance(one.function, DummyForward) for one in behind)
    if command.stop_force_n > 0.0 and any(moves):
        return "ends where something is touched, and the arm moves on from there"
    if isinstance(function, CommandFunction):
        if function.in_preview or not (function.acts or function.lets_go):
            return ""
        effect = "changes the world" if function.acts else "may let go of what is held"
        return f"calls {type(function).__name__!r}, which {effect}"
    return UNFORESEEN.get(type(function), "")


def _fixed(command: Command, motions: tuple[Trajectory, ...]) -> Command:
    """Return a command that makes exactly these motions: the one to its pose, then that of its function."""
    function, way = command.function, list(motions)
    if (
        isinstance(function, CommandFunction) and function.in_preview
    ):  # it makes its motions itself, the last ones
        way = way[:1] if command.world_T_ee is not None else []
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
