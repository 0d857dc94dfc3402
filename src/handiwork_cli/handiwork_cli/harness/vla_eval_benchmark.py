"""The tasks of this project as a benchmark of vla-eval: ``vla-eval run --no-docker --config FILE``.

vla-eval imports this module and makes ``HandiworkBenchmark``; nothing else here needs vla-eval.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from handiwork_cli.commands.files.export_usd import scene_file
from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.episodes.settings import read_task_file
from handiwork_data.evaluation.folder import task_name
from handiwork_data.evaluation.task_settings import arm_of, settings_for, with_metadata
from handiwork_data.policies.episode import PolicySetup
from handiwork_data.policies.stepped_episode import SteppedEpisode, action_size, hold_action
from handiwork_policy.actions.spec import ActionSpace
from handiwork_policy.protocol.errors import PolicyError
from handiwork_policy.verdicts.result import PolicyResult
from sim_bridge.cameras.renderer import choose_library

if TYPE_CHECKING:
    Benchmark = object
else:
    try:
        from vla_eval.benchmarks.base import Benchmark
    except ImportError:  # the module can be read without it, as the documentation and the tests do
        Benchmark = object

SPARE_STEPS = 2
"""Steps beyond the limit of time, so that the episode itself ends first."""


class HandiworkBenchmark(Benchmark):
    """Task files as a benchmark of vla-eval.

    Each observation has ``task_description``, ``state`` and, with cameras, ``images``. Success is the monitor's
    verdict: the condition of the task has held, with its objects at rest.

    Args:
        tasks: Paths of task files with the key ``episodes``.
        settings: How a policy is run, as in the file for ``handiwork evaluate --settings``.
        arm: Name of the arm; empty: the robot's only one.
        first_episode: Number of the first episode; numbers are the seeds.

    Raises:
        ConfigError: vla-eval is missing, or a file or a setting is wrong.
    """

    render_backends = frozenset({"gpu", "cpu"})

    def __init__(
        self,
        tasks: Sequence[str],
        settings: Mapping[str, Any] | None = None,
        arm: str = "",
        first_episode: int = 0,
    ) -> None:
        if Benchmark is object:
            raise ConfigError("vla-eval", ["is missing; install requirements/vla-eval.txt"])
        super().__init__()
        if not tasks:
            raise ConfigError("tasks", ["are missing; give paths of task files"])
        given = with_metadata(settings or {}, {})
        self._first = first_episode
        self._setups = {task_name(Path(path)): _setup(Path(path), given, arm) for path in tasks}
        self._setup = next(iter(self._setups.values()))
        self._episode: SteppedEpisode | None = None

    @classmethod
    def configure_render(cls, mode: str) -> dict[str, str]:
        """Choose the library that draws, before MuJoCo is loaded.

        Args:
            mode: ``gpu`` or ``cpu``.

        Returns:
            The variables that were set.
        """
        if "mujoco" in sys.modules:
            return {}
        wanted = {**os.environ, "MUJOCO_GL": "osmesa"} if mode == "cpu" else os.environ
        try:
            os.environ["MUJOCO_GL"] = choose_library(wanted)
        except ValueError:
            return {}  # states need no pictures; cameras are refused with this reason when they are used
        return {"MUJOCO_GL": os.environ["MUJOCO_GL"]}

    def get_tasks(self) -> list[dict[str, Any]]:
        """Return the tasks; the harness adds the number of the episode."""
        return [{"name": name, "suite": name.partition("-")[0]} for name in self._setups]

    def get_metadata(self) -> dict[str, Any]:
        """Return the number of steps after which every episode has ended, and the version of Handiwork."""
        steps = max(one.settings.time_limit * one.settings.rate_hz for one in self._setups.values())
        version = metadata.version("handiwork_core")
        return {"max_steps": int(np.ceil(steps)) + SPARE_STEPS, "handiwork_version": version}

    def get_action_spec(self) -> dict[str, Any]:
        """Return the form of an action: one vector, whose last number is the gripper's where there is one."""
        from vla_eval.specs import DimSpec

        settings = self._setup.settings
        text = f"{settings.action_space.value}, gripper {settings.gripper.value}, SI units"
        return {
            "actions": DimSpec(
                "actions", action_size(self._setup), settings.action_space.value, description=text
            )
        }

    def get_observation_spec(self) -> dict[str, Any]:
        """Return the form of an observation."""
        from vla_eval.specs import DimSpec

        settings = self._setup.settings
        made = {
            "task_description": DimSpec("task_description", 0, "language"),
            "state": DimSpec("state", 0, "+".join(settings.state)),
        }
        return made | {one.key: DimSpec(one.key, 0, "image_rgb") for one in settings.cameras}

    def get_metric_keys(self) -> dict[str, str]:
        """Return how numbers of episodes are put together."""
        return {"success": "mean", "score": "mean", "score_peak": "mean", "late_steps": "sum"}

    def get_hold_action(self, last_action: dict[str, Any] | None) -> dict[str, Any]:
        """Return what is done while no new action is there: positions are kept, and changes are none.

        Args:
            last_action: The newest action; None before the first one.
        """
        is_absolute = self._setup.settings.action_space in (ActionSpace.JOINT_POSITION, ActionSpace.EE_POSE)
        if last_action is not None:
            kept = np.asarray(last_action["actions"], dtype=np.float64).reshape(-1)
            if not is_absolute:
                size = action_size(self._setup)
                kept[: size - (self._setup.settings.gripper.value != "none")] = 0.0
            return {"actions": kept}
        if self._episode is not None:
            return {"actions": self._episode.hold_action()}
        arm = self._setup.robot.arm(self._setup.arm)
        width = arm.gripper.max_width_m if arm.gripper is not None else 0.0
        return {"actions": hold_action(self._setup, np.asarray(arm.home_q, dtype=np.float64), width)}

    async def start_episode(self, task: dict[str, Any], recorder: object = None) -> None:
        """Begin an episode.

        Args:
            task: One of ``get_tasks``, with ``episode_idx``.
            recorder: Not needed.
        """
        self._close()
        self._setup = self._setups[task["name"]]
        number = self._first + int(task.get("episode_idx", 0))
        self._episode = await _in_thread(SteppedEpisode, self._setup, number)

    async def apply_action(self, action: dict[str, Any]) -> None:
        """Do one action; of a chunk the first one.

        Args:
            action: A map with ``actions``.
        """
        rows = np.atleast_2d(np.asarray(action["actions"], dtype=np.float64))
        await _in_thread(self._running().step, rows[0])

    async def get_observation(self) -> dict[str, Any]:
        """Return the newest observation."""
        settings, there = self._setup.settings, self._running().observation or {}
        made = {
            "task_description": str(there.get(settings.prompt_key, "")),
            "state": np.concatenate(
                [
                    there.get(key, np.zeros(0, np.float32))
                    for key in settings.state_keys or (settings.state_key,)
                ]
            ),
        }
        images = {one.key: there[one.key] for one in settings.cameras if one.key in there}
        return made | ({"images": images} if images else {})

    async def is_done(self) -> bool:
        """Return True once the episode has ended: with its success, at the end of its time, or by a fault."""
        return self._running().observation is None

    async def get_time(self) -> float:
        """Return the time of the world since the beginning, s."""
        return self._running().time_s

    async def get_result(self) -> dict[str, Any]:
        """Return success, scores, times and the reason."""
        return _as_metrics(await _in_thread(self._running().result))

    def cleanup(self) -> None:
        """End the episode that is under way."""
        self._close()

    def _running(self) -> SteppedEpisode:
        if self._episode is None:
            raise RuntimeError("no episode has begun; call start_episode first")
        return self._episode

    def _close(self) -> None:
        if self._episode is not None and self._episode.observation is not None:
            with contextlib.suppress(PolicyError):  # it ended before anything moved
                self._episode.result()
        self._episode = None


def _setup(path: Path, given: Mapping[str, Any], arm: str) -> PolicySetup:
    task = read_task_file(path)
    robot = load_robot(robot_folder(task.settings.robot))
    scene = load_scene(scene_file(task.settings.scene))
    settings = settings_for(given, task, robot, scene)
    return PolicySetup(
        task, robot, scene, settings, metadata.version("handiwork_core"), arm_of(robot, arm).name
    )


def _as_metrics(found: PolicyResult) -> dict[str, Any]:
    return {
        "success": found.success,
        "score": found.final,
        "score_peak": found.peak,
        "success_first_hold_s": found.first_true_s,
        "success_confirmed_s": found.confirmed_s,
        "late_steps": found.late_steps,
        "end": found.end,
        "reason": found.message,
        "events": [f"{one.kind} {one.what}" for one in found.events],
    }


async def _in_thread(function: Any, *arguments: Any) -> Any:
    """Call a function in a thread, so that the harness can receive messages meanwhile."""
    import anyio.to_thread

    return await anyio.to_thread.run_sync(function, *arguments)
