"""Reads an XRDF file (``format: xrdf``, version 1), which belongs to a URDF.

Format: https://nvidia-isaac-ros.github.io/concepts/manipulation/xrdf.html.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from handiwork_core.config.dataclass_loader import ConfigError, read_yaml, shown

from .given_robot import GivenRobot
from .given_rows import names_of, number_by_link, pairs_of, rows_by_joint, spheres_of


def read_xrdf(path: Path) -> GivenRobot:
    """Read spheres, pairs, limits, home and tools of a file.

    Args:
        path: The file.

    Raises:
        ConfigError: The file has faults; the error lists all.
    """
    data = read_yaml(path)
    if data.get("format") != "xrdf":
        raise ConfigError(str(path), [f"format: is {shown(data.get('format'))}; give a file of format xrdf"])
    faults: list[str] = []
    notes = [f"{path.name}: modifier {name} was left out; put it into the URDF" for name in _modifiers(data)]
    collision, own = data.get("collision") or {}, data.get("self_collision") or {}
    buffer = number_by_link(collision, "buffer_distance", faults)
    made = spheres_of(_geometry(data, collision, faults), buffer, notes, faults)
    if own.get("geometry", collision.get("geometry")) != collision.get("geometry"):
        notes.append(f"{path.name}: self_collision.geometry was left out; one set of spheres serves both")
    if own.get("buffer_distance"):
        notes.append(
            f"{path.name}: self_collision.buffer_distance was left out; pairs are checked by the spheres alone"
        )
    cspace = data.get("cspace") or {}
    names = names_of(cspace, "joint_names", faults)
    acceleration = rows_by_joint(cspace, "acceleration_limits", names, faults)
    jerk = rows_by_joint(cspace, "jerk_limits", names, faults)
    home = data.get("default_joint_positions") or {}
    home = rows_by_joint({"home": list(home.values())}, "home", list(home), faults)
    pairs = pairs_of(own.get("ignore"), [item.link for item in made], faults)
    tips = tuple(str(tip) for tip in data.get("tool_frames") or ())
    if faults:
        raise ConfigError(str(path), faults)
    # The format puts a joint without a given position at zero.
    home = dict.fromkeys(names, 0.0) | home
    return GivenRobot(str(path), made, pairs, names, tips, home, acceleration, jerk, tuple(notes))


def _geometry(data: Mapping[str, Any], collision: Mapping[str, Any], faults: list[str]) -> object:
    name, groups = collision.get("geometry"), data.get("geometry") or {}
    group = groups.get(name) if isinstance(groups, Mapping) else None
    if not isinstance(group, Mapping) or "spheres" not in group:
        faults.append(
            f"collision.geometry: {shown(name)} has no spheres below geometry; name a group that has"
        )
        return {}
    return group["spheres"]


def _modifiers(data: Mapping[str, Any]) -> list[str]:
    """Return the modifiers that change the tree; the base frame does not matter here."""
    names = [str(name) for item in data.get("modifiers") or () if isinstance(item, Mapping) for name in item]
    return [name for name in names if name != "set_base_frame"]
