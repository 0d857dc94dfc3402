"""Runs one episode: a pure function of task file, robot, scene, number and version."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from conditionals_node.expressions.build import Condition
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import Engine
from handiwork_core.contracts.predicate import Finding, Truth
from handiwork_core.contracts.skill import Progress, Token
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.robot.robot import Robot
from handiwork_core.scene.loader import Scene
from handiwork_data.lock_step.cell import LockStepCell
from handiwork_data.lock_step.cell_arms import CellArms
from handiwork_data.lock_step.condition_port import CellMonitor
from skill_server.execution.run import ExecutionResult
from skill_server.params.registry import Catalog
from skill_server.state import gripper_state
from skill_server.task.model import Entry, Task, TaskStep, entries_of, further_arms
from skill_server.task.reading.entries import Site
from skill_server.task.reading.read import read_task
from skill_server.task.record import Report
from skill_server.task.run import TaskResult, run_task
from skill_server.task.scope import Ports

from .episode import Episode, EpisodeMeta
from .recorder import StateRecorder
from .settings import TaskFile, draw

WARM_S = 0.5
"""Time for which the objects settle before the episode begins, s."""


@dataclass(frozen=True)
class EpisodeSetup:
    """What stays the same from episode to episode, and is kept warm.

    Attributes:
        task: The task file.
        robot: The robot.
        scene: The scene as its file declares it.
        engine: Planning engine of the robot at its place in the scene.
        catalog: Known skills.
        version: Version of Handiwork.
    """

    task: TaskFile
    robot: Robot
    scene: Scene
    engine: Engine
    catalog: Catalog
    version: str


class EpisodeCell:
    """The cell of one episode with its arms, its monitor and its task, before anything moves.

    Args:
        setup: What stays the same.
        episode: Number of the episode.

    Raises:
        ConfigError: The task cannot run in this scene, or needs two arms at once.
        ValueError: An object found no free place.
    """

    def __init__(self, setup: EpisodeSetup, episode: int) -> None:
        self.drawn = draw(setup.task.settings, setup.scene, episode)
        settings = setup.task.settings
        self.cell = LockStepCell(setup.robot, self.drawn.scene, WARM_S + settings.limit_s)
        robot = self.cell.robot
        if self.drawn.home_seed is not None:
            self.cell.sim.reset(self.drawn.scene, self.drawn.home_seed)  # the clock stays at 0
        self.cell.sleep(WARM_S, should_stop=lambda: False)
        self.arms = CellArms(self.cell, setup.engine)
        self.monitor = CellMonitor(robot, self.cell)
        site = Site(
            setup.catalog,
            robot,
            self.cell.snapshot(),
            self.drawn.scene.world_T_base,
            None,
            self.monitor,
            self.cell.snapshot,
        )
        self.task = read_task(setup.task.text, setup.task.path, site, self.drawn.task_seed)
        refuse_two_arms(self.task, setup.task.path)
        texts = (settings.success, *settings.conditions)
        self.conditions = [self.monitor.make(text) for text in texts]
        self.recorder = StateRecorder(self.cell, self.monitor, self.conditions, settings.rate_hz)

    def run(self) -> TaskResult:
        """Run the task to its end."""
        self.recorder.sample()
        self.cell.on_tick = self.recorder.sample
        ports = Ports(
            self._do,
            self.cell,
            self._held,
            self.monitor,
            lambda: sorted(name for name, one in self.cell.objects.items() if not one.is_static),
        )
        return run_task(self.task, {}, ports, self.cell.token, lambda _progress: None)

    def verdict(self, settle_s: float) -> tuple[Finding, bool]:
        """Let the objects settle, and decide whether the episode is a success.

        Args:
            settle_s: Time of the world, s.

        Returns:
            The finding of the success condition, and whether it is TRUE with its objects at rest.
        """
        self.cell.on_tick = self.recorder.sample
        self.cell.sleep(settle_s, should_stop=lambda: False)
        found = self.monitor.now(self.conditions[0])
        shown = self.monitor.update()[0]
        is_confirmed = shown.life.at_end
        return found, found.truth is Truth.TRUE and is_confirmed

    def _do(self, entry: Entry, token: Token, _report: Report) -> ExecutionResult:
        def note(progress: Progress) -> None:
            self.recorder.note(entry.skill.name, entry.arm, progress)

        further = further_arms(entry, self.cell.robot)
        return self.arms.run(entry.skill, entry.params, entry.arm, further, token, note)

    def _held(self, arm: str) -> str:
        ports, world = self.arms.ports[arm], self.cell.snapshot()
        kept = (n for n in ports.held if not gripper_state.is_lost(world, self.cell.robot, ports.spec, n))
        return next(kept, "") or gripper_state.held_by_measurement(world, self.cell.robot, ports.spec)


def refuse_two_arms(task: Task, source: str) -> None:
    """Refuse a task that moves two arms at once: which one is first would depend on threads.

    Args:
        task: The task.
        source: Name of the file in messages.

    Raises:
        ConfigError: A step has two arms, or a skill moves a second one at the same time.
    """
    for node in task.steps:
        if isinstance(node, TaskStep) and len(node.arms) > 1:
            names = " and ".join(node.arms)
            raise ConfigError(
                source, [f"step {node.label}: moves {names} at once; give each a step of its own"]
            )
        for entry in entries_of(node):
            if entry.skill.moves_arms_at_once:
                text = f"{entry.path}: skill {entry.skill.name!r} moves two arms at once, which episodes cannot yet"
                raise ConfigError(source, [f"{text}; take it out of the task"])


def run_episode(setup: EpisodeSetup, episode: int) -> Episode:
    """Run and record one episode.

    Args:
        setup: What stays the same.
        episode: Number of the episode, its seed.

    Returns:
        The episode; a failure is recorded with its reason.

    Raises:
        ConfigError: The task cannot run in this scene.
    """
    settings = setup.task.settings
    try:
        made = EpisodeCell(setup, episode)
    except ValueError as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(setup.task.path, [f"episode {episode}: {error}"]) from error
    result = made.run()
    stages = made.recorder.stages()
    finding, is_success = made.verdict(settings.settle_s)
    recorder = made.recorder
    outcome: Outcome = result.outcome
    meta = EpisodeMeta(
        episode=episode,
        task=made.task.name,
        task_digest=setup.task.digest,
        robot=setup.robot.name,
        scene=setup.scene.name,
        version=setup.version,
        instruction=made.drawn.instruction,
        rate_hz=settings.rate_hz,
        joints=recorder.joints,
        arms=recorder.arms,
        objects=recorder.objects,
        conditions=texts_of(made.conditions),
        stages=stages,
        ok=outcome.ok,
        code=Code(outcome.code).name,
        failed_stage="" if outcome.ok else outcome.stage,
        reason=outcome.message,
        success=is_success,
        verdict=finding.reason,
        margin=None if math.isnan(finding.margin) else float(finding.margin),
        duration_s=result.duration_s,
        labels=made.drawn.labels(recorder.objects),
    )
    return Episode(meta, recorder.columns())


def texts_of(conditions: Sequence[Condition]) -> tuple[str, ...]:
    """Return the keys of conditions.

    Args:
        conditions: The conditions.
    """
    return tuple(one.key for one in conditions)
