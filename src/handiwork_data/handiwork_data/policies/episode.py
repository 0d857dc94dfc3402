"""One episode of a policy: a function of task file, robot, scene, number, settings and policy."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.scene.loader import Scene
from handiwork_data.episodes.episode import Episode, EpisodeMeta, StageSpan
from handiwork_data.episodes.recorder import StateRecorder
from handiwork_data.episodes.run import WARM_S, texts_of
from handiwork_data.episodes.settings import TaskFile, draw
from handiwork_data.lock_step.cell import LockStepCell
from handiwork_data.lock_step.condition_port import CellMonitor
from handiwork_data.policies.cell_port import CellJudge, CellPort, LockStepInference
from handiwork_data.policies.pictures import CellCameras, NoCameras, PictureSource
from handiwork_policy.loop.runner import PolicyRunner
from handiwork_policy.loop.settings import PolicySettings
from handiwork_policy.protocol.policy import Policy
from handiwork_policy.verdicts.result import PolicyResult

STOP_S = 5.0
"""Time after the end of a run for which the arm may still brake, s."""


@dataclass(frozen=True)
class PolicySetup:
    """What stays the same from episode to episode.

    Attributes:
        task: The task file, for its key ``episodes``.
        robot: The robot.
        scene: The scene as its file declares it.
        settings: How the policy is run.
        version: Version of Handiwork.
        arm: Name of the arm; empty: the robot's only one.
        delay_steps: Steps between a question and its answer.
    """

    task: TaskFile
    robot: Robot
    scene: Scene
    settings: PolicySettings
    version: str
    arm: str = ""
    delay_steps: int = 0


def for_task(settings: Mapping[str, Any], task: TaskFile) -> dict[str, Any]:
    """Return settings of a policy with what a task adds: its success as the condition, and its limit of time.

    Args:
        settings: The settings as they were given.
        task: The task.
    """
    made = {"until": task.settings.success, "time_limit": task.settings.limit_s, **settings}
    return {"subtasks": list(task.settings.conditions), **made}


class PolicyEpisode:
    """The cell of one episode of a policy before anything moves.

    Args:
        setup: What stays the same.
        number: Number of the episode, its seed.
        policy: The policy.

    Raises:
        ConfigError: The settings do not fit the robot or the scene.
    """

    def __init__(self, setup: PolicySetup, number: int, policy: Policy) -> None:
        try:
            self._begin(setup, number, policy)
        except ValueError as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(setup.task.path, [f"episode {number}: {error}"]) from error

    def _begin(self, setup: PolicySetup, number: int, policy: Policy) -> None:
        self.setup, self.number = setup, number
        self.drawn = draw(setup.task.settings, setup.scene, number)
        words = setup.settings.instruction or self.drawn.instruction
        self.settings = replace(setup.settings, instruction=words)
        limit_s = WARM_S + self.settings.time_limit + setup.task.settings.settle_s + STOP_S
        self.cell = LockStepCell(setup.robot, self.drawn.scene, limit_s)
        if self.drawn.home_seed is not None:
            self.cell.sim.reset(self.drawn.scene, self.drawn.home_seed)
        self.cell.sleep(WARM_S, should_stop=lambda: False)
        arm = setup.robot.arm(setup.arm) if setup.arm else _only_arm(setup.robot)
        self.monitor = CellMonitor(setup.robot, self.cell)
        texts = (self.settings.until, *self.settings.subtasks, *setup.task.settings.conditions)
        self.conditions = [self.monitor.make(text) for text in dict.fromkeys(texts)]
        judged = self.conditions[: 1 + len(self.settings.subtasks)]
        self.cameras: PictureSource = NoCameras()
        if self.settings.cameras:
            self.cameras = CellCameras(self.cell, self.settings.cameras)
        self.port = CellPort(self.cell, arm, self.settings.rate_hz, self.cameras)
        self.runner = PolicyRunner(
            setup.robot,
            arm,
            self.settings,
            self.port,
            LockStepInference(policy, 1.0 / self.settings.rate_hz, setup.delay_steps),
            CellJudge(self.monitor, judged),
        )
        self.recorder = StateRecorder(self.cell, self.monitor, self.conditions, setup.task.settings.rate_hz)

    def run(self, on_tick: Callable[[], None] = lambda: None) -> PolicyResult:
        """Run the policy to its end, and let the objects settle.

        Args:
            on_tick: Called after each tick of the simulation.

        Raises:
            PolicyError: The policy does not fit; nothing has moved.
        """

        def tick() -> None:
            self.recorder.sample()
            on_tick()

        try:
            self.runner.prepare(self.drawn.scene.world_T_base)
            self.recorder.sample()
            self.cell.on_tick = tick
            found = self.runner.run()
        finally:
            self.cameras.close()
        self.cell.sleep(self.setup.task.settings.settle_s, should_stop=lambda: False)
        return self.runner.look_again(found)

    def episode(self, found: PolicyResult) -> Episode:
        """Return the recording.

        Args:
            found: The result.
        """
        setup, recorder = self.setup, self.recorder
        shown = self.monitor.update()[0]
        margin = float(shown.finding.margin)
        stage = StageSpan("run_policy", self.port.arm.name, "policy", 0.0, found.duration_s)
        meta = EpisodeMeta(
            episode=self.number,
            task=setup.task.settings.success,
            task_digest=setup.task.digest,
            robot=setup.robot.name,
            scene=setup.scene.name,
            version=setup.version,
            instruction=self.settings.instruction,
            rate_hz=setup.task.settings.rate_hz,
            joints=recorder.joints,
            arms=recorder.arms,
            objects=recorder.objects,
            conditions=texts_of(self.conditions),
            stages=(stage,),
            ok=found.success,
            code="OK" if found.success else found.end.upper(),
            failed_stage="" if found.success else "policy",
            reason=found.message,
            success=found.success,
            verdict=found.verdict,
            margin=None if math.isnan(margin) else margin,
            duration_s=found.duration_s,
            labels=self.drawn.labels(recorder.objects),
        )
        return Episode(meta, {**recorder.columns(), "policy_result": _text(found)})


def _only_arm(robot: Robot) -> ArmSpec:
    if len(robot.arms) != 1:
        raise ValueError(f"robot {robot.name!r} has the arms {sorted(robot.arms)}; name one of them as arm")
    return next(iter(robot.arms.values()))


def _text(found: PolicyResult) -> np.ndarray[Any, Any]:
    """Return the result as bytes of JSON: a column of the recording."""
    return np.frombuffer(json.dumps(found.as_dict(), sort_keys=True).encode(), dtype=np.uint8)
