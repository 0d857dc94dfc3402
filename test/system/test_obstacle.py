"""A wall is in the way: pick and place lead past it, and nothing ever touches it."""

from __future__ import annotations

import pytest

from support.stack.rig import Rig

LAUNCH_ARGUMENTS = {"scene": "blocked"}


@pytest.mark.parametrize("seed", [0, 1])
def test_way_past_the_wall_touches_nothing(rig: Rig, seed: int) -> None:
    if seed:
        rig.reset(seed, randomize=True)
    picked = rig.client.pick("cube")
    assert picked.ok, picked.outcome
    placed = rig.client.place("cube", "bin")
    assert placed.ok, placed.outcome
    inside, reason = rig.stack.settled("object_in_container", "{object: cube, container: bin}", 60.0)
    assert inside, reason
    fingers = {"fr3/fr3_leftfinger", "fr3/fr3_rightfinger"}
    assert fingers <= rig.contacts.of("cube"), "the record saw the grasp, so it would have seen a touch"
    assert rig.contacts.of("wall") <= {"table"}
    links = {body for pair in rig.contacts.pairs for body in pair if body.startswith("fr3/")}
    assert {other for link in links for other in rig.contacts.of(link)} - links <= {"cube"}
