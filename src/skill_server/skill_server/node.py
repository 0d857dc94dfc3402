"""The skills as actions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from handiwork_msgs.action import Pick, Place

from handiwork_core.config import ConfigError, nearest
from handiwork_core.outcome import Code, Outcome
from handiwork_core.planning import Report
from handiwork_core.registry import collect
from handiwork_core.robot_loader import load_robot
from handiwork_core.skill import Skill, Token
from handiwork_ros.action_host import action_host_node
from handiwork_ros.arm_lease import ArmLease, Policy
from handiwork_ros.clients import ArmClient, GripperClient, PlannerClient, RosClock
from handiwork_ros.liveness import LifeSigns
from handiwork_ros.managed_node import ManagedNode
from handiwork_ros.planner_client import PLANNER
from handiwork_ros.skill_action_server import Refused, SkillActionServer, SkillDoor
from handiwork_ros.skill_action_server import Report as Feedback
from handiwork_ros.spinning import run
from handiwork_ros.world_source import RosWorldSource, Wanted

from .arm_runs_node import ArmRuns
from .executor import SkillRun
from .goals_node import decode_arm, decode_goal, frames_of
from .results_node import feedback_to_msg
from .skills import BUILTIN

ACTIONS = {"pick": Pick, "place": Place}
"""Of the built-in skills; a plug-in's class names its own in ``action_type``."""


class SkillServer(ManagedNode):
    """Serves every registered skill. One lease for the robot's arm; what it holds is kept from goal to goal."""

    def __init__(self, **options: Any) -> None:
        super().__init__("skill_server", **options)
        self._robot = load_robot(Path(self.parameter("robot_dir", "", "folder with the robot's files")))
        policy = self.parameter("busy_policy", Policy.REJECT.value, "of a busy arm: reject or latest_wins")
        if policy not in [p.value for p in Policy]:
            text = f"parameter busy_policy: is {policy!r}; {nearest(policy, [p.value for p in Policy])}"
            raise ConfigError("node skill_server", [text])
        self._world_timeout_s = self.parameter("world_timeout_s", 2.0, "oldest world a goal may start on [s]")
        if len(self._robot.arms) != 1:
            raise ConfigError(
                "robot_dir", [f"arms: {sorted(self._robot.arms)}; one skill_server serves one arm"]
            )
        arm = self._robot.arm("")
        if arm.gripper is None:
            raise ConfigError("robot_dir", [f"arms.{arm.name}.gripper: missing; the skills need a gripper"])
        self._world = RosWorldSource(self, self._robot, Wanted(contacts=True))
        signs = LifeSigns(self)
        planner = PlannerClient(self, self._robot, signs)
        robot_arm, gripper = ArmClient(self, arm, self._world), GripperClient(self, arm.gripper)
        self._runs = ArmRuns(self._robot, arm, planner, robot_arm, gripper, self._world, RosClock(self))
        self._lease = ArmLease(self, stop_arm=robot_arm.stop)
        # Also a goal whose arm is on a long way ends soon, not when it next needs a plan.
        signs.on_loss(PLANNER, lambda _name: self._lease.stop_all(Code.PLANNER_LOST))
        host = action_host_node(self)
        skills = collect(BUILTIN, "handiwork.skills").values()
        self._servers = [
            SkillActionServer(self._lease, self._door(kind()), node=host, policy=Policy(policy))
            for kind in skills
        ]

    def on_load(self, report: Report) -> None:
        """Wait for the robot and the world, for as long as it takes."""
        while not self.closing.wait(0.05):
            missing = self._missing()
            if not missing:
                return
            report(0.5, f"waiting for {', '.join(missing)}")

    def on_stop(self) -> None:
        """End what runs; later goals are refused."""
        if self.closing.is_set():
            self._lease.begin_close()
        else:
            self._lease.stop_all(Code.SHUTDOWN)

    def on_close(self) -> None:
        """Join the worker."""
        if self.closing.is_set():
            self._lease.end_close()

    def is_idle(self) -> bool:
        """True when no goal runs."""
        return not self._lease.is_busy

    def _missing(self) -> list[str]:
        seen = {
            "joint_states": bool(self._world.snapshot().joints.position),
            "world/objects": self._world.has_geometry(),
            "/tf_static": f"{self._robot.name}/{self._robot.root_link}" in self._world.frames.known(),
        }
        return [name for name, is_seen in seen.items() if not is_seen]

    def _door(self, skill: Skill[Any]) -> SkillDoor[SkillRun]:
        action = ACTIONS.get(skill.name) or getattr(skill, "action_type", None)
        if action is None:
            raise ConfigError(f"skill {skill.name!r}", ["action_type: missing; name the class of its action"])

        def encode(outcome: Outcome, ended: SkillRun | None) -> Any:
            return action.Result(result=self._runs.result(outcome, ended))

        return SkillDoor(
            skill.name,
            action,
            lambda goal: self._admit(skill, goal),
            encode,
            lambda progress: action.Feedback(feedback=feedback_to_msg(progress)),
        )

    def _admit(self, skill: Skill[Any], goal: Any) -> Callable[[Token, Feedback], SkillRun]:
        if not self.is_active:
            raise Refused(Outcome(Code.NOT_ACTIVE, f"skill_server is not active: {self._status.message}"))
        if self._world.joint_age_s() > self._world_timeout_s:
            raise Refused(Outcome(Code.ROBOT_LOST, "joint_states is silent; start the robot or simulation"))
        if self._world.state_age_s() > self._world_timeout_s:
            raise Refused(Outcome(Code.STALE_WORLD, "world/object_states is silent; start its publisher"))
        world = self._world.snapshot()
        arm = decode_arm(self._robot, goal.arm)
        params = decode_goal(skill.params_type, goal, frames_of(self._robot, world, self._world.frames))
        verdict = skill.is_feasible(params, self._robot, arm, world)
        if not verdict.ok:
            raise Refused(verdict)
        return lambda token, feedback: self._runs.run(skill, params, token, feedback)


def main() -> None:
    """Run the node."""
    sys.exit(run(SkillServer))
