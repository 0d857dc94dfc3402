"""The goals of a chaos run as messages, and what the simulation itself says of their results."""

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
"""Share of the joints' velocity limits, so that faults fall into the motion."""
LIFTED_M = 0.03
"""A picked object is at least this much higher than it was."""
INSIDE_M = 0.15
"""A placed object is at most this far from the container's middle, in the horizontal plane."""
BLOCKING_FILE = "/proc/self/fd/1"
"""Reading it would wait for ever."""
SEXAGESIMAL = "a: " + "1:" * 100_000 + "1"
"""A number to the base of 60, which YAML 1.1 readers take quadratic time for."""

Place3 = tuple[float, float, float]
"""Position in ``world`` [m]."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a run works on: position of an object in ``world`` by the simulation's own word, or None."""

    target: Target
    position: Callable[[str], Place3 | None]


def message_of(kind: GoalKind, target: Target) -> Pick.Goal | Place.Goal | RunSkill.Goal | RunTask.Goal:
    """Return the goal message of a kind."""
    from handiwork_msgs.action import Pick, Place, RunSkill, RunTask

    if kind is GoalKind.PICK:
        return Pick.Goal(object=target.object, arm=target.arm, max_velocity_scaling_factor=PICK_SPEED)
    if kind is GoalKind.PLACE:
        return Place.Goal(
            object=target.object, container=target.container, arm=target.arm, post_place_vector=target.retreat
        )
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


def contradiction_of(kind: GoalKind, scene: Scene, before: Place3 | None) -> str:
    """Return why an OK of this goal is not true, or nothing.

    Args:
        kind: of the goal that ended OK.
        scene: as it is now.
        before: where the object was when the goal was sent.
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
    """Return the position in an answer of GetEntityState, or None where it is a refusal."""
    from simulation_interfaces.msg import Result

    if answer.result.result != Result.RESULT_OK:
        return None
    place = answer.state.pose.position
    return place.x, place.y, place.z
