"""A goal with several faults gets all of them at once, from every action."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.model.outcome import Code
from skill_server.params.validation import judged_parameters

from .test_task_file import CATALOG, faults, two_armed, world

ROBOT, WORLD = two_armed(), world()


def task(skill: str, **parameters: Any) -> str:
    return yaml.safe_dump({"skills": [{"gantry": [{"left": [{"name": skill, **parameters}]}]}]})


def keys(text: str) -> set[str]:
    """Return the fields at fault; every fault belongs to the skill, and has a correction after a semicolon."""
    where = "skills[0].gantry[0].left[0]."
    found = faults(text, WORLD)
    assert all(fault.startswith(where) and ";" in fault for fault in found), found
    return {fault.removeprefix(where).split(":")[0] for fault in found}


@pytest.mark.parametrize(
    ("skill", "parameters", "wanted"),
    [
        (
            "pick",
            {"object": "cube", "test_mode": "x", "recovery": "y", "lift_th": 9.0, "direction_to_obj": "up"},
            {"test_mode", "recovery", "lift_th", "direction_to_obj"},
        ),
        (
            "place",
            {
                "container": "tray",
                "success_mode": "foo",
                "x_ratio_range": [0.6, 0.4],
                "y_ratio_range": [0.9, 0.1],
                "place_z_offset": 0.5,
            },
            {"success_mode", "x_ratio_range[0]", "y_ratio_range[0]", "place_z_offset"},
        ),
        ("pick", {"object": "cub", "nonsense": 1}, {"object", "nonsense"}),
        ("pick", {"objects": [3], "test_mode": "x"}, {"objects", "test_mode"}),
        ("pick", {"test_mode": "x", "seed": 2**70}, {"object", "test_mode", "seed"}),
        # A comparison with a value that cannot be parsed is not judged.
        (
            "pick",
            {"object": "cube", "lift_th": 0.3, "post_grasp_offset_min": "high"},
            {"post_grasp_offset_min"},
        ),
        ("place", {"container": "bin", "object": "cup", "place_part": 7}, {"container", "object"}),
        ("move", {"object": "cub", "target": "", "delta_trans": []}, {"object", "target", "delta_trans"}),
        (
            "rotate_obj",
            {
                "rotate_obj_euler_delta": 3,
                "first_motion": "z",
                "ctrl_list": [[99, 1.0, "abs"], [0, 1.0, "x"]],
            },
            {"rotate_obj_euler_delta", "first_motion", "ctrl_list[0][0]", "ctrl_list[1][2]"},
        ),
        (
            "dexpick",
            {"object": "cub", "test_mode": "x", "pick_poses": [[0, 0, 0, 0, 0, 0, 0]]},
            {"object", "test_mode", "pick_poses"},
        ),
        (
            "goto_pose",
            {
                "position": [0, 0, 9],
                "euler": [0, 0, 0],
                "orientation_filters": [{"ee_axis": "w", "direction": "up"}],
            },
            {
                "position[2]",
                "orientation_filters",
                "orientation_filters[0].ee_axis",
                "orientation_filters[0].direction",
            },
        ),
    ],
)
def test_every_fault_of_a_skill_is_told(skill: str, parameters: dict[str, Any], wanted: set[str]) -> None:
    assert keys(task(skill, **parameters)) == wanted


def test_the_same_faults_come_by_run_skill() -> None:
    skill, arm = CATALOG.find("pick"), ROBOT.arms["left_arm"]
    with pytest.raises(ConfigError) as caught:
        judged_parameters(
            skill,
            {"object": "cub", "lift_th": "high", "recovery": "y"},
            "left_arm",
            "here",
            lambda made: skill.is_feasible(made, ROBOT, arm, WORLD),
        )
    found = [fault.split(":")[0] for fault in caught.value.faults]
    assert found == ["lift_th", "object", "recovery"], caught.value.faults


def test_one_channel_carries_the_words_of_all() -> None:
    skill, arm = CATALOG.find("pick"), ROBOT.arms["left_arm"]
    params = skill.params_type(object="cub", recovery="y", max_attempts=0)
    verdict = skill.is_feasible(params, ROBOT, arm, WORLD).in_one()
    assert (verdict.code, verdict.field_name, verdict.others) == (Code.UNKNOWN_OBJECT, "object", ())
    assert all(word in verdict.message for word in ("'cube'", "give_up", "1 to 20"))
