"""The arms that the soak visits, its table, and the repetition of a failed episode."""

from __future__ import annotations

import argparse
import threading
from dataclasses import replace

import pytest
from handiwork_msgs.action import Pick, Place

from handiwork_cli.commands.stack import soak, soak_all
from handiwork_cli.stack.demo_cells import (
    described_robots,
    robot_of,
    standing_robots,
    target_of,
)
from handiwork_cli.stack.soak_statistics import Failure, Tally, Waits
from handiwork_core.contracts.skill import Progress


def fed(waits: Waits, *stages: str) -> None:
    """Send feedback of stages.

    Args:
        waits: Receives the feedback.
        stages: Names of the stages.
    """
    for stage in stages:
        waits(Progress(stage, 0, 1, 0.0))


def tally_of(episodes: int, *failures: Failure, wanted: int = 100) -> Tally:
    """Return a tally in which episode i takes i seconds.

    Args:
        episodes: Number of episodes.
        failures: Failed episodes.
        wanted: Number of requested episodes.
    """
    return Tally(wanted, episodes, list(failures), episode_s=[float(i) for i in range(episodes)])


def options(*words: str) -> argparse.Namespace:
    """Return the parsed command line of ``soak-all``.

    Args:
        words: Words after the command.
    """
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    soak_all.add_parser(commands)
    return parser.parse_args(["soak-all", *words])


def test_every_arm_is_soaked_those_with_a_cup_too(monkeypatch: pytest.MonkeyPatch) -> None:
    visited: list[tuple[str, int]] = []

    def measure(asked: argparse.Namespace, targets: list[soak.Target]) -> Tally:
        visited.append((asked.robot, len(targets)))
        return tally_of(asked.episodes)

    monkeypatch.setattr(soak, "measure", measure)
    assert soak_all.run(options()) == 0
    assert {robot for robot, _ in visited} == set(standing_robots())
    for robot in standing_robots():
        arms = len(robot_of(robot).arms)
        assert visited.count((robot, 1)) == arms
        assert visited.count((robot, arms)) == 1
    assert ("ur10_suction", 1) in visited
    assert not any(robot == "fr3_mobile" for robot, _ in visited)


def test_a_failed_episode_is_told_with_its_cause_and_how_to_repeat_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failures = [
        Failure(7, 57, "left_arm pick", "NOT_REACHED", "3 mm off"),
        Failure(9, 59, "reset", "RESET", "no"),
        Failure(11, 61, "left_arm place", "NOT_REACHED", "4 mm off"),
    ]
    monkeypatch.setattr(soak, "measure", lambda asked, targets: tally_of(100, *failures))
    assert soak_all.run(options("--robots", "lift2")) == 1
    said = capsys.readouterr().out
    row = next(line for line in said.splitlines() if line.startswith("| lift2 | left_arm |"))
    assert "97/100 | 97.0 % | 49.5 s | 94.0 s |" in row
    assert "NOT_REACHED (57, 61), RESET (59)" in row
    assert "handiwork soak --robot lift2 --arm left_arm --arm right_arm --episodes 1 --seed 57\n" in said


def test_what_was_measured_is_printed_after_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(asked: argparse.Namespace, targets: list[soak.Target]) -> Tally:
        if len(targets) > 1:
            raise KeyboardInterrupt
        return tally_of(asked.episodes)

    monkeypatch.setattr(soak, "measure", measure)
    with pytest.raises(KeyboardInterrupt):
        soak_all.run(options("--robots", "genie1"))
    assert "| genie1 | right_arm | 100/100 |" in capsys.readouterr().out


def test_a_soak_that_is_interrupted_ends_with_the_table_and_no_further_case(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(asked: argparse.Namespace, targets: list[soak.Target]) -> Tally:
        return replace(tally_of(3), is_cut_short=True)

    monkeypatch.setattr(soak, "measure", measure)
    assert soak_all.run(options("--robots", "genie1")) == 130
    said = capsys.readouterr().out
    assert "ended early by a signal, after 3 of 100 episodes" in said
    assert said.count("| genie1 |") == 1


def test_a_stack_that_died_is_no_success_however_few_episodes_failed() -> None:
    one = Failure(59, 59, "stack", "STACK", "gone")
    assert tally_of(100, one).good
    assert not tally_of(60, one).good
    assert not tally_of(0, wanted=0).good


def test_waits_last_from_the_feedback_that_tells_of_one_to_the_next_stage() -> None:
    tally, now_s = Tally(), [0.0]
    waits = Waits(tally, lambda: now_s[0])
    fed(waits, "plan", "waiting for right_arm: it moves in the way")
    now_s[0] = 2.0
    fed(waits, "waiting for right_arm: it moves in the way")
    now_s[0] = 3.0
    fed(waits, "approach")
    waits.end()
    assert tally.waits_s == [3.0]
    assert tally.waited_for == {"right_arm: it moves in the way"}
    fed(waits, "waiting for right_arm: it stands there")
    now_s[0] = 3.5
    waits.end()
    assert tally.waits_s == [3.0, 0.5]


class Running:
    """The goal of a server that was silent for a while: it ends some time after the cancel."""

    def __init__(self, *, has_ended: bool) -> None:
        self._ended, self.canceled = threading.Event(), 0
        if has_ended:
            self._ended.set()

    @property
    def done(self) -> bool:
        return self._ended.is_set()

    def cancel(self) -> None:
        self.canceled += 1
        threading.Timer(0.05, self._ended.set).start()

    def wait_end(self, timeout_s: float) -> bool:
        return self._ended.wait(timeout_s)


def test_a_goal_without_a_result_is_ended_before_the_next_episode() -> None:
    silent, ended = Running(has_ended=False), Running(has_ended=True)
    soak._end(silent)  # type: ignore[arg-type]
    soak._end(ended)  # type: ignore[arg-type]
    assert (silent.done, silent.canceled, ended.canceled) == (True, 1, 0)


@pytest.mark.parametrize("name", [name for name in described_robots() if robot_of(name).arms])
def test_the_goals_of_the_soak_leave_every_option_at_its_default(name: str) -> None:
    """What the soak measures is what a user gets who writes no option: a default must work with every robot."""
    robot = robot_of(name)
    for arm in robot.arms.values():
        target = target_of(robot, arm.name)
        place = Place.Goal(arm=target.arm, object=target.object, container=target.container)
        assert soak._goal("place", target) == place
        assert soak._goal("pick", target) == Pick.Goal(arm=target.arm, object=target.object)
