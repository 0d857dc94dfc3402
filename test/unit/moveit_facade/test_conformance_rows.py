"""Every row of the tables in the page for users of MoveIt is tested, and the tests that are named exist."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from support.paths import ROOT

PAGE = ROOT / "docs" / "how-to" / "coming-from-moveit.md"
SYSTEM, UNIT = ROOT / "test" / "system" / "moveit", ROOT / "test" / "unit" / "moveit_facade"
MOVE, SCENE = SYSTEM / "test_move_group.py", SYSTEM / "test_planning_scene.py"
OCTOMAPS = ROOT / "test" / "node" / "moveit_facade" / "test_octomap.py"
GOALS, PATHS = UNIT / "constraints" / "test_goals.py", UNIT / "paths" / "test_paths.py"
MALFORMED, REFUSED = SYSTEM / "test_malformed_requests.py", SYSTEM / "test_refused_requests.py"

TESTS: dict[str, tuple[tuple[Path, str], ...]] = {
    "joint constraints": (
        (MOVE, "test_a_goal_is_reached"),
        (MOVE, "test_a_plan_takes_seconds_at_most_and_ends_at_its_goal"),
    ),
    "position constraints": (
        (MOVE, "test_a_goal_is_reached"),
        (UNIT / "constraints" / "test_regions.py", ""),
    ),
    "orientation constraints": ((MOVE, "test_a_goal_is_reached"),),
    "any link": ((MOVE, "test_a_goal_is_reached"),),
    "several `goal_constraints`": ((MOVE, "test_a_goal_is_reached"),),
    "path constraints": ((MOVE, "test_a_path_constraint_holds_on_the_whole_path"),),
    "visibility constraints": (
        (MOVE, "test_a_goal_that_fails_says_why"),
        (REFUSED, "test_a_request_is_refused_in_words"),
    ),
    "`start_state`": (
        (SCENE, "test_an_object_attached_in_the_start_state_counts_for_that_plan_alone"),
        (MOVE, "test_a_start_in_collision_names_the_bodies_and_the_depth"),
    ),
    "scaling factors of 0": ((REFUSED, "test_a_scaling_factor_of_0_is_the_default_and_more_than_1_is_1"),),
    "`planner_id`": ((REFUSED, "test_names_of_planners_have_no_effect"),),
    "`plan_only`": (
        (MOVE, "test_look_around_is_refused_and_plan_only_moves_nothing"),
        (SCENE, "test_a_diff_of_one_request_is_gone_after_it"),
    ),
    "cancel": ((MOVE, "test_a_cancel_ends_at_rest"), (MOVE, "test_the_event_stop_ends_a_motion")),
    "a newer goal": ((MOVE, "test_a_newer_goal_of_a_second_client_preempts_the_first"),),
    "a change of the world while the arm moves": (
        (REFUSED, "test_an_object_in_the_way_of_a_motion_stops_the_arm"),
    ),
    "`execute_trajectory`": (
        (MOVE, "test_a_trajectory_that_starts_elsewhere_is_refused"),
        (PATHS, "test_a_first_point_that_is_not_where_the_arm_is_is_refused_whatever_its_time"),
    ),
    "`compute_cartesian_path`": ((MOVE, "test_a_cartesian_path_ends_where_it_is_blocked_and_says_by_what"),),
    "`jump_threshold`": ((PATHS, "test_a_jump_is_found_by_the_threshold_of_its_kind"),),
    "objects of clients": (
        (SCENE, "test_objects_of_clients_live_beside_those_of_the_world_and_are_told_apart"),
    ),
    "objects of the world": ((SCENE, "test_what_is_not_served_is_refused_and_changes_nothing"),),
    "primitives": (
        (SCENE, "test_a_plane_and_a_subframe"),
        (SCENE, "test_a_mesh_is_an_obstacle"),
        (UNIT / "scene" / "test_shapes.py", ""),
    ),
    "octomap": (
        (SCENE, "test_an_octomap_is_in_the_way_of_plans_and_that_of_one_request_of_its_plan_alone"),
        (OCTOMAPS, "test_an_octomap_is_an_obstacle_until_it_is_allowed_or_cleared"),
        (OCTOMAPS, "test_an_octomap_is_refused_while_somebody_else_publishes_maps"),
        (UNIT / "scene" / "test_octree.py", ""),
    ),
    "link padding": ((REFUSED, "test_a_scene_is_refused_and_stays_as_it_is"),),
    "allowed collision matrix": ((SCENE, "test_an_object_is_an_obstacle_until_it_is_allowed_to_touch"),),
    "attached objects": (
        (SCENE, "test_an_attached_object_moves_with_the_hand_and_is_an_obstacle_to_the_rest"),
    ),
    "a planner that was started again": (
        (REFUSED, "test_a_planner_that_was_started_again_gets_the_objects_of_clients"),
    ),
}
"""Beginning of the first cell of each row -> its tests; an empty name means all tests of the file."""


def rows() -> list[str]:
    """Return the first cells of the tables of requests and of the planning scene."""
    found = []
    text = PAGE.read_text(encoding="utf-8")
    for head in ("| request | state |", "| planning scene | state |"):
        table = text.split(head)[1].split("\n\n")[0]
        found += [line.strip("| ").split(" | ")[0] for line in table.splitlines() if line.startswith("| ")]
    return found


def test_every_row_has_tests_and_every_entry_a_row() -> None:
    for row in rows():
        assert sum(row.startswith(start) for start in TESTS) == 1, f"name the tests of the row {row!r}"
    for start in TESTS:
        assert any(row.startswith(start) for row in rows()), f"the page has no row {start!r}"


@pytest.mark.parametrize("start", TESTS)
def test_the_tests_of_a_row_exist(start: str) -> None:
    for path, name in TESTS[start]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name in known or (not name and any(one.startswith("test_") for one in known)), (path, name)
