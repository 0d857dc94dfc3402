"""What every goal must pass before it gets the arm: a server that serves, a world that is heard, good arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from handiwork_core.contracts.skill import Skill
from handiwork_core.intake.regular_files import DataRoots
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_ros.actions.skill_action_server import ArmRequest, GoalRejected, SkillBinding
from handiwork_ros.ports.world import RosWorldSource
from skill_server.execution.run import ExecutionResult
from skill_server.params.located_files import judged_with_files

from .arm_runner import ArmRunner
from .goal_decoding import decode_arm, decode_goal, frames_of
from .result_encoding import feedback_to_msg, result_to_msg

Body = ArmRequest[ExecutionResult]


@dataclass(frozen=True)
class Gate:
    """``runs`` by arm; ``why_closed`` says why the server does not serve, if so; ``world_timeout_s`` is steady time.

    ``why_stopped`` says why the robot's safety layer refuses motions, if so; ``why_lost`` why the robot is lost, by
    the watch that ends running goals as well.
    Files that goals name must lie below ``roots``.
    """

    robot: Robot
    runs: Mapping[str, ArmRunner]
    source: RosWorldSource
    world_timeout_s: float
    why_closed: Callable[[], str]
    why_stopped: Callable[[], Outcome | None]
    why_lost: Callable[[], str]
    roots: DataRoots

    def world(self) -> World:
        """The newest world.

        Raises:
            GoalRejected: the server does not serve, the robot is stopped, the robot or the world is silent or sends
                nothing good, or two publishers send what only one may.
        """
        if why := self.why_closed():
            raise GoalRejected(Outcome(Code.NOT_ACTIVE, f"skill_server is not active: {why}"))
        if (stopped := self.why_stopped()) is not None:
            raise GoalRejected(stopped)
        if (conflict := self.source.conflict()) is not None:
            raise GoalRejected(conflict)
        if why := self.why_lost():
            raise GoalRejected(Outcome(Code.ROBOT_LOST, why))
        if self.source.state_age_s() > self.world_timeout_s:
            raise GoalRejected(Outcome(Code.STALE_WORLD, self.source.state_silence()))
        return self.source.snapshot()

    def verdict(self, skill: Skill[Any], params: Any, arm: ArmSpec, world: World) -> Outcome:
        """What the skill itself finds wrong with a goal."""
        return self._judged(skill, params, arm, world)[1]

    def body(self, skill: Skill[Any], params: Any, arm: ArmSpec, world: World) -> Body:
        """What runs the skill.

        Raises:
            GoalRejected: the skill itself finds the goal bad.
        """
        located, verdict = self._judged(skill, params, arm, world)
        if not verdict.ok:
            raise GoalRejected(verdict.in_one())
        runs = self.runs[arm.name]
        return ArmRequest((arm.name,), lambda token, feedback: runs.run(skill, located, token, feedback))

    def _judged(self, skill: Skill[Any], params: Any, arm: ArmSpec, world: World) -> tuple[Any, Outcome]:
        return judged_with_files(
            params, self.roots, lambda made: skill.is_feasible(made, self.robot, arm, world)
        )

    def typed_door(self, skill: Skill[Any], action: Any) -> SkillBinding[ExecutionResult]:
        """The door of a skill that has an action of its own."""

        def admit(goal: Any) -> Body:
            world = self.world()
            arm = decode_arm(self.robot, goal.arm)
            frames = frames_of(self.robot, world, self.source.frames)
            params = decode_goal(
                skill.params_type, goal, frames, lambda made: self.verdict(skill, made, arm, world)
            )
            return self.body(skill, params, arm, world)

        return self.door(skill.name, action, admit)

    def door(
        self,
        name: str,
        action: Any,
        admit: Callable[[Any], Body],
        label: Callable[[Any], str] | None = None,
    ) -> SkillBinding[ExecutionResult]:
        """A door whose action has ``SkillResult result`` and ``SkillFeedback feedback``."""

        def encode(outcome: Outcome, ended: ExecutionResult | None) -> Any:
            return action.Result(result=result_to_msg(outcome, ended, ""))

        def encode_for(goal: Any, outcome: Outcome, ended: ExecutionResult | None) -> Any:
            try:
                runs = self.runs[self.robot.arm(goal.arm).name]
            except KeyError:
                return encode(outcome, ended)
            return action.Result(result=runs.result(outcome, ended))

        return SkillBinding(
            name,
            action,
            admit,
            encode,
            lambda progress: action.Feedback(feedback=feedback_to_msg(progress)),
            label,
            encode_for,
        )
