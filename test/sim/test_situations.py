"""MuJoCo confirms the recorded states of the labelled situations."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.situations.record import Recorder

from conditionals_node.scoring import load_situations, own_judge
from conditionals_node.scoring.score import ask
from conditionals_node.scoring.situations import CATEGORIES, load_bodies, load_families, scenes_of, world_of
from handiwork_core.robot_files.loader import load_robot
from support.paths import ROBOTS

SAME_M = 2e-3
"""Largest distance between a recorded place and that of the same situation settled again, m."""


@pytest.fixture(scope="module")
def recorder() -> Recorder:
    return Recorder(load_robot(ROBOTS / "fr3"))


@pytest.mark.slow
@pytest.mark.parametrize("category", CATEGORIES)
def test_situations_settle_again_where_they_were_recorded(category: str, recorder: Recorder) -> None:
    bodies = {item.name: item.body for item in load_bodies().objects}
    judge = own_judge(load_robot(ROBOTS / "fr3"))
    recorded = {one.key: one for one in load_situations()}
    entries = [
        pair for family in load_families() if family["category"] == category for pair in scenes_of(family)
    ]
    assert entries
    for key, entry in entries:
        recorder.settle(entry)
        state, one = recorder.state("hand" in entry), recorded[key]
        hidden, touch = tuple(entry.get("hidden", ())), entry.get("touch", True)
        for name, was in one.complete.states.items():
            gap = np.linalg.norm(np.array(state["objects"][name][:3]) - was.world_T_object.translation_m)
            assert gap < SAME_M, (key, name)
        again = type(one)(
            one.key,
            one.category,
            one.family,
            one.questions,
            world_of(state, bodies, hidden, touch),
            one.complete,
        )
        for question in one.questions:
            assert ask(judge, again, question).truth is ask(judge, one, question).truth, (
                key,
                question.expression,
            )
