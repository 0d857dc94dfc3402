"""The goals of a chaos run as messages, and the results that the simulation itself measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from handiwork_cli.chaos.trials import GoalKind
from handiwork_cli.stack.demo_cells import Target

if TYPE_CHECKING:
    from handiwork_msgs.action import Pick, Place, RunSkill, RunTask

    from simulation_interfaces.srv import GetEntityState

PICK_SPEED = 0.3
"""The share of the joints' velocity limits: slow, so that faults fall into the motion."""
LIFTED_M = 0.03
"""A picked object is at least this much higher than it was."""
INSIDE_M = 0.15
"""A placed object is at most this far from the container's middle, in the horizontal plane."""
BLOCKING_FILE = "/proc/self/fd/1"
"""A file whose reading would never end."""
SEXAGESIMAL = "a: " + "1:" * 100_000 + "1"
"""A number to the base of 60, for which YAML 1.1 readers need quadratic time."""

Place3 = tuple[float, float, float]
"""Position in ``world`` [m]."""


@dataclass(frozen=True, slots=True)
class TrialScene:
    """The objects of a run.

    Attributes:
        target: The arm's object and container.
        position: Returns an object's position in ``world`` [m] from the simulation, or None.
    """

    target: Target
    position: Callable[[str], Place3 | None]


def message_of(kind: GoalKind, target: Target) -> Pick.Goal | Place.Goal | RunSkill.Goal | RunTask.Goal:
    """Return the goal message of a kind.

    Args:
        kind: The kind.
        target: The arm, its object and its container.
    """
    from handiwork_msgs.action import Pick, Place, RunSkill, RunTask

    if kind is GoalKind.PICK:
        return Pick.Goal(object=target.object, arm=target.arm, max_velocity_scaling_factor=PICK_SPEED)
    if kind is GoalKind.PLACE:
        return Place.Goal(object=target.object, container=target.container, arm=target.arm)
    if kind is GoalKind.GO_TO:
        parameters = "{position: [0.45, 0.0, 0.4], euler: [180, 0, 0]}"
        return RunSkill.Goal(skill="goto_pose", parameters=parameters, arm=target.arm)
    if kind is GoalKind.UNKNOWN_OBJECT:
        return Pick.Goal(object="no_such_object", arm=target.arm)
    if kind is GoalKind.SPECIAL_FILE:
        return Pick.Goal(object=target.object, arm=target.arm, npy_name=BLOCKING_FILE)
    if kind is GoalKind.LARGE_TASK:
        return RunTask.Goal(task=SEXAGESIMAL, source="chaos")
    return Pick.Goal(object=target.object, arm=target.arm, pre_grasp_offset=float("nan"))


def contradiction_of(kind: GoalKind, scene: TrialScene, before: Place3 | None) -> str:
    """Return why an OK of a goal is false.

    Args:
        kind: Kind of the goal that ended with OK.
        scene: The objects now.
        before: Position of the object when the goal was sent, m; None when unknown.

    Returns:
        One clause; empty when nothing contradicts the OK.
    """
    if not kind.can_succeed:
        return "the goal cannot be done"
    if kind is GoalKind.GO_TO:
        return ""
    now = scene.position(scene.target.object)
    if now is None or before is None:
        return ""  # The simulation did not answer; nothing contradicts.
    if kind is GoalKind.PICK:
        risen_m = now[2] - before[2]
        return "" if risen_m > LIFTED_M else f"{scene.target.object} rose by {1e3 * risen_m:.0f} mm"
    container = scene.position(scene.target.container)
    if container is None:
        return ""
    gap_m = ((now[0] - container[0]) ** 2 + (now[1] - container[1]) ** 2) ** 0.5
    return (
        "" if gap_m < INSIDE_M else f"{scene.target.object} lies {gap_m:.2f} m from {scene.target.container}"
    )


def position_from(answer: GetEntityState.Response) -> Place3 | None:
    """Return the position in a response of GetEntityState.

    Args:
        answer: The response.

    Returns:
        Position in ``world``, m; None for a refusal.
    """
    from simulation_interfaces.msg import Result

    if answer.result.result != Result.RESULT_OK:
        return None
    place = answer.state.pose.position
    return place.x, place.y, place.z
