"""The demo, randomised episodes and cancels, unchanged, over the adapter and a world with Isaac Sim's habits."""

from __future__ import annotations

import pytest
from handiwork_msgs.action import Pick, Place
from rig import PICK_STAGES, PLACE_STAGES, Rig
from test_cancel import TRIES, assert_next_pick_works, cancel_in
from test_demo_loop import (  # noqa: F401 - fixture and test of the demo hold here too
    IN_BIN,
    events,
    test_pick_and_place_end_in_the_container,
)

LAUNCH_ARGUMENTS = {"backend": "isaac_stand_in", "real_time_factor": "1"}
"""Each command has a tick to arrive; on a busy machine that is little at more than real time."""


@pytest.mark.parametrize("seed", [1, 2])
def test_randomised_episodes_end_in_the_container(rig: Rig, seed: int) -> None:
    rig.reset(seed, randomize=True)
    picked = rig.client.pick("cube")
    assert picked.ok, picked.outcome
    placed = rig.client.place("cube", "bin")
    assert placed.ok, placed.outcome
    inside, reason = rig.stack.settled("object_in_container", IN_BIN, 10.0)
    assert inside, reason


def test_a_cancel_while_the_arm_approaches_brings_it_to_rest(rig: Rig) -> None:
    goal = Pick.Goal(object="cube", gripper_width=0.06)
    for _ in range(TRIES):
        if cancel_in(rig, goal, "approach", PICK_STAGES) is not None:
            break
        rig.reset()
    else:
        pytest.fail(f"the approach was not hit in {TRIES} tries")
    assert_next_pick_works(rig)


def test_a_cancel_while_the_cube_is_carried_keeps_hold_of_it(rig: Rig) -> None:
    for _ in range(TRIES):
        picked = rig.client.pick("cube")
        assert picked.ok, picked.outcome
        report = cancel_in(rig, Place.Goal(container="bin"), "transit", PLACE_STAGES)
        if report is not None:
            break
        rig.reset()
    else:
        pytest.fail(f"the transit was not hit in {TRIES} tries")
    assert report.held_object == "cube"
    placed = rig.client.place("cube", "bin")
    assert placed.ok, placed.outcome
