"""Forms offer what a goal is checked by, and give the parameters that were filled in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import yaml

from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.contracts.skill import Skill
from handiwork_core.contracts.skill_params import SkillParams
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import OK, Outcome
from handiwork_core.model.world import ObjectState, World, WorldObject
from handiwork_core.robot.robot import Robot
from handiwork_core.robot_files.loader import load_robot
from handiwork_viz.view.model.forms import FieldKind, Form, form_of, parameters_of, pose_values, text_of
from skill_server.params import checks
from skill_server.params.parsing import parameters_from
from skill_server.params.registry import load_catalog
from skill_server.skills import BUILTIN
from support.paths import ROBOTS


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot(ROBOTS / "fr3")


@pytest.fixture(scope="module")
def world() -> World:
    still = np.zeros(3)
    objects = {name: WorldObject(name, (), is_static=name == "table") for name in ("table", "cube", "bin")}
    state = ObjectState(Pose.identity(), still, still, 0.0)
    return World(0.0, 1, objects, dict.fromkeys(objects, state))


def form(name: str, robot: Robot, world: World) -> Form:
    return form_of(load_catalog(BUILTIN).find(name), robot, robot.arm(""), world)


def defaults(made: Form) -> dict[str, Any]:
    texts = (FieldKind.YAML, FieldKind.POSES)
    return {one.name: text_of(one.default) if one.kind in texts else one.default for one in made.fields}


def _parameters_or_empty(made: Form) -> tuple[dict[str, Any], list[str]]:
    try:
        return parameters_of(made, defaults(made)), []
    except ConfigError as error:
        return {}, [fault.partition(":")[0] for fault in error.faults]


def test_every_skill_has_a_form_whose_defaults_add_nothing(robot: Robot, world: World) -> None:
    for skill in load_catalog(BUILTIN).skills.values():
        made = form_of(skill, robot, robot.arm(""), world)
        required = {one.name for one in made.fields if one.is_required}
        given, empty = _parameters_or_empty(made)
        assert {*given, *empty} <= required, skill.name
        if empty:
            continue
        parameters_from(skill, yaml.safe_load(yaml.safe_dump(given)), "", "the form")


def test_ranges_and_choices_are_those_of_the_check(robot: Robot, world: World) -> None:
    fields = {one.name: one for one in form("pick", robot, world).fields}
    assert fields["object"].kind is FieldKind.CHOICE
    assert set(fields["object"].choices) == {"", "bin", "cube", "table"}
    assert fields["object"].default == "cube"  # the first that can be moved
    assert (fields["t_eps"].low, fields["t_eps"].high) == (1e-4, 0.1)
    assert "0.0001 to 0.1 m" in fields["t_eps"].hint
    assert set(fields["test_mode"].choices) == {"forward", "ik"}
    frames = {one.name: one for one in form("goto_pose", robot, world).fields}["frame"]
    assert {"base", "world", "cube", "fr3/fr3_hand"} <= set(frames.choices)


def test_what_was_filled_in_is_sent(robot: Robot, world: World) -> None:
    made = form("pick", robot, world)
    values = {**defaults(made), "object": "cube", "lift_th": 0.05, "ignore_substring": "[bin]"}
    assert parameters_of(made, values) == {"object": "cube", "lift_th": 0.05, "ignore_substring": ["bin"]}


def test_bad_input_is_said_field_by_field(robot: Robot, world: World) -> None:
    made = form("pick", robot, world)
    with pytest.raises(ConfigError) as caught:
        parameters_of(made, {**defaults(made), "object": "", "ignore_substring": "[bin"})
    assert len(caught.value.faults) >= 2
    assert any("object: is empty" in fault for fault in caught.value.faults)
    assert any(fault.startswith("ignore_substring: ") for fault in caught.value.faults)


def test_a_dragged_pose_fills_the_fields(robot: Robot, world: World) -> None:
    base = Pose.of((0.4, 0.1, 0.3), Rotation.from_rpy(0.0, np.pi, 0.0))
    made = form("goto_pose", robot, world)
    given = parameters_of(
        made, {**defaults(made), **pose_values(made, base, Pose.of((1.0, 0.0, 0.0)) @ base)}
    )
    assert given["position"] == [0.4, 0.1, 0.3]
    assert np.allclose(given["quaternion"], base.rotation.wxyz, atol=1e-4)
    picked = form("pick", robot, world)
    text = pose_values(picked, base, Pose.of((1.0, 0.0, 0.0)) @ base)["grasp_poses"]
    assert yaml.safe_load(text)[0]["position"] == [1.4, 0.1, 0.3]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveParams(SkillParams):
    """Parameters of a plug-in.

    Attributes:
        times: How often the arm waves.
        style: How it waves.
    """

    times: int = 3
    style: str = "wide"


class Wave(Skill[WaveParams]):
    """Wave the arm."""

    name = "wave"
    params_type = WaveParams

    def is_feasible(self, params: WaveParams, *_: Any) -> Outcome:
        return checks.all_faults(
            (
                checks.number("times", params.times, 1, 9, "times"),
                checks.choice("style", params.style, ("wide", "small")),
            )
        )

    def commands(self, *_: Any) -> tuple[()]:
        return ()

    def is_success(self, *_: Any) -> Outcome:
        return OK


def test_a_plug_in_has_the_same_form(robot: Robot, world: World) -> None:
    made = form_of(Wave(), robot, robot.arm(""), world)
    assert made.about == "Wave the arm."
    times, style = made.fields[:2]
    assert (times.low, times.high, times.default) == (1, 9, 3)
    assert times.hint == "How often the arm waves. 1 to 9 times"
    assert style.choices == ("wide", "small")
