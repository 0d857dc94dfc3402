"""Goals, paths and results of an evaluation in a running stack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from handiwork_core.admittance.arm_kinematics import ArmKinematics
from handiwork_core.config.dataclass_loader import ConfigError, parse
from handiwork_core.robot_files.loader import load_robot
from handiwork_data.episodes.settings import TaskFile, read_task_file
from handiwork_data.evaluation.on_stack import check_task, goal_parameters, joint_path_metrics, read_result
from handiwork_policy.guard.settings import GuardSettings
from handiwork_policy.loop.settings import CameraInput, PolicySettings
from handiwork_policy.verdicts import result as ends
from handiwork_policy.verdicts.result import PolicyEvent, PolicyResult, SubtaskResult
from skill_server.policies.params import RunPolicyParams
from skill_server.policies.run import reported
from support.paths import ROBOTS

RESULT = PolicyResult(
    end=ends.TIME_OVER,
    message="the time of 4 s is over; the cube is not held",
    success=False,
    success_at_peak=True,
    first_true_s=1.5,
    confirmed_s=None,
    peak=1.0,
    final=0.5,
    verdict="the cube is not held",
    subtasks=(SubtaskResult("gripper_open", 0.25, False),),
    events=(PolicyEvent("dropped", "cube", 2.5),),
    duration_s=4.0,
    steps=100,
    chunks=13,
    late_steps=2,
    inference_ms=(1.0, 2.0, 3.0),
    guard={"velocity": 4},
    answers_ms=(1.0, 3.0),
)


def task_with(folder: Path, **keys: Any) -> TaskFile:
    path = folder / "task.yaml"
    path.write_text(yaml.safe_dump({"episodes": {"success": "object_grabbed(object=cube)", **keys}}))
    return read_task_file(path)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"objects": {"mass_factor": [0.5, 2.0]}}, "objects: a running simulation keeps masses"),
        ({"scatter": False}, "scatter is False and home_spread is True"),
    ],
)
def test_what_a_running_simulation_cannot_draw_is_refused(
    tmp_path: Path, keys: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        check_task(task_with(tmp_path, **keys))


def test_other_tasks_pass(tmp_path: Path) -> None:
    check_task(task_with(tmp_path))
    check_task(task_with(tmp_path, scatter=False, home_spread=False))


def test_the_goal_has_all_settings() -> None:
    settings = PolicySettings(
        until="object_grabbed(object=cube)",
        cameras=(CameraInput(key="front", width=64, height=48),),
        guard=GuardSettings(may_touch=("cube",), velocity_scaling=0.5),
        chunk=16,
        execute_steps=4,
    )
    sent = yaml.safe_load(yaml.safe_dump(goal_parameters(settings, "ws://localhost:8000")))
    found = parse(RunPolicyParams, sent, "goal")
    assert found.server == "ws://localhost:8000"
    for name in PolicySettings.__dataclass_fields__:
        assert getattr(found, name) == getattr(settings, name), name


def test_a_result_comes_back_as_it_was_sent() -> None:
    assert read_result(f"{reported(RESULT)} (the arm is at rest)") == RESULT


@pytest.mark.parametrize("message", ["the server is not there", "over; result: {}", "over; result: {"])
def test_a_message_without_a_result_has_none(message: str) -> None:
    assert read_result(message) is None


def test_the_path_is_that_of_the_hand() -> None:
    robot = load_robot(ROBOTS / "fr3")
    arm = robot.arms["fr3_arm"]
    times = [0.0, 0.1, 0.35, 1.0]
    home = np.zeros(7)
    home[3] = -1.5
    turned = [home + 0.4 * time * np.eye(7)[0] for time in times]
    found = joint_path_metrics(robot, arm, times, turned, 25.0)
    # The first joint turns about the vertical axis, so that the hand is on a circle around the base.
    radius = float(np.linalg.norm(ArmKinematics(robot, arm).pose_and_jacobian(home)[0][:2, 3]))
    assert found["ee_speed_mean"] == pytest.approx(0.4 * radius, rel=0.01)
    assert joint_path_metrics(robot, arm, [0.0], [home], 25.0)["ee_path_length"] == 0.0
