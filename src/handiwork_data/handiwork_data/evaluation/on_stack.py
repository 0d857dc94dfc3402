"""What an episode of an evaluation is in a running stack: its goal, its path and its result. Knows nothing of ROS."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from enum import Enum
from typing import Any

import numpy as np

from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.config.dataclass_loader import ConfigError, parse
from handiwork_core.model.geometry import Array
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_data.episodes.settings import ObjectVariation, TaskFile
from handiwork_policy.loop.settings import PolicySettings
from handiwork_policy.verdicts.result import DATA, PolicyResult, policy_result

from .path_metrics import path_metrics

ALONE = "or evaluate it without --on ros"


def check_task(task: TaskFile) -> None:
    """Check that a running simulation can draw what a task file asks for.

    Args:
        task: The task file.

    Raises:
        ConfigError: It cannot.
    """
    settings, where = task.settings, f"{task.path}: episodes"
    if settings.objects != ObjectVariation():
        text = "objects: a running simulation keeps masses, frictions and colours; take the key away"
        raise ConfigError(where, [f"{text}, {ALONE}"])
    if settings.scatter != settings.home_spread:
        text = f"scatter is {settings.scatter} and home_spread is {settings.home_spread}"
        raise ConfigError(
            where, [f"{text}; a running simulation draws both or none: make them equal, {ALONE}"]
        )


def goal_parameters(settings: PolicySettings, server: str) -> dict[str, Any]:
    """Return the parameters of a goal of ``run_policy``.

    Args:
        settings: How the policy is run.
        server: Address of the policy server.
    """
    return {"server": server, **asdict(settings, dict_factory=_with_values)}


def _with_values(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return fields as YAML can hold them."""
    return {key: value.value if isinstance(value, Enum) else value for key, value in pairs}


def read_result(message: str) -> PolicyResult | None:
    """Return the result that the message of a goal carries; None for a goal that has not run the policy.

    Args:
        message: Message of the goal's outcome.
    """
    found = policy_result(message)
    if found is None:
        return None
    try:
        return parse(PolicyResult, {**found, "message": message.partition(DATA)[0]}, "result")
    except ConfigError:
        return None


def joint_path_metrics(
    robot: Robot, arm: ArmSpec, times_s: Sequence[float], positions: Sequence[Array], rate_hz: float
) -> dict[str, float]:
    """Return the numbers of the path of an arm's EE; see ``path_metrics``.

    Args:
        robot: The robot.
        arm: The arm.
        times_s: Rising times of the samples, s.
        positions: Positions of the arm's joints at each, (dof,), rad or m.
        rate_hz: Points of the path a second; the samples between them are interpolated.
    """
    if len(times_s) < 2:
        return path_metrics(np.zeros((0, 3)), rate_hz)
    grid, q = np.arange(times_s[0], times_s[-1], 1.0 / rate_hz), np.array(positions)
    kinematics = ArmKinematics(robot, arm)
    at_grid = np.stack([np.interp(grid, times_s, column) for column in q.T], axis=1)
    return path_metrics(np.array([kinematics.pose_and_jacobian(one)[0][:3, 3] for one in at_grid]), rate_hz)
