"""The links of a hand, what it holds, what lies in an object, and the pose that an approach begins at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handiwork_core.contracts.skill import StepFailed
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.model.outcome import Code
from handiwork_core.testing.fakes import Fakes
from handiwork_core.testing.gantry import gantry
from skill_server.motions.approach_planning import backed_off
from skill_server.state.gripper_reach import hand_links
from skill_server.state.held_object import held_name, refuse_when_holding
from skill_server.state.scene_query import objects_inside

from .execution.test_executor import made, move_cube


def holding() -> Fakes:
    f = made()
    f.cell.in_hand = "cube"
    return f


def test_links_fixed_to_the_hand_belong_to_it_but_not_those_left_out() -> None:
    robot = gantry()
    arm = robot.arms["arm"]
    assert hand_links(robot, arm) == ("hand", "tcp")
    assert hand_links(robot, arm, without=("tcp",)) == ("hand",)


def test_the_record_of_the_grasp_counts_before_the_measurement() -> None:
    f = holding()
    world = f.context.world.snapshot()
    assert held_name(f.context, world) == "cube"
    f.context.held["tray"] = None  # type: ignore[assignment]
    assert held_name(f.context, world) == "tray"


def test_a_hand_that_holds_something_must_not_grasp() -> None:
    f = holding()
    with pytest.raises(StepFailed, match="already holds 'cube'") as caught:
        refuse_when_holding(f.context, f.context.world.snapshot())
    assert caught.value.outcome.code is Code.CONTRADICTION
    empty = made()
    refuse_when_holding(empty.context, empty.context.world.snapshot())


def test_an_object_lies_in_another_while_its_origin_is_within_the_bounds() -> None:
    f = made()
    f.cell.poses["cube"] = Pose.of((0.4, -0.2, 0.015))
    assert objects_inside(f.context.world.snapshot(), "tray") == {"cube"}
    move_cube(f, 0.2)
    assert objects_inside(f.context.world.snapshot(), "tray") == frozenset()


def test_an_approach_begins_back_along_the_axis_of_the_hand_or_along_its_own_direction() -> None:
    gripper = gantry().arms["arm"].gripper
    assert gripper is not None
    turned = Rotation.from_axis_angle((1.0, 0.0, 0.0), np.pi)
    pose = Pose.of((0.4, 0.1, 0.2), turned)
    back = backed_off(pose, replace(gripper, ee_axis=2), 0.1)
    assert back.translation_m == pytest.approx((0.4, 0.1, 0.3))
    aside = backed_off(pose, gripper, 0.1, np.array([1.0, 0.0, 0.0]))
    assert aside.translation_m == pytest.approx((0.3, 0.1, 0.2))
    assert aside.rotation is back.rotation is pose.rotation
