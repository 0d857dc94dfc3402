"""The stacking network when the stack, a place or a refused bin changes while the arm is busy with another bin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from decider_node.network.errors import MonitorFailed
from decider_node.stacking.bin import stands_at
from decider_node.stacking.cell import STANDARD, place_on_shelf
from decider_node.stacking.layout import Layout
from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import ObjectState
from support.cells.kinematic_cell import TICK_S, Stacking, on_belt

BESIDE = Layout((0.85, 0.64), (-0.41,), 1, -0.59)
ONE = Layout((0.64,), (-0.31,), 1, -0.59)
LEANING = Rotation.from_axis_angle((1.0, 0.0, 0.0), 0.6)


def standing(stacking: Stacking, layout: Layout) -> int:
    """Count the places in which a bin truly stands."""
    held = stacking.cell.held
    poses = [pose for name, pose in stacking.cell.poses.items() if name != held]
    return sum(any(stands_at(pose, layout.place(k)) for pose in poses) for k in range(len(layout)))


def moved(pose: Pose, *by: float) -> Pose:
    return Pose.of(pose.translation_m + by, pose.rotation)


def until_held_for_placing(stacking: Stacking) -> None:
    while stacking.leaves[-1] != "place_bin":
        stacking.tick()


def test_a_stack_is_never_called_complete_while_a_bin_has_left_it() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, BESIDE)
    stacking.run(500)
    stacking.cell.poses["bin_1"] = on_belt(0.57, upside_down=True)
    while stacking.leaves[-1] != "place_bin" or stacking.cell.at.translation_m[2] > 0.0:
        stacking.tick()
    stacking.cell.poses["bin_0"] = moved(stacking.cell.poses["bin_0"], 0.05, -0.2, 0.0)
    while not stacking.context.is_complete:
        stacking.tick()
        assert stacking.now_s < 60.0, stacking.context.status
    assert standing(stacking, BESIDE) == 2
    assert sorted(stacking.context.stacked) == ["bin_0", "bin_1"]


def test_a_bin_that_is_taken_out_of_the_stack_is_missed_within_half_a_second() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, BESIDE)
    stacking.run(500)
    assert stacking.context.stacked == ["bin_0"]
    del stacking.cell.poses["bin_0"]
    stacking.run(round(0.5 / TICK_S))
    assert stacking.context.stacked == []
    stacking.cell.poses["bin_1"] = on_belt(0.57, upside_down=True)
    stacking.run(500)
    assert stacking.context.places == {0: "bin_1"}


def test_one_wrong_reading_of_a_stacked_bin_changes_nothing() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, BESIDE)
    stacking.run(500)
    right = stacking.cell.poses["bin_0"]
    for _ in range(10):
        stacking.cell.poses["bin_0"] = moved(right, 0.02, 0.0, 0.0)
        stacking.tick()
        stacking.cell.poses["bin_0"] = right
        stacking.tick()
        assert stacking.context.stacked == ["bin_0"]
    assert stacking.leaves[-1] == "go_home"


def test_a_held_bin_goes_to_another_place_where_one_is_pushed_into_its_own() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, BESIDE)
    until_held_for_placing(stacking)
    while stacking.cell.at.translation_m[2] > -0.2:
        stacking.tick()
    stacking.cell.poses["bin_1"] = moved(BESIDE.place(0), 0.03, -0.05, 0.0)
    while stacking.cell.held == "bin_0":
        stacking.tick()
    assert stands_at(stacking.cell.poses["bin_0"], BESIDE.place(1))
    assert "lift_bin" in stacking.leaves
    stacking.run(500)
    assert stacking.context.places == {0: "bin_1", 1: "bin_0"}


def test_a_held_bin_is_set_aside_where_another_lies_in_the_last_place() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, ONE)
    until_held_for_placing(stacking)
    stacking.cell.poses["bin_1"] = moved(ONE.place(0), 0.03, 0.0, 0.0)
    order = stacking.run(900)
    assert order[order.index("set_aside") :] == ["set_aside", "pick_bin", "place_bin", "go_home"]
    assert stacking.context.places == {0: "bin_1"}


def test_a_bin_for_which_no_place_can_be_opened_is_held_and_refused_with_the_reason() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, ONE)
    until_held_for_placing(stacking)
    stacking.cell.poses["bin_1"] = moved(ONE.place(0), 0.03, 0.0, 0.0)
    stacking.cell.poses["bin_2"] = place_on_shelf(STANDARD.shelf)
    with pytest.raises(MonitorFailed, match="no place of the stack is open, there is bin_1 in place 0"):
        stacking.run(round(40.0 / TICK_S))
    assert stacking.leaves[-1] == "hold_bin"
    assert stacking.cell.held == "bin_0"


def test_a_leaning_bin_in_one_place_does_not_keep_the_others_empty() -> None:
    apart = Layout((1.0, 0.5), (-0.2,), 1, -0.59)
    lean = Pose.of(apart.place(0).translation_m + (0.05, 0.0, 0.1), LEANING)
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True), "bin_1": lean}, apart)
    stacking.run(500)
    assert stacking.context.places == {1: "bin_0"}
    assert "bin_1 leans by 34 degrees" in stacking.context.status


def falling(pose: Pose) -> ObjectState:
    return ObjectState(pose, frozen((0.0, 0.0, -1.0)), frozen((3.0, 0.0, 0.0)), 0.0)


def test_a_bin_is_judged_only_when_it_is_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    pose = Pose.of((0.05, 0.57, STANDARD.belt.top_z + 0.1), LEANING)
    stacking = Stacking({"bin_0": pose}, ONE)
    monkeypatch.setattr(stacking.cell, "bins", lambda: {"bin_0": falling(pose)})
    stacking.run(60)
    assert stacking.context.refused == {}
    still = replace(falling(pose), world_v_object=np.zeros(3), world_w_object=np.zeros(3))
    monkeypatch.setattr(stacking.cell, "bins", lambda: {"bin_0": still})
    stacking.run(60)
    assert "leans by 34 degrees" in stacking.context.refused["bin_0"]


def test_a_bin_that_left_the_cell_is_no_longer_refused_while_another_is_carried() -> None:
    stacking = Stacking(
        {"bin_0": on_belt(0.57, upside_down=True), "bin_1": Pose.of((0.3, 0.3, -0.3), LEANING)}, BESIDE
    )
    until_held_for_placing(stacking)
    assert "bin_1" in stacking.context.refused
    stacking.cell.poses["bin_1"] = Pose.of((-20.0, -10.0, -100.0), LEANING)
    stacking.tick()
    assert stacking.context.refused == {}
