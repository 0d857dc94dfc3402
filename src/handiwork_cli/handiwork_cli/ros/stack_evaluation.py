"""Runs the episodes of an evaluation in the running stack, one after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

from handiwork_msgs.msg import WorldObjects
from handiwork_msgs.srv import ResetWorld
from std_srvs.srv import Trigger

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot.robot import ArmSpec
from handiwork_data.episodes.episode import EpisodeError
from handiwork_data.episodes.settings import draw
from handiwork_data.evaluation.on_stack import check_task, goal_parameters, joint_path_metrics, read_result
from handiwork_data.evaluation.rows import EpisodeRow, row_of
from handiwork_data.evaluation.run import EvaluationOrder, Evaluator, Missing, check_server
from handiwork_data.evaluation.task_settings import arm_of
from handiwork_data.policies.episode import PolicySetup
from handiwork_policy.loop.settings import PolicySettings
from handiwork_policy.protocol.errors import PolicyError
from handiwork_policy.verdicts.result import DATA, SERVER_FAULT, STOPPED, PolicyResult
from handiwork_ros.clients.conditions_client import ConditionsClient
from handiwork_ros.clients.skill_client import SkillClient
from handiwork_ros.clients.skill_goals import skill_goal
from handiwork_ros.conversions import outcome_from_msg
from handiwork_ros.rclpy_support.qos import LATCHED
from handiwork_ros.rclpy_support.service_call import NoAnswer, ServiceClients

from .joint_samples import JointSamples

RESET_S, OBJECTS_S, END_S = 20.0, 10.0, 10.0
"""Longest waits for the answer of ``sim/reset``, for ``world/objects``, and for the end of a cancelled goal, s."""
STOPPED_FROM_OUTSIDE = (
    Code.CANCELED,
    Code.EMERGENCY_STOP,
    Code.ROBOT_STOPPED,
    Code.ROBOT_LOST,
    Code.PLANNER_LOST,
)
"""The policy has no part in these ends."""
LAUNCH = "handiwork launch launch/bringup.launch.xml"
SLOWEST = 20.0
"""Greatest wall time of a goal, in parts of its time limit: a simulation may be that much slower."""


class StackEvaluation:
    """One evaluation in the running stack; see ``evaluate``.

    Args:
        client: Client of its skill server.
        monitor: Client of its monitor.
    """

    def __init__(self, client: SkillClient, monitor: ConditionsClient) -> None:
        self._client, self._monitor = client, monitor
        self._objects, self._are_there = set[str](), threading.Event()
        client.node.create_subscription(WorldObjects, "world/objects", self._on_objects, LATCHED)
        self._services = ServiceClients(client.node)
        self._samples = dict[tuple[str, ...], JointSamples]()
        self._is_stopped = False

    def __call__(self, order: EvaluationOrder, here: Evaluator, missing: Missing) -> Iterator[EpisodeRow]:
        """Run episodes.

        Args:
            order: What is evaluated.
            here: Has the robots and scenes of the tasks.
            missing: The episodes.

        Yields:
            The row of each episode.

        Raises:
            ConfigError: The stack runs another scene or robot, or cannot draw what a task asks for.
            PolicyError: The server is not there, is lost, or does not fit.
            EpisodeError: The stack does not answer, or lost the robot.
        """
        checked = set[str]()
        for name, number in missing:
            setup = here.setup(name)
            if name not in checked:
                self._check(name, setup)
                checked.add(name)
            yield self._run(order, name, setup, number)

    def _on_objects(self, message: WorldObjects) -> None:
        self._objects = {item.name for item in message.objects}
        self._are_there.set()

    def _check(self, name: str, setup: PolicySetup) -> None:
        check_task(setup.task)
        if not self._are_there.wait(OBJECTS_S):
            raise EpisodeError(f"world/objects is silent for {OBJECTS_S:g} s; start it with '{LAUNCH}'")
        missing = sorted({item.name for item in setup.scene.objects} - self._objects)
        if missing:
            text = f"scene {setup.scene.name!r} has {missing[0]!r}, which the running stack has not"
            start = f"{LAUNCH} robot:={setup.robot.name} scene:={setup.scene.name}"
            raise ConfigError(f"task {name}", [f"{text}; start it with '{start}'"])
        for text in (setup.settings.until, *setup.settings.subtasks):
            answer = self._monitor.watch(text)
            if not answer.ok:
                raise ConfigError(f"task {name}", [f"condition {text!r}: {answer.outcome.message}"])

    def _run(self, order: EvaluationOrder, name: str, setup: PolicySetup, number: int) -> EpisodeRow:
        begun_s, where = time.monotonic(), f"task {name}, episode {number}"
        check_server(order.address, order.about.metadata, setup.settings.server_timeout)
        drawn = draw(setup.task.settings, setup.scene, number)
        settings = replace(setup.settings, instruction=setup.settings.instruction or drawn.instruction)
        self._reset(where, number, is_drawn=setup.task.settings.scatter)
        if self._is_stopped:
            self._recover(where)
        arm = arm_of(setup.robot, setup.arm)
        samples = self._samples_of(arm)
        samples.begin()
        outcome = self._goal(settings, order.address, arm)
        times_s, positions = samples.end()
        found = self._result(where, outcome, order, settings)
        self._is_stopped = outcome.code is Code.PROTECTIVE_STOP
        rate_hz = setup.task.settings.rate_hz
        metrics = joint_path_metrics(setup.robot, arm, times_s, positions, rate_hz)
        return row_of(found, name, order.about.policy, number, settings, metrics, time.monotonic() - begun_s)

    def _reset(self, where: str, number: int, *, is_drawn: bool) -> None:
        request = ResetWorld.Request(seed=number, randomize=is_drawn)
        answer = self._services.call(ResetWorld, "sim/reset", request, RESET_S)
        if isinstance(answer, NoAnswer):
            text = f"sim/reset does not answer in {RESET_S:g} s; evaluate a stack that runs a simulation"
            raise EpisodeError(f"{where}: {text}")
        outcome = outcome_from_msg(answer.outcome)
        if not outcome.ok:
            raise EpisodeError(f"{where}: sim/reset: {outcome.code.name}: {outcome.message}")

    def _recover(self, where: str) -> None:
        """Take back the stop of the episode before, after the reset, which has ended its cause."""
        answer = self._services.call(Trigger, "safety/recover", Trigger.Request(), RESET_S)
        if isinstance(answer, NoAnswer) or not answer.success:
            why = "no answer" if isinstance(answer, NoAnswer) else answer.message
            raise EpisodeError(
                f"{where}: the episode before ended with a stop, and safety/recover fails: {why}"
            )
        self._is_stopped = False

    def _samples_of(self, arm: ArmSpec) -> JointSamples:
        if arm.joint_names not in self._samples:
            self._samples[arm.joint_names] = JointSamples(self._client.node, arm.joint_names)
        return self._samples[arm.joint_names]

    def _goal(self, settings: PolicySettings, server: str, arm: ArmSpec) -> Outcome:
        """Run the policy; a command that is interrupted cancels its goal first."""
        goal = skill_goal("run_policy", goal_parameters(settings, server), arm.name)
        handle = self._client.send(goal)
        try:
            return handle.result(SLOWEST * settings.time_limit).outcome
        except BaseException:
            handle.cancel()
            handle.wait_end(END_S)
            raise

    def _result(
        self, where: str, outcome: Outcome, order: EvaluationOrder, settings: PolicySettings
    ) -> PolicyResult:
        found = read_result(outcome.message)
        text = f"{where}: {outcome.code.name}: {outcome.message.partition(DATA)[0]}"
        if found is None:
            is_refused = outcome.code in (Code.UNRESPONSIVE, Code.BAD_GOAL)
            raise PolicyError(text) if is_refused else EpisodeError(text)
        if outcome.code in STOPPED_FROM_OUTSIDE:
            raise EpisodeError(f"{text}; the episode does not count")
        if found.end == SERVER_FAULT:
            # An episode whose server was lost does not count, as without ROS.
            check_server(order.address, order.about.metadata, settings.server_timeout)
        is_stopped = outcome.code is Code.PROTECTIVE_STOP
        return replace(found, end=STOPPED, success=False) if is_stopped else found
