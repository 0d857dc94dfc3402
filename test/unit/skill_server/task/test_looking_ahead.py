"""A pick of a task looks ahead to the place that follows directly, and to no other."""

from __future__ import annotations

from typing import Any

import pytest

from unit.skill_server.task.test_task_file import read

PICK, PLACE = "{name: pick, object: cube}", "{name: place, container: tray, place_z_offset: 0.02}"


def picks(*steps: str) -> dict[str, Any]:
    """Return ``next_place`` of each pick by its place in the file."""
    lines = "".join(f"      - {step}\n" for step in steps)
    task = read(f"name: demo\nskills:\n  - gantry:\n{lines}")
    return {
        entry.path.removeprefix("skills[0].gantry"): entry.params.next_place
        for entry in task.entries
        if hasattr(entry.params, "next_place")
    }


def test_a_pick_takes_the_parameters_of_the_place_with_its_seed() -> None:
    task = read(f"name: demo\nskills:\n  - gantry:\n      - left: [{PICK}, {PLACE}]\n")
    pick, place = task.entries
    assert pick.params.next_place == place.params
    assert place.params.seed != 0


def test_the_place_may_be_in_the_next_step_of_the_only_arm() -> None:
    [place] = picks(f"left: [{PICK}]", f"left: [{PLACE}]").values()
    assert place is not None and place.place_z_offset == 0.02


@pytest.mark.parametrize(
    "steps",
    [
        [f"left: [{PICK}]"],
        [f"left: [{PICK}, {{name: home}}, {PLACE}]"],
        [f"left: [{PICK}]\n        right: [{{name: home}}]", f"left: [{PLACE}]"],
        [f"left: [{PICK}]", "right: [{name: home}]", f"left: [{PLACE}]"],
        [f"left: [{PICK}]", f"right: [{PLACE}]"],
        [f"left: [{{name: pick, object: cube, look_ahead: false}}, {PLACE}]"],
        [f"left: [{{name: pick, object: cube, final_gripper_state: 1}}, {PLACE}]"],
        [f"left: [{{name: dynamicpick, object: cube}}, {PLACE}]"],
        [f"left: [{PICK}, {{name: place, object: ball, container: tray}}]"],
    ],
    ids=[
        "nothing follows",
        "a skill between",
        "another arm beside",
        "another arm between",
        "the place of another arm",
        "switched off",
        "an open hand",
        "a belt",
        "another object",
    ],
)
def test_a_pick_does_not_look_ahead(steps: list[str]) -> None:
    assert list(picks(*steps).values()) == [None]


def test_a_place_of_its_own_stays() -> None:
    [place] = picks(
        f"left: [{{name: pick, object: cube, next_place: {{container: ball}}}}, {PLACE}]"
    ).values()
    assert place.container == "ball"
