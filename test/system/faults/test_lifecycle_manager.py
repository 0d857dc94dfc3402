"""The whole stack with a lifecycle manager: no node serves, and no arm moves, in a state that forbids it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handiwork_cli.stack.stack import NODES, Stack
from handiwork_core.model.outcome import Code
from support.nodes.lifecycle_manager import ACTIVATE, CLEANUP, CONFIGURE, DEACTIVATE, LifecycleManager
from support.stack.rig import SLOW, Rig, wait_for

LONGEST_LOAD_S = 300.0
"""The longest start of a planner whose kernels must be compiled first, s."""


@pytest.fixture(scope="module")
def managed() -> Iterator[tuple[Rig, LifecycleManager]]:
    with Stack({"real_time_factor": "2", "autostart": "false"}) as stack:
        manager = LifecycleManager(stack.client.node, NODES, answer_s=LONGEST_LOAD_S)
        manager.wait_ready()
        yield Rig(stack), manager


def assert_nothing_moves(rig: Rig) -> Code:
    """Check that a goal is refused, and that published joints do not change."""
    report = rig.client.pick("cube", timeout_s=60.0)
    assert not report.ok
    return report.outcome.code


def test_the_sequence_of_a_manager(managed: tuple[Rig, LifecycleManager]) -> None:
    rig, manager = managed
    assert manager.states() == {"unconfigured"}
    assert assert_nothing_moves(rig) is Code.NOT_ACTIVE
    manager.change_all(CONFIGURE)
    assert manager.states() == {"inactive"}
    manager.change_all(ACTIVATE)
    assert manager.states() == {"active"}
    assert rig.client.wait_ready(30.0)
    assert rig.client.pick("cube").ok
    rig.joints.clear()

    manager.change_all(DEACTIVATE)
    assert manager.states() == {"inactive"}
    assert assert_nothing_moves(rig) is Code.NOT_ACTIVE
    manager.change_all(ACTIVATE)
    rig.reset()
    assert rig.client.pick("cube").ok, "after deactivate and activate"

    manager.change_all(DEACTIVATE)
    manager.change_all(CLEANUP)
    assert manager.states() == {"unconfigured"}
    assert assert_nothing_moves(rig) is Code.NOT_ACTIVE
    manager.change_all(CONFIGURE)
    manager.change_all(ACTIVATE)
    rig.reset()
    assert rig.client.pick("cube").ok, "after cleanup and a second configure"


def test_deactivate_in_a_goal_answers_when_the_arm_rests(managed: tuple[Rig, LifecycleManager]) -> None:
    rig, manager = managed
    assert manager.states() == {"active"}
    rig.reset()
    run = rig.send_until(SLOW, "approach")
    rig.joints.wait_moving(0.05)
    assert manager.change("skill_server", DEACTIVATE)
    rig.joints.assert_rests()
    outcome = run.result(60.0).outcome
    assert outcome.code is Code.SHUTDOWN, outcome
    assert manager.change("skill_server", ACTIVATE)


def test_after_shutdown_no_goal_moves_the_arm(managed: tuple[Rig, LifecycleManager]) -> None:
    rig, manager = managed
    rig.reset()
    wait_for("the process ids of all nodes", lambda: None not in rig.pids().values())
    pids = rig.pids()
    run = rig.send_until(SLOW, "approach")
    rig.joints.wait_moving(0.05)
    assert manager.change("skill_server", label="shutdown")
    assert manager.state("skill_server") == "finalized"
    assert not run.result(60.0).ok
    rig.joints.assert_rests()
    rig.joints.clear()
    assert assert_nothing_moves(rig) in (Code.NOT_ACTIVE, Code.SHUTDOWN)
    rig.joints.assert_rests()
    assert rig.joints.greatest_change() < 0.01
    for name in NODES:
        assert name == "skill_server" or manager.change(name, label="shutdown"), name
    assert manager.states() == {"finalized"}
    wait_for("life signs of finalized nodes", lambda: all(map(rig.client.signs.is_alive, NODES)))
    assert rig.pids() == pids, "a node that a manager has shut down came back"
