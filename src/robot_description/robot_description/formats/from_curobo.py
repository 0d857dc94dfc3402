"""Reads a robot configuration of cuRobo, of version 2 or 1. Format: NVlabs/curobo, Apache-2.0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from handiwork_core.config.dataclass_loader import ConfigError, read_yaml

from .given_robot import GivenRobot
from .given_rows import names_of, number_by_link, pairs_of, rows_by_joint, spheres_of

AHEAD = 4
"""Number of folders above the file in which its URDF is searched."""


def read_curobo(path: Path) -> GivenRobot:
    """Read spheres, pairs, limits, home and tools of a file.

    Args:
        path: The file.

    Raises:
        ConfigError: The file has faults; the error lists all.
    """
    data = read_yaml(path)
    kinematics = data.get("robot_cfg", data)
    kinematics = kinematics.get("kinematics") if isinstance(kinematics, Mapping) else None
    if not isinstance(kinematics, Mapping):
        raise ConfigError(str(path), ["robot_cfg.kinematics: missing; give a robot configuration of cuRobo"])
    faults: list[str] = []
    spheres = kinematics.get("collision_spheres")
    notes: list[str] = []
    if isinstance(spheres, str):
        spheres = read_yaml(path.parent / spheres).get("collision_spheres")
    used = kinematics.get("collision_link_names")
    if isinstance(spheres, Mapping) and isinstance(used, Sequence):
        spheres = {link: rows for link, rows in spheres.items() if link in used}
    buffer = number_by_link(kinematics, "collision_sphere_buffer", faults)
    made = spheres_of(spheres, buffer, notes, faults)
    cspace = kinematics.get("cspace") or {}
    locked = kinematics.get("lock_joints") or {}
    names = names_of(cspace, "joint_names", faults)
    home_key = "default_joint_position" if "default_joint_position" in cspace else "retract_config"
    home = rows_by_joint(cspace, home_key, names, faults)
    if kinematics.get("extra_links"):
        notes.append(
            f"{path.name}: extra_links {sorted(kinematics['extra_links'])} were left out; add frames to the URDF"
        )
    if any((kinematics.get("self_collision_buffer") or {}).values()):
        notes.append(
            f"{path.name}: self_collision_buffer was left out; pairs are checked by the spheres alone"
        )
    tips = _tips(kinematics, faults)
    pairs = pairs_of(kinematics.get("self_collision_ignore"), [item.link for item in made], faults)
    if faults:
        raise ConfigError(str(path), faults)
    return GivenRobot(
        str(path), made, pairs, tuple(name for name in names if name not in locked), tips, home,
        rows_by_joint(cspace, "max_acceleration", names, faults), rows_by_joint(cspace, "max_jerk", names, faults),
        tuple(notes), _urdf(path, kinematics),
    )  # fmt: skip


def _tips(kinematics: Mapping[str, Any], faults: list[str]) -> tuple[str, ...]:
    """Return the tool frames of version 2, or the one EE link of version 1."""
    tips = kinematics.get("tool_frames") or [kinematics.get("ee_link")]
    if not isinstance(tips, Sequence) or not all(isinstance(tip, str) for tip in tips):
        faults.append("tool_frames: missing; name the links of the tools")
        return ()
    return tuple(tips)


def _urdf(path: Path, kinematics: Mapping[str, Any]) -> Path | None:
    """Return the URDF if it is found: below the file's folder, below those above, or below their ``assets``."""
    named = kinematics.get("urdf_path")
    if not isinstance(named, str):
        return None
    above = [path.resolve().parent, *path.resolve().parents][: AHEAD + 1]
    places = [folder / part / named for folder in above for part in ("", "assets")]
    return next((place for place in places if place.is_file()), None)
