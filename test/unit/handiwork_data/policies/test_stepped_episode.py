"""Episodes whose actions come from outside, step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.geometry import Array
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.episodes.settings import read_task_file
from handiwork_data.evaluation.task_settings import settings_for
from handiwork_data.policies.episode import PolicyEpisode, PolicySetup
from handiwork_data.policies.stepped_episode import SteppedEpisode, hold_action
from handiwork_policy.protocol.errors import PolicyError
from handiwork_policy.protocol.server import FunctionPolicy
from handiwork_policy.verdicts import result as ends
from support.paths import ROOT
from support.records.short_task import AT_ONCE, NEVER, short_task

FR3 = load_robot(ROOT / "src/robot_description/robots/fr3")
SCENE = load_scene(ROOT / "config/scenes/tabletop.yaml")
KEY = "observation/state"


@pytest.fixture
def setup_for(tmp_path: Path) -> Callable[..., PolicySetup]:
    def make(success: str = NEVER, **given: Any) -> PolicySetup:
        task = read_task_file(short_task(tmp_path, success=success))
        settings = settings_for({"gripper": "none", "state": ["joint_position"], **given}, task, FR3, SCENE)
        return PolicySetup(task, FR3, SCENE, settings, "0", "fr3_arm")

    return make


def turned(state: Array) -> Array:
    return state + np.array([0.05, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def test_it_does_what_the_episode_of_a_policy_does(setup_for: Callable[..., PolicySetup]) -> None:
    setup = setup_for()
    one = replace(setup.settings, execute_steps=1, blend_steps=0, asynchronous=False)
    policy = FunctionPolicy(lambda observation: turned(observation[KEY])[None])
    wanted = PolicyEpisode(replace(setup, settings=one), 3, policy).run()
    stepped = SteppedEpisode(setup, 3)
    states = list[Array]()
    while (observation := stepped.observation) is not None:
        assert observation["prompt"] == stepped.instruction == "Take the cube."
        states.append(observation[KEY])
        stepped.step(turned(observation[KEY]))
    found = stepped.result()
    assert (found.end, found.steps, found.duration_s) == (wanted.end, wanted.steps, wanted.duration_s)
    assert found.guard == wanted.guard and found.verdict == wanted.verdict
    assert len(states) == found.steps and states[-1][0] > states[0][0] + 0.1
    assert stepped.time_s >= found.duration_s


def test_success_ends_it(setup_for: Callable[..., PolicySetup]) -> None:
    stepped, count = SteppedEpisode(setup_for(AT_ONCE), 0), 0
    while stepped.observation is not None:
        stepped.step(stepped.hold_action())
        count += 1
    assert stepped.result().success and 0 < count < 25


def test_one_that_is_ended_from_outside_is_judged_as_it_is(setup_for: Callable[..., PolicySetup]) -> None:
    stepped = SteppedEpisode(setup_for(), 0)
    stepped.step(stepped.hold_action())
    found = stepped.result()
    assert found.end == ends.SERVER_FAULT and not found.success
    assert "the harness has ended the episode" in found.message and stepped.observation is None


def test_a_wrong_first_action_is_refused(setup_for: Callable[..., PolicySetup]) -> None:
    stepped = SteppedEpisode(setup_for(), 0)
    with pytest.raises(PolicyError, match=r"actions has the shape \[1, 6\]"):
        stepped.step(np.zeros(6))


def test_settings_that_do_not_fit_are_refused_at_the_beginning(setup_for: Callable[..., PolicySetup]) -> None:
    with pytest.raises(ConfigError, match="rate_hz is 30; in a simulation in lock-step"):
        SteppedEpisode(setup_for(rate_hz=30.0), 0)
    with pytest.raises(PolicyError, match="object_pose\\(cub\\)"):
        SteppedEpisode(setup_for(state=["object_pose(cub)"]), 0)


@pytest.mark.parametrize(
    ("space", "gripper", "last"),
    [
        ("joint_position", "width", [0.02]),
        ("joint_delta", "open_share", [0.25]),
        ("ee_delta", "closed_share", [0.75]),
    ],
)
def test_the_action_that_holds_keeps_the_gripper_as_it_is(
    setup_for: Callable[..., PolicySetup], space: str, gripper: str, last: list[float]
) -> None:
    q = np.arange(7.0)
    found = hold_action(setup_for(action_space=space, gripper=gripper), q, 0.02)
    body = q.tolist() if space == "joint_position" else [0.0] * (7 if space == "joint_delta" else 6)
    assert found.tolist() == pytest.approx(body + last)


def test_poses_have_no_action_that_holds_before_the_first_one(setup_for: Callable[..., PolicySetup]) -> None:
    with pytest.raises(ValueError, match="use ee_delta"):
        hold_action(setup_for(action_space="ee_pose"), np.zeros(7), 0.0)
