"""The demo, a randomised episode with cancels, and the checker, over the adapter and a stand-in of Isaac Sim."""

from __future__ import annotations

import json

import pytest
from handiwork_msgs.action import Pick, Place

from handiwork_cli.cli import main
from handiwork_ros.clients.skill_client import SkillReport
from support.stack.rig import PICK_STAGES, PLACE_STAGES, Rig

from .test_cancel import TRIES, cancel_in
from .test_demo_loop import (  # noqa: F401 - fixture and test of the demo hold here too
    IN_BIN,
    events,
    test_pick_and_place_end_in_the_container,
)

LAUNCH_ARGUMENTS = {"backend": "isaac_stand_in", "real_time_factor": "1"}
"""The real-time factor: each command has one tick to arrive, which is too short on a busy machine if faster."""
SEED = 1


def test_a_randomised_episode_outlives_two_cancels_and_ends_in_the_container(rig: Rig) -> None:
    rig.reset(SEED, randomize=True)
    cancel_the_approach(rig)
    report = cancel_the_transit(rig)
    assert report.held_object == "cube"
    placed = rig.client.place("cube", "bin")
    assert placed.ok, placed.outcome
    inside, reason = rig.stack.settled("object_in_container", IN_BIN, 60.0)
    assert inside, reason


def cancel_the_approach(rig: Rig) -> None:
    """The arm is at rest in the middle of its approach, with nothing in its hand."""
    goal = Pick.Goal(object="cube", gripper_width=0.06)
    for _ in range(TRIES):
        if cancel_in(rig, goal, "approach", PICK_STAGES) is not None:
            return
        rig.reset(SEED, randomize=True)
    pytest.fail(f"the approach was not hit in {TRIES} tries")


def cancel_the_transit(rig: Rig) -> SkillReport:
    """The next pick works, and the arm is at rest on its way to the container."""
    for _ in range(TRIES):
        picked = rig.client.pick("cube")
        assert picked.ok, picked.outcome
        report = cancel_in(rig, Place.Goal(container="bin"), "transit", PLACE_STAGES)
        if report is not None:
            return report
        rig.reset(SEED, randomize=True)
    pytest.fail(f"the transit was not hit in {TRIES} tries")


def test_the_stand_in_keeps_the_whole_contract(rig: Rig, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    code = main(["check-backend", "--json", "--listen", "2.0"])
    report = json.loads(capsys.readouterr().out)
    assert [row for row in report["findings"] if row["verdict"] != "pass"] == []
    assert (code, report["good"]) == (0, True)
    checks = {row["check"] for row in report["findings"]}
    assert {"rate /joint_states", "clock agreement", "gripper stall fr3_gripper", "contacts sign"} <= checks
