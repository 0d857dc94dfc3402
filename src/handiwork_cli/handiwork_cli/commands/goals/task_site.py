"""The stack that a task file is checked against while none runs: robot, scene and conditions from files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from conditionals_node.conditions_file import load_conditions
from conditionals_node.expressions.build import Builder
from conditionals_node.expressions.definitions import Definitions
from handiwork_cli.commands.files.export_usd import scene_file
from handiwork_cli.commands.inspect.show_robot import robot_folder
from handiwork_cli.launch_files.package_paths import share_of
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.planning import ShouldStop
from handiwork_core.contracts.predicate import Truth
from handiwork_core.model.world import ObjectState, World
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import Scene, load_scene
from skill_server.params.registry import load_catalog
from skill_server.skills import BUILTIN
from skill_server.task.conditions import Decision, Examined
from skill_server.task.reading.entries import Site

CONDITIONS = "config/conditions.yaml"


@dataclass(frozen=True)
class ConditionTexts:
    """The language of conditions without a world in which they could be decided.

    Attributes:
        definitions: Builds conditions, and knows those that a file names.
    """

    definitions: Definitions

    def examine(self, text: str) -> Examined:
        """Check the text of a condition; see ``Conditions.examine``.

        Args:
            text: The expression.
        """
        plain = text.strip().isidentifier()
        try:
            made = self.definitions.make(text.strip() if plain else "", "", "" if plain else text, 0.0)
        except ConfigError as error:
            return Examined(error.faults)
        names = (name for leaf in made.expression.leaves() for name in leaf.predicate.subjects())
        return Examined((), tuple(dict.fromkeys(names)))

    def decide(self, text: str, *, should_stop: ShouldStop) -> Decision:
        """Return UNKNOWN; see ``Conditions.decide``.

        Args:
            text: The expression.
            should_stop: Is not asked.
        """
        return Decision(Truth.UNKNOWN, f"no stack runs, so {text} is not decided")


def site_of(options: argparse.Namespace) -> Site:
    """Return the stack that the options name. Skills that could not be loaded are printed.

    Args:
        options: Parsed command line.

    Returns:
        The site for ``read_task``.

    Raises:
        ConfigError: The robot, the scene or the conditions cannot be read.
    """
    robot = load_robot(robot_folder(options.robot))
    scene = load_scene(scene_file(options.scene)) if options.scene else None
    catalog = load_catalog(BUILTIN)
    for name, why in catalog.broken.items():
        print(f"skill {name!r} could not be loaded: {why}", file=sys.stderr)
    world = None if scene is None else _world_of(scene)
    texts = ConditionTexts(_definitions(robot, options.conditions, lambda: world))
    place = None if scene is None else scene.world_T_base
    return Site(catalog, robot, world, place, conditions=texts)


def _definitions(robot: Robot, file: Path | None, world: Callable[[], World | None]) -> Definitions:
    found = world()
    made = Definitions(Builder(robot, lambda: None if found is None else sorted(found.objects)))
    default = share_of("handiwork_bringup") / CONDITIONS
    try:
        load_conditions(file or default, made)
    except ConfigError:
        # The stack's own file names objects of another robot or scene: its names are not known then.
        if file is not None:
            raise
    return made


def _world_of(declared: Scene) -> World:
    zero = np.zeros(3)
    bodies = {item.name: item.body for item in declared.objects}
    states = {item.name: ObjectState(item.world_T_object, zero, zero, 0.0) for item in declared.objects}
    return World(0.0, 1, bodies, states)
