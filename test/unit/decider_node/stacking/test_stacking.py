"""The bin-stacking application on a cell without physics: order, correction, recovery."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from decider_node.network.errors import DeciderFailed, MonitorFailed
from decider_node.stacking.bin import HALF_TURN, HEIGHT_M, LENGTH_M, WIDTH_M, grasp_of, open_side, overlap
from decider_node.stacking.cell import FULL, STANDARD, place_on_shelf, regions
from decider_node.stacking.layout import Layout
from decider_node.stacking.profile.actions import Actions, DispatchKind, Lift, Waits
from decider_node.stacking.profile.regions import Region, RegionShape, Window
from handiwork_core.model.geometry import Pose, Rotation
from support.cells.kinematic_cell import HOME, TICK_S, Stacking, on_belt

TWO = Layout((0.64,), (-0.31,), 2, -0.59)


def test_places_are_filled_along_x_then_y_then_layer_by_layer() -> None:
    published = Layout((1.05, 0.84, 0.63), (-0.62, -0.31, 0.0), 4, -0.59374, gap_m=0.0075)
    at = [published.place(k).translation_m for k in range(len(published))]
    assert len(at) == 36
    assert np.allclose(at[0], (1.05, -0.62, -0.51874), atol=1e-9)
    assert np.allclose(at[2], (0.63, -0.62, -0.51874), atol=1e-9)
    assert np.allclose(at[4], (0.84, -0.31, -0.51874), atol=1e-9)
    assert np.allclose([p[2] for p in at[::9]], (-0.51874, -0.38374, -0.24874, -0.11374), atol=1e-9)
    assert [published.below(k) for k in (0, 8, 9, 35)] == [None, None, 0, 26]
    with pytest.raises(IndexError, match="place 36 is not one of the 36"):
        published.place(36)


def test_all_places_are_upside_down() -> None:
    for k in range(len(FULL)):
        assert open_side(FULL.place(k))[2] == pytest.approx(-1.0)


@pytest.mark.parametrize("heading", [-3.0, -1.0, 0.2, 2.0])
def test_the_cup_comes_from_above_whichever_side_is_up(heading: float) -> None:
    upright = grasp_of(on_belt(0.57, upside_down=False, heading=heading), half_turned=False)
    over = grasp_of(on_belt(0.57, upside_down=True, heading=heading), half_turned=True)
    assert upright.needs_flip and not over.needs_flip
    for grasp in (upright, over):
        assert np.allclose(grasp.axis, (0.0, 0.0, -1.0), atol=1e-9)
    behind = grasp_of(place_on_shelf(STANDARD.shelf), half_turned=False, on_shelf=True)
    assert behind.axis[2] == pytest.approx(0.0, abs=1e-9)
    assert behind.axis[0] < 0.0 and behind.axis[1] < 0.0


def test_a_bin_upside_down_is_picked_and_placed() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO)
    assert stacking.run(500) == ["pick_bin", "place_bin", "go_home"]
    assert stacking.context.stacked == ["bin_0"]
    apart = stacking.cell.poses["bin_0"].translation_m - TWO.place(0).translation_m
    assert np.linalg.norm(apart) < 4e-3
    assert np.linalg.norm(stacking.cell.at.translation_m - HOME.translation_m) < 1e-6


def test_an_upright_bin_is_turned_first() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=False)}, TWO)
    order = stacking.run(700)
    assert order == ["pick_bin", "flip_bin", "pick_bin", "place_bin", "go_home"]
    assert open_side(stacking.cell.poses["bin_0"])[2] < -0.99


@pytest.mark.parametrize(("corrects", "least_m", "most_m"), [(True, 0.0, 3e-3), (False, 9e-3, 1.2e-2)])
def test_a_bin_that_slipped_is_placed_by_what_is_measured(
    corrects: bool, least_m: float, most_m: float
) -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO, corrects=corrects)
    stacking.cell.slip_m = np.array([0.008, -0.006, 0.0])
    while stacking.leaves[-1] != "place_bin" or stacking.cell.held:
        stacking.tick()
    apart = stacking.cell.poses["bin_0"].translation_m - TWO.place(0).translation_m
    assert least_m <= float(np.linalg.norm(apart[:2])) <= most_m


def test_the_second_bin_follows_the_first_but_not_far_from_its_place() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO)
    stacking.run(500)
    below = stacking.cell.poses["bin_0"]
    stacking.cell.poses["bin_0"] = Pose.of(below.translation_m + (0.008, 0.0, 0.0), below.rotation)
    stacking.cell.poses["bin_1"] = on_belt(0.57, upside_down=True)
    stacking.run(700)
    assert stacking.context.is_complete
    x = stacking.cell.poses["bin_1"].translation_m[0] - TWO.place(1).translation_m[0]
    assert x == pytest.approx(0.004, abs=2e-3)


def test_a_bin_that_is_lost_on_the_way_is_picked_again() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO)
    while stacking.leaves[-1] != "place_bin":
        stacking.tick()
    stacking.cell.held = ""
    stacking.cell.poses["bin_0"] = on_belt(0.6, upside_down=False, heading=1.0)
    stacking.run(900)
    assert stacking.leaves[3:] == ["pick_bin", "flip_bin", "pick_bin", "place_bin", "go_home"]
    assert stacking.context.stacked == ["bin_0"]


def test_a_bin_on_the_floor_is_given_up_and_counted() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO)
    while stacking.leaves[-1] != "place_bin":
        stacking.tick()
    stacking.cell.held = ""
    stacking.cell.poses["bin_0"] = Pose.of((0.7, 0.2, -0.68))
    stacking.run(50)
    assert stacking.context.active is None
    assert stacking.context.dropped == 1
    assert stacking.leaves[-1] == "go_home"


@pytest.mark.parametrize("heading", [0.4, 2.5])
@pytest.mark.parametrize("wall", [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
def test_a_bin_on_its_side_is_righted_at_the_shelf(wall: tuple[float, float], heading: float) -> None:
    x, y = wall
    up = Rotation.from_axis_angle((y, -x, 0.0), 0.5 * np.pi)
    turn = Rotation.from_axis_angle((0.0, 0.0, 1.0), heading)
    z = STANDARD.belt.top_z + 0.5 * (LENGTH_M if x else WIDTH_M)
    stacking = Stacking({"bin_0": Pose.of((0.05, 0.57, z), turn @ up)}, TWO)
    assert stacking.run(900) == ["pick_bin", "flip_bin", "pick_bin", "place_bin", "go_home"]
    assert stacking.context.stacked == ["bin_0"]
    assert open_side(stacking.cell.poses["bin_0"])[2] < -0.99


def test_a_bin_that_leans_is_refused_by_name_and_reason() -> None:
    lean = Rotation.from_axis_angle((1.0, 0.0, 0.0), 0.6)
    stacking = Stacking({"bin_0": Pose.of((0.05, 0.57, STANDARD.belt.top_z + 0.1), lean)}, TWO)
    stacking.run(60)
    assert stacking.leaves[-1] == "go_home"
    assert "bin_0 leans by 34 degrees" in stacking.context.status


def leaning(at: tuple[float, float, float]) -> Pose:
    return Pose.of(at, Rotation.from_axis_angle((1.0, 0.0, 0.0), 0.6))


def test_a_leaning_bin_that_nobody_takes_away_stops_the_network_by_name_and_a_reset_recovers() -> None:
    stacking = Stacking({"bin_0": leaning((0.05, 0.57, STANDARD.belt.top_z + 0.1))}, TWO)
    words = "'refused bins' raised CannotGoOn: bin_0 leans by 34 degrees.*lay it down, or take it away"
    for _ in range(2):
        with pytest.raises(MonitorFailed, match=words):
            stacking.run(round(31.0 / TICK_S))
        stacking.network.reset()
    assert stacking.cell.stops == 2
    stacking.cell.poses["bin_0"] = on_belt(0.57, upside_down=True)
    stacking.run(500)
    assert stacking.context.stacked == ["bin_0"]


def test_a_leaning_bin_that_somebody_takes_away_in_time_needs_no_reset() -> None:
    stacking = Stacking({"bin_0": leaning((0.05, 0.57, STANDARD.belt.top_z + 0.1))}, TWO)
    stacking.run(round(25.0 / TICK_S))
    stacking.cell.poses["bin_0"] = on_belt(0.57, upside_down=True)
    stacking.run(500)
    stacking.cell.poses["bin_1"] = leaning((0.05, 0.57, STANDARD.belt.top_z + 0.1))
    stacking.run(round(25.0 / TICK_S))
    assert stacking.cell.stops == 0


def test_nothing_is_placed_where_a_bin_leans() -> None:
    x, y = TWO.place(0).translation_m[:2]
    stacking = Stacking(
        {"bin_0": on_belt(0.57, upside_down=True), "bin_1": leaning((x + 0.1, y, -0.45))}, TWO
    )
    assert stacking.run(500) == ["go_home"]
    stacking.cell.poses["bin_1"] = Pose.of((5.0, 5.0, -0.7))
    stacking.run(500)
    assert stacking.context.stacked == ["bin_0"]


def test_a_bin_moved_right_after_it_was_let_go_is_placed_again() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO)
    while stacking.leaves[-1] != "place_bin" or stacking.cell.held:
        stacking.tick()
    pose = stacking.cell.poses["bin_0"]
    stacking.cell.poses["bin_0"] = Pose.of(pose.translation_m + (-0.025, 0.01, 0.0), pose.rotation)
    stacking.run(600)
    assert stacking.leaves[3:] == ["pick_bin", "place_bin", "go_home"]
    apart = stacking.cell.poses["bin_0"].translation_m - TWO.place(0).translation_m
    assert np.linalg.norm(apart) < 4e-3
    assert stacking.context.stacked == ["bin_0"]


def test_a_stacked_bin_that_is_knocked_away_comes_back_to_its_place() -> None:
    beside = Layout((0.85, 0.64, 0.43), (-0.41,), 1, -0.59)
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, beside)
    stacking.run(500)
    away = beside.place(0).translation_m + (0.12, 0.0, 0.0)
    stacking.cell.poses["bin_0"] = Pose.of(away, beside.place(0).rotation)
    stacking.cell.poses["bin_1"] = on_belt(0.57, upside_down=True)
    stacking.run(900)
    assert stacking.context.stacked == ["bin_0", "bin_1"]
    assert stacking.leaves[-1] == "go_home"


def test_what_lies_in_the_next_place_is_picked_before_another_comes_there() -> None:
    beside = Layout((0.85, 0.64), (-0.62, -0.31), 1, -0.59)
    first, second = (beside.place(k) for k in (0, 1))
    stacking = Stacking(
        {
            "bin_0": Pose.of(first.translation_m + (-0.03, -0.03, 0.0), first.rotation),
            "bin_1": Pose.of(second.translation_m + (-0.07, -0.11, 0.0), second.rotation),
        },
        beside,
    )
    stacking.run(1000)
    assert stacking.context.stacked == ["bin_0", "bin_1"]


@pytest.mark.parametrize("heading", [0.0, 0.5 * np.pi, np.pi])
def test_bins_overlap_as_their_boxes_do(heading: float) -> None:
    x, y = (LENGTH_M, WIDTH_M) if abs(np.sin(heading)) < 0.5 else (WIDTH_M, LENGTH_M)
    middle, turn = Pose.of((0.6, -0.3, 0.1)), Rotation.from_axis_angle((0.0, 0.0, 1.0), heading)

    def at(*by: float) -> Pose:
        return Pose.of(middle.translation_m + by, turn)

    for gap, inside in ((0.002, False), (-0.002, False), (-0.006, True)):
        assert overlap(middle, at(0.5 * (LENGTH_M + x) + gap, 0.0, 0.0)) is inside
        assert overlap(middle, at(0.0, -0.5 * (WIDTH_M + y) - gap, 0.0)) is inside
        assert overlap(middle, at(0.0, 0.0, HEIGHT_M + gap)) is inside
    slanted = Rotation.from_axis_angle((1.0, 1.0, 0.0), 0.6)
    assert overlap(middle, Pose.of((0.7, -0.2, 0.2), slanted))
    assert not overlap(middle, Pose.of((0.9, -0.1, 0.2), slanted))


def test_a_new_start_finds_the_stacked_bins_and_the_bin_in_the_cup() -> None:
    first = Pose.of(TWO.place(0).translation_m + (0.004, 0.0, 0.0), TWO.place(0).rotation @ HALF_TURN)
    stacking = Stacking({"bin_0": first, "bin_1": on_belt(0.57, upside_down=True)}, TWO)
    cell = stacking.cell
    cell.at = Pose.of(HOME.translation_m - (0.0, 0.0, 0.3), HOME.rotation)
    cell.poses["bin_1"] = Pose.of(cell.at.translation_m - (0.0, 0.0, 0.5 * HEIGHT_M), HOME.rotation)
    cell.held, cell.on = "bin_1", True
    stacking.tick()
    assert stacking.context.stacked == ["bin_0"]
    begin = cell.at
    while stacking.leaves[-1] == "lift_bin":
        stacking.tick()
    assert np.allclose(cell.at.translation_m[:2], begin.translation_m[:2])
    assert cell.at.translation_m[2] > begin.translation_m[2] + 0.2
    assert stacking.run(500) == ["lift_bin", "place_bin", "go_home"]
    assert stacking.context.stacked == ["bin_0", "bin_1"]


def test_the_belt_stands_until_what_was_picked_is_clear_of_it() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO)
    while not stacking.cell.held:
        stacking.tick()
    height = stacking.cell.poses["bin_0"].translation_m[2]
    while stacking.cell.poses["bin_0"].translation_m[2] < height + 0.1:
        stacking.tick()
        assert not stacking.cell.belt_runs
    while stacking.leaves[-1] != "place_bin":
        stacking.tick()
    assert stacking.cell.belt_runs


def test_who_cannot_seal_tries_again() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO)
    seal, stacking.cell._seal = stacking.cell._seal, lambda: None  # type: ignore[method-assign]
    stacking.run(600)
    assert stacking.leaves[-1] == "pick_bin"
    assert stacking.network.error is None
    stacking.cell._seal = seal  # type: ignore[method-assign]
    stacking.run(900)
    assert stacking.context.stacked == ["bin_0"]


def test_a_cell_that_cannot_be_seen_stops_the_arm_and_a_reset_goes_on() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO)
    stacking.run(10)
    seen, stacking.cell.poses = stacking.cell.poses, {}
    with pytest.raises((MonitorFailed, DeciderFailed), match="bin_0"):
        stacking.tick()
    assert stacking.cell.stops == 1
    stacking.cell.poses = seen
    stacking.network.reset()
    stacking.run(600)
    assert stacking.context.stacked == ["bin_0"]


def test_regions_count_only_where_they_help() -> None:
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO)
    while stacking.leaves[-1] != "place_bin":
        stacking.tick()
    stacking.run(2)
    assert stacking.cell.off == frozenset()
    stacking.run(500)
    assert stacking.leaves[-1] == "go_home"
    assert stacking.cell.off == frozenset({"low_middle"})
    stacking.cell.poses["bin_1"] = on_belt(0.57, upside_down=False)
    while stacking.leaves[-1] != "flip_bin":
        stacking.tick()
    stacking.run(20)
    assert "over_shelf" in stacking.cell.off


def test_the_decisions_of_cortex_place_a_bin_that_hangs_in_the_cup_without_a_lift() -> None:
    site = replace(STANDARD, actions=Actions(dispatch=DispatchKind.CORTEX))
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO, site=site)
    cell = stacking.cell
    cell.poses["bin_0"] = Pose.of(cell.at.translation_m - (0.0, 0.0, 0.5 * HEIGHT_M), HOME.rotation)
    cell.held, cell.on = "bin_0", True
    assert stacking.run(500) == ["place_bin", "go_home"]
    assert stacking.context.stacked == ["bin_0"]


def test_an_upright_bin_is_turned_by_the_decisions_of_cortex_too() -> None:
    site = replace(STANDARD, actions=Actions(dispatch=DispatchKind.CORTEX))
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=False)}, TWO, site=site)
    assert stacking.run(700) == ["pick_bin", "flip_bin", "pick_bin", "place_bin", "go_home"]


def test_a_bin_outside_the_window_is_left_to_come() -> None:
    site = replace(STANDARD, window=Window((-0.4, 0.4), (0.0, 0.5)))
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO, site=site)
    stacking.run(100)
    assert stacking.context.active is None
    stacking.cell.poses["bin_0"] = on_belt(0.45, upside_down=True)
    stacking.run(500)
    assert stacking.context.stacked == ["bin_0"]


def test_a_belt_that_never_stops_runs_while_a_bin_waits() -> None:
    site = replace(STANDARD, belt=replace(STANDARD.belt, stops=False))
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO, site=site)
    while not stacking.cell.held:
        stacking.tick()
        assert stacking.cell.belt_runs


def test_the_regions_of_a_cells_file_count_in_place_of_the_capsule() -> None:
    dome = Region("dome", RegionShape.SPHERE, (0.0, 0.0, -1.1), 1.1)
    site = replace(STANDARD, regions=(dome,))
    assert set(regions(site)) == {"over_shelf", "dome"}
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO, site=site)
    while stacking.leaves[-1] != "place_bin":
        stacking.tick()
    stacking.run(2)
    assert stacking.cell.off == frozenset()
    stacking.run(500)
    assert stacking.cell.off == frozenset({"dome"})


def test_waits_and_locks_are_those_of_the_cells_file() -> None:
    slow = Actions(waits=Waits(before_closing=1.0, closing=None, lock=None))
    ticks = []
    for actions in (Actions(), slow):
        site = replace(STANDARD, actions=actions)
        stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO, site=site)
        seal, stacking.cell._seal = stacking.cell._seal, lambda: None  # type: ignore[method-assign]
        while not stacking.cell.on:
            stacking.tick()
        ticks.append(stacking.now_s)
    assert ticks[1] - ticks[0] == pytest.approx(0.6)
    for _ in range(round(20.0 / TICK_S)):  # longer than the lock and the closing of the standard cell
        stacking.tick()
        assert stacking.cell.on
    stacking.cell._seal = seal  # type: ignore[method-assign]
    stacking.run(500)
    assert stacking.context.stacked == ["bin_0"]


def test_a_short_lift_lifts_too() -> None:
    site = replace(STANDARD, actions=Actions(pick_lift=Lift(0.04)))
    stacking = Stacking({"bin_0": on_belt(0.57, upside_down=True)}, TWO, site=site)
    height = stacking.cell.poses["bin_0"].translation_m[2]
    while not stacking.context.is_lifted:
        stacking.tick()
    assert stacking.cell.poses["bin_0"].translation_m[2] > height + 0.03
