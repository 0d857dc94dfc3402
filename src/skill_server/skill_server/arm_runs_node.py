"""Runs of skills on one arm: the ports they share, and what the arm holds from goal to goal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from handiwork_msgs.msg import SkillResult

from handiwork_core.geometry import Pose
from handiwork_core.outcome import Outcome
from handiwork_core.planning import Attachment
from handiwork_core.ports import Arm, Clock, Gripper, Planner, WorldSource
from handiwork_core.robot import ArmSpec, Robot
from handiwork_core.skill import Context, Skill, Token
from handiwork_core.world import World
from handiwork_ros.frames import UnknownFrame
from handiwork_ros.skill_action_server import Report

from . import grip
from .executor import SkillRun, run_skill
from .results_node import result_to_msg, stopped_to_msg
from .traffic.arm_traffic import ArmTraffic


@dataclass(frozen=True)
class ArmRuns:
    """``held`` is written by runs, which follow one another; it is measured again before each.

    ``right_of_way``: of a robot with several arms, whose planner and arm ports then mind it.
    """

    robot: Robot
    arm_spec: ArmSpec
    planner: Planner
    arm: Arm
    gripper: Gripper
    world: WorldSource
    clock: Clock
    held: dict[str, Attachment] = field(default_factory=dict)
    right_of_way: ArmTraffic | None = None
    base: Arm | None = None

    def run(
        self, skill: Skill[Any], params: Any, token: Token, report: Report, robot: Robot | None = None
    ) -> SkillRun:
        """Run to the end. On the arm's worker. ``robot``: this one as a robot file wants it."""
        robot = robot or self.robot
        if self.right_of_way is None:
            return self._run(skill, params, token, report, robot)
        report = self.right_of_way.enter(report)
        try:
            return self._run(skill, params, token, report, robot)
        finally:
            self.right_of_way.leave()

    def _run(self, skill: Skill[Any], params: Any, token: Token, report: Report, robot: Robot) -> SkillRun:
        context = Context(
            robot=robot,
            arm_spec=robot.arms[self.arm_spec.name],
            planner=self.planner,
            arm=self.arm,
            gripper=self.gripper,
            world=self.world,
            clock=self.clock,
            token=token,
            # Seeds of numpy are not negative; the wrapped value is as good.
            rng=np.random.default_rng(params.seed & (2**64 - 1)),
            seed=params.seed,
            held=self.held,
            report=report,
            right_of_way=self.right_of_way,
            base=self.base,
        )
        return run_skill(skill, params, context)

    def result(self, outcome: Outcome, ended: SkillRun | None) -> SkillResult:
        """The whole result, with where the robot is now as far as that is known."""
        world = self.world.snapshot()
        result = result_to_msg(outcome, ended, self._held_now(world))
        if set(self.arm_spec.joint_names) <= set(world.joints.position):
            stopped_to_msg(result, self.robot, self.arm_spec, world, self._world_T_base())
        return result

    def _held_now(self, world: World) -> str:
        """By measurement: also what a goal that ended before its entry has grasped, never what is gone since."""
        kept = (n for n in self.held if not grip.is_lost(world, self.robot, self.arm_spec, n))
        return next(kept, "") or grip.held_by_measurement(world, self.robot, self.arm_spec)

    def _world_T_base(self) -> Pose | None:
        try:
            return self.world.world_T_base()
        except UnknownFrame:
            return None
