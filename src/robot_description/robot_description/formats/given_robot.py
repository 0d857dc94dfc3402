"""The data of another tool's robot file, which need not be computed again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from handiwork_core.config.dataclass_loader import ConfigError, nearest
from handiwork_core.robot.robot import Spheres
from handiwork_core.robot.urdf import UrdfModel
from robot_description.collision_pairs.pair_sampling import Pair


@dataclass(frozen=True, slots=True, eq=False)
class GivenRobot:
    """The data of a robot file; empty means not given.

    Attributes:
        source: Name of the file.
        spheres: Collision spheres by link.
        ignored_pairs: Pairs of links that need no check.
        joints: Joints that arms plan with.
        tips: Links of tools.
        home: Positions by joint name, rad or m.
        acceleration: Largest accelerations by joint name, rad/s^2 or m/s^2.
        jerk: Largest jerks by joint name, rad/s^3 or m/s^3.
        notes: Data that was not taken over, with the remedy.
        urdf: The URDF that the file names, if it was found.
    """

    source: str = ""
    spheres: tuple[Spheres, ...] = ()
    ignored_pairs: frozenset[Pair] = frozenset()
    joints: tuple[str, ...] = ()
    tips: tuple[str, ...] = ()
    home: Mapping[str, float] = field(default_factory=dict)
    acceleration: Mapping[str, float] = field(default_factory=dict)
    jerk: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    urdf: Path | None = None


def known_parts(given: GivenRobot, model: UrdfModel) -> GivenRobot:
    """Remove the spheres of links that the URDF does not have; a note reports each.

    Args:
        given: The data.
        model: The URDF.

    Returns:
        The data without unknown links.

    Raises:
        ConfigError: A joint or a tool is not in the URDF.
    """
    faults = [f"joints: {name!r} is not in the URDF; {nearest(name, list(model.joints))}"
              for name in given.joints if name not in model.joints]  # fmt: skip
    faults += [f"tool frames: {tip!r} is not in the URDF; {nearest(tip, model.links)}"
               for tip in given.tips if tip not in model.links]  # fmt: skip
    if faults:
        raise ConfigError(given.source, faults)
    strange = [item.link for item in given.spheres if item.link not in model.links]
    notes = tuple(f"spheres.{link}: no such link in the URDF; the spheres were left out" for link in strange)
    spheres = tuple(item for item in given.spheres if item.link in model.links)
    pairs = frozenset(pair for pair in given.ignored_pairs if set(pair) <= set(model.links))
    return replace(given, spheres=spheres, ignored_pairs=pairs, notes=given.notes + notes)
