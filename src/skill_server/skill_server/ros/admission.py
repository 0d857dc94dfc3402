"""Conditions for every goal before it gets the arm: an active server, a fresh world, valid arguments."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from handiwork_core.bundles.bundle import Seen
from handiwork_core.contracts.skill import Skill
from handiwork_core.intake.regular_files import DataRoots
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.actions.skill_binding import ArmRequest, GoalRejected, SkillBinding
from handiwork_ros.ports.world import RosWorldSource
from skill_server.execution.run import ExecutionResult
from skill_server.flight.recorder import FlightRecorder
from skill_server.params.located_files import judged_with_files
from skill_server.state.frame_lookup import NEWER_S, POLL_S

from .arm_runner import ArmRunner
from .flight_recording import plain_goal
from .goal_decoding import decode_arm, decode_goal, frames_of, noting
from .previews import Previews
from .result_encoding import feedback_to_msg, result_to_msg

Body = ArmRequest[ExecutionResult]


@dataclass(frozen=True)
class Gate:
    """The admission of goals.

    Attributes:
        robot: Robot of the server.
        runs: Runner of each arm, by its name.
        source: Source of the world.
        world_timeout_s: Returns the age of the oldest poses of objects with which a goal is admitted, s of steady time.
        why_closed: Returns why the server is not active; empty when it is.
        why_stopped: Returns why the robot's safety layer refuses motions; None when it does not.
        why_lost: Returns why the robot is lost, by the watch that also ends running goals; empty when it is not.
        roots: Folders below which the files that goals name must lie.
        previews: Plans goals with ``plan_only``, and executes plans.
        recorder: Flight recorder, for goals that never run; None for none.
    """

    robot: Robot
    runs: Mapping[str, ArmRunner]
    source: RosWorldSource
    world_timeout_s: Callable[[], float]
    why_closed: Callable[[], str]
    why_stopped: Callable[[], Outcome | None]
    why_lost: Callable[[], str]
    roots: DataRoots
    previews: Previews
    recorder: FlightRecorder | None = None

    def world(self) -> World:
        """Return the newest world.

        Raises:
            GoalRejected: The server is not active, the robot is stopped, the robot or the world is silent or sends
                no valid data, or two publishers send on a topic that has one publisher only.
        """
        if why := self.why_closed():
            raise GoalRejected(Outcome(Code.NOT_ACTIVE, f"skill_server is not active: {why}"))
        if (stopped := self.why_stopped()) is not None:
            raise GoalRejected(stopped)
        if (conflict := self.source.conflict()) is not None:
            raise GoalRejected(conflict)
        if why := self.why_lost():
            raise GoalRejected(Outcome(Code.ROBOT_LOST, why))
        if self.source.state_age_s() > self.world_timeout_s():
            raise GoalRejected(Outcome(Code.STALE_WORLD, self.source.state_silence()))
        return self.source.snapshot()

    def verdict(self, skill: Skill[Any], params: Any, arm: ArmSpec, world: World) -> Outcome:
        """Return the verdict of the skill itself on a goal.

        Args:
            skill: Skill of the goal.
            params: Parameters of the goal.
            arm: Arm of the goal.
            world: Newest world.

        Returns:
            OK, or the faults.
        """
        return self._judged(skill, params, arm, world)[1]

    def body(
        self,
        skill: Skill[Any],
        params: Any,
        arm: ArmSpec,
        world: World,
        *,
        plan_only: bool = False,
        pose_frames: Mapping[str, Pose] = MappingProxyType({}),
    ) -> Body:
        """Make the request that runs the skill.

        Args:
            skill: Skill of the goal.
            params: Parameters of the goal.
            arm: Arm of the goal.
            world: Newest world.
            plan_only: True: the request only plans.
            pose_frames: world_T_frame of each frame in which the goal gives poses.

        Returns:
            The request for the arm.

        Raises:
            GoalRejected: The skill itself finds a fault, or it is to be planned while its arm has a goal.
        """
        located, verdict = self._judged(skill, params, arm, world)
        if not verdict.ok:
            raise GoalRejected(verdict.in_one())
        runs, further = self.runs[arm.name], skill.further_arms(located, self.robot, arm)
        if plan_only:
            return self.previews.preview(skill, located, arm.name, pose_frames, further)
        others = [self.runs[name] for name in further]
        return ArmRequest(
            (arm.name, *further),
            lambda token, feedback: runs.run(skill, located, token, feedback, further=others),
        )

    def _judged(self, skill: Skill[Any], params: Any, arm: ArmSpec, world: World) -> tuple[Any, Outcome]:
        return judged_with_files(
            params, self.roots, lambda made: skill.is_feasible(made, self.robot, arm, world)
        )

    def typed_binding(self, skill: Skill[Any], action: Any) -> SkillBinding[ExecutionResult]:
        """Return the binding of a skill that has an action of its own.

        Args:
            skill: Skill.
            action: Action type, whose goal has the skill's parameters as fields.

        Returns:
            The binding for a ``SkillActionServer``.
        """

        def admit(goal: Any) -> Body:
            world = self.world()
            arm = decode_arm(self.robot, goal.arm)
            used = dict[str, Pose]()
            frames = noting(frames_of(self.robot, world, self.source.frames), used)
            params = decode_goal(
                skill.params_type, goal, frames, lambda made: self.verdict(skill, made, arm, world)
            )
            # An action of a package's own may lack the field.
            plan_only = getattr(goal, "plan_only", False)
            return self.body(skill, params, arm, world, plan_only=plan_only, pose_frames=used)

        return self.binding(skill.name, action, admit)

    def binding(
        self,
        name: str,
        action: Any,
        admit: Callable[[Any], Body],
        label: Callable[[Any], str] | None = None,
        arm_of: Callable[[Any], str] = lambda goal: str(goal.arm),
    ) -> SkillBinding[ExecutionResult]:
        """Return the binding of an action that has ``SkillResult result`` and ``SkillFeedback feedback``.

        Args:
            name: Name of the action.
            action: Action type.
            admit: Turns a goal into a request, or raises ``GoalRejected``; asked again for a while where the pose of
                something that the goal names is not known.
            label: Returns the label of a goal; None: that of the action.
            arm_of: Returns the name of the arm of a goal.

        Returns:
            The binding for a ``SkillActionServer``.
        """

        def encode(outcome: Outcome, ended: ExecutionResult | None) -> Any:
            return action.Result(result=result_to_msg(outcome, ended, ""))

        def encode_for(goal: Any, outcome: Outcome, ended: ExecutionResult | None) -> Any:
            # What the goal names, such as a plan, may be forgotten by the end of its run.
            given = ended.arm if ended is not None and ended.arm else arm_of(goal)
            try:
                runs = self.runs[self.robot.arm(given).name]
            except KeyError:
                made = encode(outcome, ended)
            else:
                made = action.Result(result=runs.result(outcome, ended))
            if ended is None and not outcome.ok:
                made.result.bundle = self._bundle(name, goal, given, outcome)
            return made

        return SkillBinding(
            name,
            action,
            lambda goal: _admitted(admit, goal),
            encode,
            lambda progress: action.Feedback(feedback=feedback_to_msg(progress)),
            label,
            encode_for,
        )

    def _bundle(self, action: str, goal: Any, arm: str, outcome: Outcome) -> str:
        """Leave the bundle of a goal that never ran, or whose run did not end by itself; return its path."""
        if self.recorder is None:
            return ""
        world = self.source.snapshot()
        seen = Seen(world.stamp_s, world)
        return self.recorder.refused(action, plain_goal(goal), arm, outcome, seen)


def _admitted(admit: Callable[[Any], Body], goal: Any) -> Body:
    """Admit a goal; wait for the pose of what it names, which its client may have received a moment before."""
    until, pause = time.monotonic() + NEWER_S, threading.Event()
    while True:
        try:
            return admit(goal)
        except GoalRejected as refusal:
            faults = refusal.outcome.all
            are_poses = all(one.code is Code.STALE_WORLD and one.field_name for one in faults)
            if not are_poses or time.monotonic() >= until:
                raise
        pause.wait(POLL_S)
