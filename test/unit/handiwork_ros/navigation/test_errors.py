"""The end of a goal of nav2 as an outcome, with its error by name."""

from __future__ import annotations

import pytest

from handiwork_core.model.outcome import OK, Code
from handiwork_ros.navigation.errors import NavigationEnd, error_name, outcome_of

ACTION = "navigate_to_pose"


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (100, "FollowPath UNKNOWN"),
        (105, "FollowPath FAILED_TO_MAKE_PROGRESS"),
        (107, "FollowPath CONTROLLER_TIMED_OUT"),
        (206, "ComputePathToPose GOAL_OCCUPIED"),
        (208, "ComputePathToPose NO_VALID_PATH"),
        (309, "ComputePathThroughPoses NO_VIAPOINTS_GIVEN"),
        (407, "ComputeRoute INVALID_EDGE_SCORER_USE"),
        (505, "SmoothPath INVALID_PATH"),
        (703, "Spin COLLISION_AHEAD"),
        (714, "BackUp COLLISION_AHEAD"),
        (724, "DriveOnHeading INVALID_INPUT"),
        (732, "AssistedTeleop TF_ERROR"),
        (741, "Wait TIMEOUT"),
        (9003, "NavigateToPose TIMEOUT"),
        (1, "GOAL_REJECTED"),
    ],
)
def test_codes_have_the_names_of_nav2s_action_files(number: int, name: str) -> None:
    assert error_name(number) == name


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (208, Code.PATH_BLOCKED),
        (206, Code.GOAL_IN_COLLISION),
        (205, Code.START_IN_COLLISION),
        (204, Code.BAD_GOAL),
        (9002, Code.UNKNOWN_FRAME),
        (105, Code.NOT_REACHED),
        (9001, Code.CONTROLLER_REFUSED),
        (4711, Code.CONTROLLER_REFUSED),
    ],
)
def test_a_failure_has_code_name_number_and_message(number: int, code: Code) -> None:
    ended = outcome_of(NavigationEnd(False, False, number, "why"), ACTION)
    assert ended.code is code
    assert ended.message == f"{ACTION}: {error_name(number)} ({number}): why"


def test_success_needs_the_status_and_no_error() -> None:
    assert outcome_of(NavigationEnd(True, False), ACTION) is OK
    assert outcome_of(NavigationEnd(True, False, 100), ACTION).code is Code.CONTROLLER_REFUSED


def test_an_end_without_an_error_says_who_ended_it() -> None:
    assert "was canceled by another client" in outcome_of(NavigationEnd(False, True), ACTION).message
    assert "aborted without an error code" in outcome_of(NavigationEnd(False, False), ACTION).message
