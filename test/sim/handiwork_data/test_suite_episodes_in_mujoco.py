"""Episodes of a cup, of a base that drives, and of hands that take their own time to close on a running belt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from handiwork_data.dataset.generate import Sources, make_setup
from handiwork_data.episodes.action_replay import replay_actions
from handiwork_data.episodes.episode import Episode
from handiwork_data.episodes.run import EpisodeSetup, run_episode
from handiwork_data.episodes.settings import read_task_file
from support.navigated import folder_with_base
from support.paths import ROBOTS, ROOT


def made(suite: str, robot: Path | None = None) -> tuple[EpisodeSetup, Episode]:
    """Return the setup of a suite's task and its first episode, a success that its actions reach again.

    Args:
        suite: Name of the suite.
        robot: Folder of another robot of the same name; None: the suite's.
    """
    path = ROOT / f"config/suites/{suite}.yaml"
    settings = read_task_file(path).settings
    scene = ROOT / f"config/scenes/{settings.scene}.yaml"
    setup = make_setup(Sources(path, scene, robot or ROBOTS / settings.robot))
    episode = run_episode(setup, 0)
    assert episode.meta.success, (episode.meta.reason, episode.meta.verdict)
    replayed = replay_actions(setup, episode)
    assert replayed.success, replayed.verdict
    return setup, episode


def test_a_cup_counts_as_closed_by_its_seal_and_is_commanded_before() -> None:
    setup, episode = made("tidy/ur10_suction")
    gripper = setup.robot.arm("").gripper
    assert gripper is not None
    commanded, measured = (episode.columns[name][:, 0] for name in ("gripper_command", "gripper_width"))
    assert {*commanded, *measured} == {gripper.min_width_m, gripper.max_width_m}
    assert commanded[0] == measured[-1] == gripper.max_width_m
    first, sealed = (int(np.argmin(values)) for values in (commanded, measured))
    assert 0 < first <= sealed < first + setup.task.settings.rate_hz


def test_a_base_drives_to_two_tables() -> None:
    _, episode = made("tidy/fr3_mobile")
    bases = [episode.meta.joints.index(name) for name in ("base_x", "base_y", "base_yaw")]
    x, y, yaw = episode.columns["joint_position"][:, bases].T
    assert x.max() == pytest.approx(1.2, abs=0.02)
    assert (x[-1], y[-1], yaw[-1]) == pytest.approx((0.8, 1.1, 1.5708), abs=0.02)
    hand = episode.columns["ee_pose"][:, 0]
    assert hand[0, 0] < 0.7 and hand[:, 1].max() > 1.4, "the pose of the hand is in the world"


@pytest.mark.parametrize("robot", ["fr3_mobile", pytest.param("genie1_mobile", marks=pytest.mark.nightly)])
def test_a_base_finds_by_itself_where_to_stand_for_each_pick_and_place(robot: str) -> None:
    _, episode = made(f"two_tables/{robot}")
    bases = [episode.meta.joints.index(name) for name in ("base_x", "base_y")]
    way = episode.columns["joint_position"][:, bases]
    assert np.hypot(*np.diff(way, axis=0).T).sum() > 2.0, "the tables are out of reach of each other"


@pytest.mark.parametrize("words", ["kind: differential", "kind: differential, navigate_action: go"])
def test_a_differential_base_clears_two_tables_without_a_move_sideways(tmp_path: Path, words: str) -> None:
    """Without ROS there is no nav2: a base that it drives follows its own controller, as its kind allows."""
    _, episode = made("two_tables/fr3_mobile", folder_with_base(tmp_path, words))
    bases = [episode.meta.joints.index(name) for name in ("base_x", "base_y", "base_yaw")]
    path = episode.columns["joint_position"][:, bases]
    moves, yaw = np.diff(path[:, :2], axis=0), 0.5 * (path[1:, 2] + path[:-1, 2])
    sideways = moves[:, 1] * np.cos(yaw) - moves[:, 0] * np.sin(yaw)
    assert np.hypot(*moves.T).sum() > 2.0
    assert np.abs(sideways).sum() < 0.02, "what the controller's errors are"


@pytest.mark.parametrize("robot", ["fr3_robotiq", "ur10_suction"])
def test_a_parcel_on_a_belt_is_met_by_a_hand_that_takes_its_own_time_to_close(robot: str) -> None:
    made(f"belt/{robot}")
