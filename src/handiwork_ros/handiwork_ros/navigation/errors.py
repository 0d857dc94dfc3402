"""The error codes of nav2 by name. No ROS: Jazzy's messages lack the constants of its newer ones."""

from __future__ import annotations

from dataclasses import dataclass

from handiwork_core.model.outcome import OK, Code, Outcome

SERVERS = {
    100: (
        "FollowPath",
        "UNKNOWN INVALID_CONTROLLER TF_ERROR INVALID_PATH PATIENCE_EXCEEDED FAILED_TO_MAKE_PROGRESS "
        "NO_VALID_CONTROL CONTROLLER_TIMED_OUT TIMEOUT",
    ),
    200: (
        "ComputePathToPose",
        "UNKNOWN INVALID_PLANNER TF_ERROR START_OUTSIDE_MAP GOAL_OUTSIDE_MAP START_OCCUPIED "
        "GOAL_OCCUPIED TIMEOUT NO_VALID_PATH",
    ),
    300: (
        "ComputePathThroughPoses",
        "UNKNOWN INVALID_PLANNER TF_ERROR START_OUTSIDE_MAP GOAL_OUTSIDE_MAP "
        "START_OCCUPIED GOAL_OCCUPIED TIMEOUT NO_VALID_PATH NO_VIAPOINTS_GIVEN",
    ),
    400: (
        "ComputeRoute",
        "UNKNOWN TF_ERROR NO_VALID_GRAPH INDETERMINANT_NODES_ON_GRAPH TIMEOUT NO_VALID_ROUTE "
        "OPERATION_FAILED INVALID_EDGE_SCORER_USE",
    ),
    500: (
        "SmoothPath",
        "UNKNOWN INVALID_SMOOTHER TIMEOUT SMOOTHED_PATH_IN_COLLISION FAILED_TO_SMOOTH_PATH INVALID_PATH",
    ),
    700: ("Spin", "UNKNOWN TIMEOUT TF_ERROR COLLISION_AHEAD"),
    710: ("BackUp", "UNKNOWN TIMEOUT TF_ERROR INVALID_INPUT COLLISION_AHEAD"),
    720: ("DriveOnHeading", "UNKNOWN TIMEOUT TF_ERROR COLLISION_AHEAD INVALID_INPUT"),
    730: ("AssistedTeleop", "UNKNOWN TIMEOUT TF_ERROR"),
    740: ("Wait", "UNKNOWN TIMEOUT"),
    9000: ("NavigateToPose", "UNKNOWN FAILED_TO_LOAD_BEHAVIOR_TREE TF_ERROR TIMEOUT"),
}
"""Action and names of its error codes, which count up from the key; those of nav2 1.3 (Jazzy) and later."""

NAMES = {
    first + i: f"{action} {name}"
    for first, (action, words) in SERVERS.items()
    for i, name in enumerate(words.split())
} | {1: "GOAL_REJECTED", 2: "SEND_GOAL_FAILURE"}
"""Error code -> action and name."""

CODES = {
    "START_OUTSIDE_MAP": Code.BAD_GOAL,
    "GOAL_OUTSIDE_MAP": Code.BAD_GOAL,
    "START_OCCUPIED": Code.START_IN_COLLISION,
    "GOAL_OCCUPIED": Code.GOAL_IN_COLLISION,
    "NO_VALID_PATH": Code.PATH_BLOCKED,
    "COLLISION_AHEAD": Code.PATH_BLOCKED,
    "TF_ERROR": Code.UNKNOWN_FRAME,
    "FAILED_TO_MAKE_PROGRESS": Code.NOT_REACHED,
    "PATIENCE_EXCEEDED": Code.NOT_REACHED,
}
"""Name of an error -> code of the outcome; CONTROLLER_REFUSED for all others."""


@dataclass(frozen=True, slots=True)
class NavigationEnd:
    """The end of a goal of ``NavigateToPose``.

    Attributes:
        has_succeeded: True for the status SUCCEEDED.
        is_canceled: True for the status CANCELED.
        error_code: Error code of the result; 0 for none.
        error_msg: Its text.
    """

    has_succeeded: bool
    is_canceled: bool
    error_code: int = 0
    error_msg: str = ""


def error_name(code: int) -> str:
    """Return the action and the name of an error code of nav2; a code of another server is named as such.

    Args:
        code: Error code of the result, not 0.
    """
    return NAMES.get(code, "an error that nav2 does not define")


def outcome_of(end: NavigationEnd, action: str) -> Outcome:
    """Return the outcome of a goal that nobody here has canceled.

    Args:
        end: The end of the goal.
        action: Name of the action.

    Returns:
        OK, or the error by its name, with its number and nav2's own message.
    """
    if end.has_succeeded and end.error_code == 0:
        return OK
    said = f": {end.error_msg}" if end.error_msg else ""
    if end.error_code == 0:
        how = "was canceled by another client" if end.is_canceled else "was aborted without an error code"
        text = f"{action}: the goal {how}{said}; see the log of nav2"
        return Outcome(Code.CONTROLLER_REFUSED, text)
    name = error_name(end.error_code)
    code = CODES.get(name.rsplit(" ", 1)[-1], Code.CONTROLLER_REFUSED)
    return Outcome(code, f"{action}: {name} ({end.error_code}){said}")
