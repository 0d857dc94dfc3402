"""Runs the episodes of an evaluation, on one process or several; what is there already is skipped."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.dataset.generate import Shard, Sources, about, exempt_loaded
from handiwork_data.dataset.pool import deal
from handiwork_data.episodes.episode import Episode
from handiwork_data.episodes.settings import read_task_file
from handiwork_data.policies.episode import PolicyEpisode, PolicySetup
from handiwork_policy.protocol.connection import PolicyConnection, connect_policy
from handiwork_policy.protocol.errors import BadAnswer, PolicyError, ServerLost
from handiwork_policy.protocol.policy import Observation, Policy
from handiwork_policy.verdicts.result import PolicyResult
from sim_bridge.cameras.renderer import choose_library

from .folder import EvaluationAbout, ResultFolder, plain
from .path_metrics import path_metrics
from .rows import EpisodeRow, row_of
from .task_settings import arm_of, check_metadata, settings_for


@dataclass(frozen=True)
class EvaluationOrder:
    """What is evaluated, and where its results go.

    Attributes:
        address: Address of the policy server.
        about: What the results have in common.
        tasks: Files of the tasks, by name in the folder of results.
        folder: Folder of the results.
        keeps_failures: True: recordings of failed episodes are kept beside the results, for films.
    """

    address: str
    about: EvaluationAbout
    tasks: Mapping[str, Sources]
    folder: Path
    keeps_failures: bool = False


class WatchedPolicy:
    """A policy whose loss is remembered.

    Args:
        policy: The policy.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.lost: ServerLost | None = None

    def metadata(self) -> Mapping[str, Any]:
        """See ``Policy``."""
        return self._policy.metadata()

    def infer(self, observation: Observation) -> Mapping[str, Any]:
        """See ``Policy``.

        Args:
            observation: The observation.
        """
        try:
            return self._policy.infer(observation)
        except ServerLost as error:
            self.lost = error
            raise

    def reset(self) -> None:
        """See ``Policy``."""
        self._policy.reset()


class Evaluator:
    """Runs episodes one after the other; robots and scenes are loaded once.

    Args:
        order: What is evaluated.
    """

    def __init__(self, order: EvaluationOrder) -> None:
        self._order = order
        self._setups: dict[str, PolicySetup] = {}

    def setup(self, name: str) -> PolicySetup:
        """Return what stays the same in the episodes of a task.

        Args:
            name: Name of the task.

        Raises:
            ConfigError: A file is wrong, or the settings do not fit.
            BadAnswer: The server's metadata differ from the settings.
        """
        if name not in self._setups:
            sources, wanted = self._order.tasks[name], self._order.about
            task = read_task_file(sources.task)
            robot, scene = load_robot(sources.robot), load_scene(sources.scene)
            settings = settings_for(wanted.settings, task, robot, scene)
            if settings.cameras:
                _choose_drawing()
            arm = arm_of(robot, wanted.arm)
            check_metadata(settings, wanted.metadata, robot, arm)
            self._setups[name] = PolicySetup(
                task, robot, scene, settings, wanted.version, arm.name, wanted.delay_steps
            )
        return self._setups[name]

    def run(self, name: str, number: int) -> EpisodeRow:
        """Run an episode, and write its recording where it is kept.

        Args:
            name: Name of the task.
            number: Number of the episode.

        Raises:
            ConfigError: A file is wrong.
            PolicyError: The server is not there or does not fit; the episode does not count.
        """
        row, recording = self.made(name, number)
        if recording is not None:
            ResultFolder(self._order.folder).task(name).write(recording)
        return row

    def made(self, name: str, number: int) -> tuple[EpisodeRow, Episode | None]:
        """Run an episode, with a connection of its own, so that the server forgets the one before.

        Args:
            name: Name of the task.
            number: Number of the episode.

        Returns:
            Its row, and its recording where that is kept.

        Raises:
            ConfigError: A file is wrong.
            PolicyError: The server is not there or does not fit; the episode does not count.
        """
        setup, begun_s = self.setup(name), time.monotonic()
        client = connect_policy(self._order.address, setup.settings.server_timeout)
        try:
            _check_same(client, self._order.about.metadata)
            policy = WatchedPolicy(client)
            made = PolicyEpisode(setup, number, policy)
            found = made.run()
        finally:
            client.close()
        if policy.lost is not None:
            raise policy.lost
        row = self._row(name, made, found, time.monotonic() - begun_s)
        return row, made.episode(found) if self._order.keeps_failures and not row.success else None

    def _row(self, name: str, made: PolicyEpisode, found: PolicyResult, wall_s: float) -> EpisodeRow:
        recorder, policy = made.recorder, self._order.about.policy
        place = recorder.columns()["ee_pose"][:, recorder.arms.index(made.port.arm.name), :3]
        metrics = path_metrics(place, made.setup.task.settings.rate_hz)
        return row_of(found, name, policy, made.number, made.settings, metrics, wall_s)


Missing = Sequence[tuple[str, int]]
"""Episodes that are to be run: the name of a task and a number each."""
Spread = Callable[[EvaluationOrder, Evaluator, Missing], Iterator[EpisodeRow]]
"""Runs episodes somewhere, and yields their rows; it is given an evaluator of this process."""


def evaluate(
    order: EvaluationOrder, numbers: Sequence[int], shard: Shard, spread: Spread
) -> Iterator[EpisodeRow]:
    """Run the episodes of all tasks that are not there yet.

    Args:
        order: What is evaluated.
        numbers: Numbers of the episodes of each task.
        shard: Shard of the episodes; others may fill the folder at the same time.
        spread: Where they are run, such as ``processes(4)``.

    Yields:
        The row of each episode once it is written.

    Raises:
        ConfigError: A file is wrong, or the folder holds other results.
        PolicyError: The server is not there, is lost, or does not fit.
        EpisodeError: The folder cannot be written, or a process was ended.
    """
    folder, here = ResultFolder(order.folder), Evaluator(order)
    for name in order.tasks:
        here.setup(name)
    folder.begin(order.about)
    with ExitStack() as stack:
        missing = list[tuple[str, int]]()
        for name, sources in order.tasks.items():
            data = folder.task(name)
            data.begin(about(sources), read_task_file(sources.task).text)
            stack.enter_context(data.locked(shard.name))
            folder.drop_cut_line(name, shard.name)
            there = folder.rows(name)
            missing += [(name, number) for number in numbers if number not in there]
        for row in spread(order, here, missing):
            folder.append(shard.name, row)
            yield row


def processes(count: int) -> Spread:
    """Return the way to run episodes in processes of this machine.

    Args:
        count: Number of processes; 1: this one.
    """

    def beside(order: EvaluationOrder, here: Evaluator, missing: Missing) -> Iterator[EpisodeRow]:
        del here
        return deal(_work, missing, count, _begin_worker, (order,))

    return _here if count == 1 else beside


def _here(order: EvaluationOrder, here: Evaluator, missing: Missing) -> Iterator[EpisodeRow]:
    del order
    exempt_loaded()
    try:
        for name, number in missing:
            yield here.run(name, number)
    finally:
        gc.unfreeze()


class _Worker:
    """What a process of the pool keeps."""

    evaluator: Evaluator


def _begin_worker(order: EvaluationOrder) -> None:
    _Worker.evaluator = Evaluator(order)
    exempt_loaded()


def _work(item: tuple[str, int]) -> EpisodeRow:
    return _Worker.evaluator.run(*item)


def _choose_drawing() -> None:
    """Choose the library that draws before MuJoCo is loaded; a process that has loaded it keeps the one it has."""
    if "mujoco" not in sys.modules:
        try:
            os.environ["MUJOCO_GL"] = choose_library(os.environ)
        except ValueError as error:
            raise ConfigError("cameras", [str(error)]) from error


def check_server(address: str, wanted: Mapping[str, Any], timeout_s: float) -> None:
    """Check that a policy server is there, and still has the metadata that it began with.

    Args:
        address: Its address.
        wanted: The metadata.
        timeout_s: Longest wait, s.

    Raises:
        PolicyError: It is not.
    """
    client = connect_policy(address, timeout_s)
    try:
        _check_same(client, wanted)
    finally:
        client.close()


def _check_same(client: PolicyConnection, wanted: Mapping[str, Any]) -> None:
    there = plain(client.metadata())
    if there != wanted:
        keys = [key for key in sorted({*there, *wanted}) if there.get(key) != wanted.get(key)]
        text = f"the server at {client.address} has other metadata than at the beginning: {keys[0]!r} is"
        raise BadAnswer(
            f"{text} {there.get(keys[0])!r}, was {wanted.get(keys[0])!r}; give the server that it began with"
        )


def connect(address: str, timeout_s: float) -> Mapping[str, Any]:
    """Return the metadata of a policy server, as JSON can hold them.

    Args:
        address: Its address.
        timeout_s: Longest wait, s.

    Raises:
        PolicyError: There is no such server.
    """
    client = connect_policy(address, timeout_s)
    try:
        found = plain(client.metadata())
    finally:
        client.close()
    if not isinstance(found, dict):
        raise PolicyError(f"the server at {address} has metadata that are no map; correct the server")
    return found
