"""Checks a refused goal once more, by the code that checked it, in the recorded world."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from handiwork_msgs.action import Pick, Place

from handiwork_cli.replay.replay import Replayed
from handiwork_core.bundles.bundle import Bundle, BundleError
from handiwork_core.config.dataclass_loader import ConfigError, mapping_from_yaml
from handiwork_core.contracts.skill import Skill
from handiwork_core.intake.limits import GOAL_YAML
from handiwork_core.model.errors import HandiworkError
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code, Outcome
from handiwork_core.model.world import World
from handiwork_core.robot.robot import Robot
from skill_server.params.registry import Catalog
from skill_server.params.validation import judged_parameters
from skill_server.ros.goal_decoding import decode_arm, decode_goal
from skill_server.ros.run_skill_action import found, refusal
from skill_server.state.frame_lookup import KnownFrames

ACTIONS: Mapping[str, Any] = {"pick": Pick, "place": Place}
OF_THE_GOAL = frozenset(
    {
        Code.BAD_GOAL,
        Code.UNKNOWN_OBJECT,
        Code.UNKNOWN_FRAME,
        Code.BAD_NUMBER,
        Code.CONTRADICTION,
        Code.NO_CANDIDATE,
    }
)
"""Codes of refusals that follow from goal and world; all others from the state of the server at that time."""


def check_again(bundle: Bundle, catalog: Catalog, robot: Robot) -> Replayed:
    """Check the goal of a bundle without parameters again.

    Args:
        bundle: The bundle.
        catalog: Known skills.
        robot: Its robot.

    Returns:
        The outcome of the check. What came from the state of the server is repeated as recorded.

    Raises:
        BundleError: The action is not one of a skill.
    """
    recorded = bundle.head.outcome
    if recorded.code not in OF_THE_GOAL or not bundle.seen:
        note = f"{recorded.code.name} came from the state of the server, and is repeated as recorded"
        return Replayed(recorded, recorded, notes=(note,))
    outcome = _checked(bundle, catalog, robot, bundle.seen[-1].world)
    return Replayed(outcome, recorded)


def _checked(bundle: Bundle, catalog: Catalog, robot: Robot, world: World) -> Outcome:
    goal, action = bundle.goal, bundle.head.action
    try:
        arm = decode_arm(robot, str(goal.get("arm", "")))
        if action == "run_skill":
            skill = found(catalog, str(goal["skill"]))
            source = f"parameters of {skill.name}"
            data = mapping_from_yaml(str(goal["parameters"]), source, GOAL_YAML)
            judge = lambda made: skill.is_feasible(made, robot, arm, world)  # noqa: E731 - as for typed actions
            params = judged_parameters(skill, data, str(goal["arm"]), source, judge)
            return skill.is_feasible(params, robot, arm, world).in_one()
        typed: Skill[Any] = found(catalog, action)
        kind = ACTIONS.get(action) or getattr(typed, "action_type", None)
        if kind is None:
            raise BundleError(f"goals of action {action!r} cannot be checked again; `explain` shows this one")
        frames = KnownFrames(robot, world, lambda _field: world.frames.get("robot", Pose.identity())).pose
        message = filled(kind.Goal(), goal)
        judge = lambda made: typed.is_feasible(made, robot, arm, world)  # noqa: E731
        made = decode_goal(typed.params_type, message, frames, judge)
        return typed.is_feasible(made, robot, arm, world).in_one()
    except ConfigError as error:
        return refusal(error)
    except HandiworkError as error:
        return error.outcome


def filled(message: Any, values: Mapping[str, Any]) -> Any:
    """Fill a message from nested mappings.

    Args:
        message: A new message.
        values: Values of its fields by name.

    Returns:
        The message.

    Raises:
        BundleError: The message has no such field: it is one of another version.
    """
    for name, value in values.items():
        if not hasattr(message, name):
            kind = type(message).__name__
            raise BundleError(f"{kind} has no field {name!r}: use the version that wrote the bundle")
        now = getattr(message, name)
        if isinstance(value, Mapping):
            value = filled(now, value)
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            value = [filled(_element(message, name), one) for one in value]
        elif isinstance(now, array):
            value = array(now.typecode, value)
        setattr(message, name, value)
    return message


def _element(message: Any, name: str) -> Any:
    """Return a new message of the kind that a list of another one holds."""
    index = list(message.get_fields_and_field_types()).index(name)
    package, folder, kind = message.SLOT_TYPES[index].value_type.namespaced_name()
    return getattr(import_module(f"{package}.{folder}"), kind)()
