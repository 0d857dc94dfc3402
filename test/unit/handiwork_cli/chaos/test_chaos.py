"""Chaos trials repeat by their seed, and their verdicts report false results."""

from __future__ import annotations

import argparse
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from handiwork_cli.chaos.machine import burners
from handiwork_cli.chaos.ros import campaign
from handiwork_cli.chaos.ros.goals import TrialScene, contradiction_of
from handiwork_cli.chaos.trials import (
    NETWORK,
    Fault,
    FaultKind,
    GoalKind,
    Trial,
    draw_network_trial,
    draw_trial,
)
from handiwork_cli.chaos.verdict import (
    BOUND_S,
    Findings,
    TrialEnding,
    UnaskedMotion,
)
from handiwork_cli.commands.stack import chaos
from handiwork_cli.processes.interrupts import INTERRUPTED
from handiwork_cli.stack.demo_cells import Target
from handiwork_core.model.outcome import Code

TARGET = Target("arm", "cube", "bin")
GOOD = TrialEnding(Trial(0, GoalKind.PICK, ()), Code.OK, "", 3.0, recovery_s=0.0)
KILLED = Trial(0, GoalKind.PICK, (Fault(FaultKind.KILL, "planner_node", 1.0, 0.0),))


def test_a_seed_gives_the_same_trials() -> None:
    first = [draw_trial(7, index, is_holding=False) for index in range(50)]
    assert first == [draw_trial(7, index, is_holding=False) for index in range(50)]
    assert first != [draw_trial(8, index, is_holding=False) for index in range(50)]


def test_every_goal_and_every_fault_comes_up() -> None:
    trials = [draw_trial(0, index, is_holding=index % 2 == 0) for index in range(500)]
    assert {trial.goal for trial in trials} == set(GoalKind)
    assert {fault.kind for trial in trials for fault in trial.faults} == set(FaultKind) - set(NETWORK)


def test_a_run_with_a_faulty_network_has_each_of_its_conditions_in_turn() -> None:
    trials = [draw_network_trial(3, index, is_holding=False) for index in range(12)]
    assert trials == [draw_network_trial(3, index, is_holding=False) for index in range(12)]
    texts = ["; ".join(fault.text for fault in trial.faults) for trial in trials]
    assert texts[:4] == ["", "network_loss of 5%", "network_loss of 20%", "network_delay of 0.10 s +- 50%"]
    assert [trial.may_be_lost for trial in trials[:6]] == [False] * 5 + [True]
    assert [round(fault.lasts_s) for trial in trials for fault in trial.faults if fault.at_s] == [
        3,
        30,
        3,
        30,
    ]


def test_only_a_client_that_was_cut_off_for_long_may_give_up_a_goal_that_succeeds_later() -> None:
    ends = [
        replace(GOOD, trial=draw_network_trial(0, index, is_holding=False), code=Code.UNRESPONSIVE)
        for index in range(6)
    ]
    assert [end.is_false_end for end in ends] == [True] * 5 + [False]
    assert [replace(end, succeeded_later=True).is_false_end for end in ends] == [True] * 5 + [False]


def test_a_held_object_is_placed_and_never_picked_again() -> None:
    assert not any(draw_trial(0, i, is_holding=True).goal is GoalKind.PICK for i in range(200))
    assert not any(draw_trial(0, i, is_holding=False).goal is GoalKind.PLACE for i in range(200))


@pytest.mark.parametrize(
    ("ending", "word"),
    [
        (replace(GOOD, contradiction="cube rose by 0 mm"), "false OK"),
        (replace(GOOD, code=Code.UNRESPONSIVE), "false end"),
        (replace(GOOD, trial=KILLED, code=Code.UNRESPONSIVE, succeeded_later=True), "false end"),
        (replace(GOOD, took_s=BOUND_S + 1.0), "no end"),
        (replace(GOOD, recovery_s=None), "not active"),
    ],
)
def test_a_broken_promise_fails_the_run(ending: TrialEnding, word: str) -> None:
    findings = Findings(0, [GOOD, ending])
    assert word in " ".join(ending.faults)
    assert not findings.is_good
    assert any(word in line for line in findings.lines())


def test_a_true_loss_and_a_true_refusal_are_no_faults() -> None:
    lost = replace(GOOD, trial=KILLED, code=Code.PLANNER_LOST)
    refused = replace(GOOD, trial=Trial(1, GoalKind.UNKNOWN_OBJECT, ()), code=Code.UNKNOWN_OBJECT)
    assert Findings(0, [GOOD, lost, refused]).is_good


@pytest.mark.parametrize("kind", [FaultKind.FORGED_STATUS, FaultKind.FORGED_BOND, FaultKind.COPIED_BOND])
def test_a_forged_sign_of_life_is_no_reason_to_end(kind: FaultKind) -> None:
    forged = Trial(0, GoalKind.PICK, (Fault(kind, "skill_server", 1.0, 2.0),))
    assert replace(GOOD, trial=forged, code=Code.UNRESPONSIVE).is_false_end


def test_motion_without_a_goal_fails_the_run() -> None:
    assert not Findings(0, [GOOD], [UnaskedMotion(0, "joint1", 0.3)]).is_good


def test_a_bad_request_that_was_accepted_fails_the_run() -> None:
    findings = Findings(0, [GOOD], not_as_promised={"trial 0, endless_file at 1.0 s": "it was spawned"})
    assert not findings.is_good
    assert "not as promised: trial 0, endless_file at 1.0 s: it was spawned" in findings.lines()


def test_a_wall_in_the_way_is_no_reason_for_a_loss_and_its_force_is_reported() -> None:
    walled = Trial(0, GoalKind.PLACE, (Fault(FaultKind.WALL, "", 1.0, 2.0),))
    assert replace(GOOD, trial=walled, code=Code.ROBOT_LOST).is_false_end
    assert not replace(GOOD, trial=walled, code=Code.PATH_BLOCKED).is_false_end
    findings = Findings(0, [replace(GOOD, trial=walled)], greatest_wall_force_n=12.0)
    assert "greatest force of the arm on a wall that appeared: 12 N (n = 1)" in findings.lines()


def test_a_run_without_goals_is_not_good() -> None:
    assert not Findings(0).is_good


@pytest.mark.parametrize(
    ("kind", "cube", "is_true"),
    [
        (GoalKind.PICK, (0.5, 0.0, 0.12), True),
        (GoalKind.PICK, (0.5, 0.0, 0.02), False),
        (GoalKind.PLACE, (0.52, -0.31, 0.03), True),
        (GoalKind.PLACE, (0.5, 0.0, 0.02), False),
        (GoalKind.UNKNOWN_OBJECT, (0.5, 0.0, 0.02), False),
    ],
)
def test_ok_is_held_against_the_simulation(
    kind: GoalKind, cube: tuple[float, float, float], is_true: bool
) -> None:
    places = {"cube": cube, "bin": (0.5, -0.3, 0.0)}
    assert (contradiction_of(kind, TrialScene(TARGET, places.get), (0.5, 0.0, 0.02)) == "") == is_true


@pytest.mark.usefixtures("nothing_left_over")
def test_burners_run_until_their_block_ends() -> None:
    def children() -> set[str]:
        return {
            pid for task in Path("/proc/self/task").glob("*/children") for pid in task.read_text().split()
        }

    before = children()
    with burners(2):
        assert len(children() - before) == 2


class _NoStack:
    """A stack that does nothing."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __enter__(self) -> _NoStack:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def wait_active(self) -> None:
        pass


@pytest.mark.parametrize(
    ("number", "is_false"), [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGTERM, True)]
)
def test_a_run_that_is_ended_by_a_signal_prints_its_report(
    number: signal.Signals,
    is_false: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Interrupted:
        def __init__(self, _plan: object, _stack: object, findings: Findings) -> None:
            self._findings = findings

        def run(self, _write: object) -> None:
            ending = replace(GOOD, contradiction="the cube lies on the table") if is_false else GOOD
            self._findings.endings.extend([GOOD, ending])
            signal.raise_signal(number)

    monkeypatch.setattr(campaign, "Stack", _NoStack)
    monkeypatch.setattr(campaign, "Campaign", Interrupted)
    parser = argparse.ArgumentParser()
    chaos.add_parser(parser.add_subparsers())
    code = chaos.run(parser.parse_args(["chaos", "--minutes", "60"]))
    said = capsys.readouterr().out
    assert code == (1 if is_false else INTERRUPTED)
    assert "ended early by a signal" in said
    assert f"2 goals, seed 0: {int(is_false)} false OK" in said
