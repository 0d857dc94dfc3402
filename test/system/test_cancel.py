"""Cancel in each stage: the goal ends CANCELED in that stage, the arm is at rest, and the next goal works."""

from __future__ import annotations

import pytest
from handiwork_msgs.action import Pick, Place

from handiwork_core.model.outcome import Code
from handiwork_ros.clients.skill_client import SkillReport
from support.stack.rig import PICK_STAGES, PLACE_STAGES, Rig

TRIES = 5
"""A stage of a few milliseconds may be over when the cancel arrives."""
RESULT_S = 60.0
HOLDING = ("select", "transit", "descend")
"""Stages of place in which the hand holds the object."""


def cancel_in(rig: Rig, goal: Pick.Goal | Place.Goal, stage: str, stages: list[str]) -> SkillReport | None:
    """Cancel when the stage is reported; return the report, or None when a later stage had begun."""
    run = rig.send_until(goal, stage)
    run.cancel()
    report = run.result(RESULT_S)
    rig.joints.assert_rests()
    outcome = report.outcome
    if outcome.ok:
        return None
    assert outcome.code is Code.CANCELED, outcome
    assert stages.index(outcome.stage) >= stages.index(stage), outcome
    assert report.stages[-1].name == outcome.stage, report
    assert report.stages[-1].code is Code.CANCELED, report
    assert report.stopped_at, "the result says where the robot stopped"
    return report if outcome.stage == stage else None


def assert_next_pick_works(rig: Rig) -> None:
    rig.reset()
    report = rig.client.pick("cube")
    assert report.ok, report.outcome


@pytest.mark.parametrize("stage", PICK_STAGES)
def test_cancel_in_each_stage_of_pick(rig: Rig, stage: str) -> None:
    # With this width the fingers have to move, so that the stage takes time.
    goal = Pick.Goal(object="cube", gripper_width=0.06)
    for _ in range(TRIES):
        if cancel_in(rig, goal, stage, PICK_STAGES) is not None:
            break
        rig.reset()
    else:
        pytest.fail(f"stage {stage!r} was not hit in {TRIES} tries")
    assert_next_pick_works(rig)


@pytest.mark.parametrize("stage", PLACE_STAGES)
def test_cancel_in_each_stage_of_place(rig: Rig, stage: str) -> None:
    for _ in range(TRIES):
        picked = rig.client.pick("cube")
        assert picked.ok, picked.outcome
        report = cancel_in(rig, Place.Goal(container="bin"), stage, PLACE_STAGES)
        if report is not None:
            break
        rig.reset()
    else:
        pytest.fail(f"stage {stage!r} was not hit in {TRIES} tries")
    if stage in HOLDING:
        assert report.held_object == "cube"
        placed = rig.client.place("cube", "bin")
        assert placed.ok, placed.outcome
    assert_next_pick_works(rig)
