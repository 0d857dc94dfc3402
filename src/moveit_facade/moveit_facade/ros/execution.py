"""Executes trajectories on the controllers of arms and grippers, the newest on each one."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from rclpy.task import Future

from handiwork_core.contracts.planning import SceneQuery
from handiwork_core.contracts.skill import Token
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.supervision import SupervisionSettings
from handiwork_core.model.trajectory import Trajectory
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from handiwork_core.supervision.path_supervision import PathSupervision
from handiwork_core.supervision.supervised_arm import SupervisedArm, excluded_by, planner_judge
from handiwork_ros.node.managed_node import ManagedNode
from handiwork_ros.ports.arm_and_gripper import ArmClient, GripperClient
from handiwork_ros.ports.driver_watch import DriverWatch
from handiwork_ros.ports.planner import PlannerClient
from handiwork_ros.ports.robot_watch import RobotWatch
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.rclpy_support.ros_clock import RosClock
from moveit_facade.paths.start_check import start_fault
from moveit_facade.robot.groups import Group, groups_of

Work = Callable[[Token], Outcome]

NEWER = "a newer goal moves the same controller"
START_FIELD = "trajectory_start"
"""``field_name`` of the outcome of a trajectory that starts elsewhere."""


class ControllerRun:
    """The running motion of one controller. All methods but ``_run`` are called on the executor's thread.

    Args:
        node: Its executor resumes the waiting goals.
        name: Name of the group.
    """

    def __init__(self, node: ManagedNode, name: str) -> None:
        self._node, self.name = node, name
        self._token: Token | None = None
        self._done: Future | None = None
        self.count = 0
        """Number of newer motions that have asked for the controller so far."""

    @property
    def is_busy(self) -> bool:
        """True while a motion runs."""
        return self._done is not None

    def stop(self, code: Code, text: str) -> None:
        """Stop the running motion, if there is one.

        Args:
            code: The cause that its goal reports.
            text: The cause in words.
        """
        if self._token is not None:
            self._token.set(code, text)

    async def rest(self) -> None:
        """Bring the running motion to rest for a newer one."""
        self.count += 1
        while (before := self._done) is not None:
            self.stop(Code.PREEMPTED, NEWER)
            await before
            # Its own coroutine may not have gone on yet, and a future that is done does not wait.
            if self._done is before:
                self._token, self._done = None, None

    async def run(self, work: Work, token: Token) -> Outcome:
        """Run a motion; one that runs already is brought to rest before.

        Args:
            work: The motion, on a thread of its own; it returns with the arm at rest.
            token: Stops it.

        Returns:
            Its outcome; with the code of the token if that was set.
        """
        await self.rest()
        if token.is_set():
            return Outcome(token.reason, token.detail or "stopped before the motion began")
        done = Future()
        self._token, self._done = token, done
        executor = self._node.executor
        thread = threading.Thread(
            target=lambda: executor.create_task(done.set_result, self._result(work, token)),
            name=f"{self.name}-motion",
            daemon=True,
        )
        thread.start()
        try:
            outcome: Outcome = await done
        finally:
            if self._done is done:
                self._token, self._done = None, None
        return outcome

    def _result(self, work: Work, token: Token) -> Outcome:
        try:
            outcome = work(token)
        except Exception as error:  # noqa: BLE001 - the border of a thread
            self._node.get_logger().error(f"a motion of {self.name} failed:\n{traceback.format_exc()}")
            return Outcome(Code.INTERNAL, f"the motion raised {error!r}; see the log of move_group")
        if outcome.code is Code.CANCELED and token.is_set():
            return Outcome(token.reason, token.detail or outcome.message)
        return outcome


class Execution:
    """The controllers of a robot.

    Args:
        node: Hosts the clients.
        robot: The robot.
        source: The world.
        planner: Judges trajectories before and while they run.
        settings: Settings of the supervision of running motions.
    """

    def __init__(
        self,
        node: ManagedNode,
        robot: Robot,
        source: RosWorldSource,
        planner: PlannerClient,
        settings: SupervisionSettings,
    ) -> None:
        self._node, self._robot, self._source, self._planner = node, robot, source, planner
        self._settings = settings
        self._clock = RosClock(node)
        self.watch = RobotWatch(node, source)
        self.groups = groups_of(robot)
        self.driver = DriverWatch(node, robot)
        self._arms = {
            arm.name: ArmClient(node, arm, source, self.watch, driver=self.driver)
            for arm in robot.arms.values()
        }
        self._grippers = {
            group.name: GripperClient(node, group.gripper, self.watch)
            for group in self.groups.values()
            if group.gripper is not None
        }
        self._runs = {name: ControllerRun(node, name) for name in self.groups}
        self.watch.on_loss(lambda why: self.stop_all(Code.ROBOT_LOST, why))

    @property
    def is_busy(self) -> bool:
        """True while any controller follows a goal."""
        return any(run.is_busy for run in self._runs.values())

    def supervised(self) -> list[str]:
        """Return the names of the arms and grippers that follow goals now."""
        return [name for name, run in self._runs.items() if run.is_busy]

    def count(self, group: Group) -> int:
        """Return how many newer motions have asked for the controller of a group so far.

        Args:
            group: The group.
        """
        return self._runs[group.name].count

    async def rest(self, group: Group) -> None:
        """Bring the running motion of a group to rest for a newer one.

        Args:
            group: The group.
        """
        await self._runs[group.name].rest()

    def stop_all(self, code: Code, text: str) -> None:
        """Bring every arm to rest.

        Args:
            code: The cause that the goals report.
            text: The cause in words.
        """
        for run in self._runs.values():
            run.stop(code, text)

    async def follow(self, group: Group, trajectory: Trajectory, query: SceneQuery, token: Token) -> Outcome:
        """Validate a trajectory of an arm, and follow it under supervision.

        Args:
            group: The group of the arm.
            trajectory: The motion, with the joints in the group's order.
            query: The scene with which it is judged.
            token: Stops it.

        Returns:
            OK, or the cause; the arm is at rest then.
        """
        return await self._runs[group.name].run(
            lambda one: self._follow(group, trajectory, query, one), token
        )

    async def move_gripper(self, group: Group, position: float, force_n: float, token: Token) -> Outcome:
        """Move a gripper until it is there or stalls.

        Args:
            group: The group of the gripper.
            position: Position of its joint, rad or m.
            force_n: Largest force of a finger, N; 0: the gripper's greatest.
            token: Stops it.

        Returns:
            OK, or the cause.
        """
        gripper, client = group.gripper, self._grippers[group.name]
        assert gripper is not None
        width_m = float(np.clip(gripper.width(position), gripper.min_width_m, gripper.max_width_m))
        force_n = min(force_n, gripper.max_force_n)
        return await self._runs[group.name].run(
            lambda one: client.move(width_m, force_n=force_n, should_stop=one.is_set), token
        )

    def _follow(self, group: Group, trajectory: Trajectory, query: SceneQuery, token: Token) -> Outcome:
        arm, then = group.arm, self._source.snapshot()
        why = start_fault(trajectory.joint_names, trajectory.q[0].tolist(), then.joints.position)
        if why:
            return Outcome(Code.TRAJECTORY_REFUSED, why, field_name=START_FIELD)
        verdict = self._planner.validate(arm.name, trajectory, query, should_stop=token.is_set)
        if verdict.code is Code.PLANNER_LOST and not token.is_set():  # one lost answer is no lost planner
            verdict = self._planner.validate(arm.name, trajectory, query, should_stop=token.is_set)
        if verdict.code is not Code.OK:
            if token.is_set():
                return Outcome(Code.CANCELED, "stopped before the motion began")
            code = (
                verdict.code
                if verdict.code in (Code.PLANNER_LOST, Code.STALE_WORLD)
                else Code.TRAJECTORY_REFUSED
            )
            text = (
                f"the trajectory was refused right before it was sent: {verdict.message or verdict.code.name}"
            )
            return Outcome(code, text, blocking=verdict.blocking)
        excluded = excluded_by(query) | frozenset(then.planner_attached)
        if not self._settings.is_on:
            return self._arms[arm.name].follow(trajectory, should_stop=token.is_set)
        supervision = PathSupervision(then, excluded, self._settings)
        judge = planner_judge(self._planner, arm.name, trajectory, query, then)
        supervised = SupervisedArm(
            self._arms[arm.name], supervision, judge, self._source, self._measured(trajectory), self._clock
        )
        outcome = supervised.follow(trajectory, should_stop=token.is_set)
        if supervision.fault is not None and outcome.code is not Code.OK and not token.is_set():
            return replace(outcome, code=Code.OBJECT_MOVED)
        return outcome

    def _measured(self, trajectory: Trajectory) -> Callable[[World], Array]:
        def measured(world: World) -> Array:
            return np.array([world.joints.position.get(name, np.nan) for name in trajectory.joint_names])

        return measured
