"""Defaults of the SimBox format, where they differ from ours; entries of a file that is read as SimBox have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .simbox_keys import NULLS, RENAMED

WAYPOINT: Mapping[str, Any] = {"t_eps": 0.001, "o_eps": 0.005}
"""The format's tolerances of a waypoint, m and rad."""
_GRASP: Mapping[str, Any] = {
    **WAYPOINT,
    "gripper_change_steps": 40,
    "post_grasp_offset_min": 0.05,
    "post_grasp_offset_max": 0.05,
    "lift_th": 0.0,
}

DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "pick": _GRASP,
    "manualpick": {**_GRASP, "process_valid": False},
    "dynamicpick": _GRASP,
    "dexpick": _GRASP,
    "fail_pick": {**_GRASP, "gripper_change_steps": 10},
    "place": {
        **WAYPOINT,
        "position_constraint": "gripper",
        "heights_from": "container_top",
        "pre_place_z_offset": 0.2,
        "place_z_offset": 0.1,
        "gripper_change_steps": 10,
        "post_place_vector": [0.0, 0.0, 0.0],
        "success_mode": "3diou",
    },
    "dexplace": {**WAYPOINT, "gripper_change_steps": 10, "xybbox_margin": 0.0},
    "flip": {**WAYPOINT, "gripper_change_steps": 20},
    "goto_pose": {**WAYPOINT, "gripper_state": 1},
    "joint_ctrl": {**WAYPOINT, "gripper_state": 1, "success_threshold_js": 0.005},
    "track": {**WAYPOINT, "gripper_state": 1},
    "wait": {"gripper_state": -1},
    **dict.fromkeys(("approach_rotate", "move", "rotate_obj", "scan", "open", "close", "rotate"), WAYPOINT),
}
"""The format's default of each field that has another one here, by skill and then by our name of the field."""


def with_format_defaults(skill: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Add the format's defaults for what an entry leaves out.

    Args:
        skill: Name of the skill.
        values: Keys of the format, or fields, with their values; a null counts as left out where the format has it as
            its default.

    Returns:
        The values with the defaults.
    """
    given = {key: value for key, value in values.items() if not (value is None and key in NULLS)}
    named = set(given) | {field for key, field in RENAMED.get(skill, {}).items() if key in given}
    missing = {key: value for key, value in DEFAULTS.get(skill, {}).items() if key not in named}
    return {**given, **missing}
