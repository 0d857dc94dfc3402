"""The settings of a policy for a task: of the user's file, of the server's metadata, and of the task itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from conditionals_node.expressions.build import Builder
from conditionals_node.expressions.definitions import Definitions
from handiwork_core.config.dataclass_loader import ConfigError, parse
from handiwork_core.robot.robot import ArmSpec, Robot
from handiwork_core.scene.loader import Scene
from handiwork_data.episodes.settings import TaskFile
from handiwork_data.policies.episode import for_task
from handiwork_policy.actions.spec import ActionDecoder
from handiwork_policy.loop.settings import PolicySettings

OF_TASK = ("until", "subtasks")
"""Keys that the task alone decides."""
OF_SERVER = {
    "action_space": "action_space",
    "gripper": "gripper",
    "action_horizon": "chunk",
    "state": "state",
    "rate_hz": "rate_hz",
    "execute_steps": "execute_steps",
}
"""Keys of a server's metadata that settings are taken from, where the user's file does not have them."""


def with_metadata(given: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with those that the server states and the user does not.

    Args:
        given: The user's settings.
        metadata: The server's metadata, as JSON can hold it.

    Raises:
        ConfigError: The user's settings have a key that the task decides.
    """
    if wrong := [key for key in OF_TASK if key in given]:
        text = f"{wrong[0]}: is decided by the task's key episodes; take it out"
        raise ConfigError("settings", [text])
    stated = {key: metadata[name] for name, key in OF_SERVER.items() if name in metadata}
    return {**stated, **given}


def settings_for(settings: Mapping[str, Any], task: TaskFile, robot: Robot, scene: Scene) -> PolicySettings:
    """Return the settings of a policy for a task.

    Args:
        settings: See ``with_metadata``.
        task: The task.
        robot: The robot.
        scene: The scene.

    Returns:
        The settings. Where they do not say what the policy may touch, these are the movable objects that the conditions
        of the task are about.

    Raises:
        ConfigError: They are wrong; lists every fault.
    """
    made = parse(PolicySettings, for_task(settings, task), "settings")
    guard = settings.get("guard")
    if isinstance(guard, Mapping) and "may_touch" in guard:
        return made
    may_touch = movable_subjects((made.until, *made.subtasks), robot, scene)
    return replace(made, guard=replace(made.guard, may_touch=may_touch))


def movable_subjects(texts: Sequence[str], robot: Robot, scene: Scene) -> tuple[str, ...]:
    """Return the objects that can move and that conditions are about.

    Args:
        texts: The conditions.
        robot: The robot.
        scene: The scene.

    Raises:
        ConfigError: A condition is wrong.
    """
    objects = {item.name: item.body for item in scene.objects}
    definitions = Definitions(Builder(robot, lambda: objects))
    leaves = [leaf for text in texts for leaf in definitions.make("", "", text, 0.0).expression.leaves()]
    names = dict.fromkeys(name for leaf in leaves for name in leaf.predicate.subjects())
    return tuple(name for name in names if name in objects and not objects[name].is_static)


def arm_of(robot: Robot, name: str) -> ArmSpec:
    """Return an arm of a robot.

    Args:
        robot: The robot.
        name: Name of the arm; empty: its only one.

    Raises:
        ConfigError: There is no such arm.
    """
    if name in robot.arms:
        return robot.arms[name]
    if not name and len(robot.arms) == 1:
        return next(iter(robot.arms.values()))
    raise ConfigError(
        "arm", [f"is {name!r}; robot {robot.name!r} has {sorted(robot.arms)}, name one of them"]
    )


def check_metadata(settings: PolicySettings, metadata: Mapping[str, Any], robot: Robot, arm: ArmSpec) -> None:
    """Check that the settings are those that the server's policy was made for, where it says so.

    Args:
        settings: The settings.
        metadata: The server's metadata.
        robot: The robot.
        arm: The arm.

    Raises:
        ConfigError: The arm has no such gripper.
        BadAnswer: The policy was made for other actions; names what differs.
    """
    try:
        decoder = ActionDecoder(robot, arm, settings.action_space, settings.gripper, settings.chunk)
    except ValueError as error:
        raise ConfigError("settings", [str(error)]) from error
    decoder.check_metadata(metadata)
