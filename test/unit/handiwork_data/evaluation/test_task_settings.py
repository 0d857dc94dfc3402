"""Settings of a policy from the user, the server and the task."""

from __future__ import annotations

from pathlib import Path

import pytest

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_data.episodes.settings import read_task_file
from handiwork_data.evaluation.task_settings import arm_of, check_metadata, settings_for, with_metadata
from handiwork_policy.actions.spec import ActionSpace, GripperSpace
from handiwork_policy.loop.settings import PolicySettings
from handiwork_policy.protocol.errors import BadAnswer
from support.paths import ROOT
from support.records.short_task import NEVER, short_task

FR3 = load_robot(ROOT / "src/robot_description/robots/fr3")
SCENE = load_scene(ROOT / "config/scenes/tabletop.yaml")


def settings(path: Path, **given: object) -> PolicySettings:
    return settings_for(given, read_task_file(short_task(path)), FR3, SCENE)


def test_the_task_gives_condition_subtasks_and_time(tmp_path: Path) -> None:
    made = settings(tmp_path, rate_hz=10.0)
    assert (made.until, made.subtasks) == (NEVER, ("object_grabbed(object=cube)",))
    assert (made.time_limit, made.rate_hz) == (1.0, 10.0)


def test_a_policy_may_touch_the_movable_objects_that_the_task_is_about(tmp_path: Path) -> None:
    assert settings(tmp_path).guard.may_touch == ("cube",)
    assert settings(tmp_path, guard={"clearance": 0.01}).guard.may_touch == ("cube",)
    assert settings(tmp_path, guard={"may_touch": []}).guard.may_touch == ()
    assert settings(tmp_path, guard={"may_touch": ["can"]}).guard.may_touch == ("can",)


def test_the_server_fills_what_the_user_leaves_open() -> None:
    metadata = {"action_space": "ee_delta", "action_horizon": 16, "name": "pi0", "gripper": "open_share"}
    made = with_metadata({"gripper": "width"}, metadata)
    assert made == {"action_space": "ee_delta", "chunk": 16, "gripper": "width"}


@pytest.mark.parametrize("key", ["until", "subtasks"])
def test_what_the_task_decides_is_refused(key: str) -> None:
    with pytest.raises(ConfigError, match=f"{key}: is decided by the task's key episodes; take it out"):
        with_metadata({key: "x"}, {})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rate": 10}, "rate: unknown key; did you mean 'rate_hz'?"),
        ({"action_space": "joints"}, "action_space: is 'joints'"),
        ({"state": ["joint_position", 7]}, "state[1]: is 7; write text"),
    ],
)
def test_bad_settings_are_refused_with_their_key(tmp_path: Path, given: dict, words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        settings(tmp_path, **given)
    assert words in str(refused.value)


def test_a_policy_for_other_actions_is_refused() -> None:
    made = PolicySettings(until=NEVER, action_space=ActionSpace.EE_DELTA, gripper=GripperSpace.NONE)
    check_metadata(made, {"action_dim": 6}, FR3, arm_of(FR3, ""))
    with pytest.raises(BadAnswer, match="the server's action_dim is 8, but the goal asks for 6"):
        check_metadata(made, {"action_dim": 8}, FR3, arm_of(FR3, ""))


def test_an_unknown_arm_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"is 'left'; robot 'fr3' has \['fr3_arm'\], name one of them"):
        arm_of(FR3, "left")
