"""Joints of parts: poses by position and position by pose are inverse; parts are measured by their poses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from handiwork_core.model.articulation import Articulation
from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import (
    JointState,
    ObjectState,
    Shape,
    ShapeKind,
    WorldObject,
    with_parts,
)

PLACED = Pose.of((0.1, -0.2, 0.3), Rotation.from_rpy(0.2, -0.4, 1.1))


def joint(kind: JointKind, lower: float = 0.0, upper: float = 1.5) -> Articulation:
    axis = np.array([0.6, 0.0, 0.8])
    return Articulation("cabinet", kind, PLACED, frozen(axis), frozen((0.05, 0.1, -0.1)), lower, upper)


@pytest.mark.parametrize("kind", JointKind)
@pytest.mark.parametrize("position", [-0.3, 0.0, 0.4, 1.2])
def test_position_undoes_pose(kind: JointKind, position: float) -> None:
    one = joint(kind)
    assert one.position(one.at(position)) == pytest.approx(position, abs=1e-12)


def test_points_on_the_axis_stay_and_others_go_round() -> None:
    one = joint(JointKind.REVOLUTE)
    on_axis = one.origin + 0.7 * one.axis
    assert one.motion(1.0).apply(on_axis) == pytest.approx(on_axis)
    beside = one.origin + np.array([0.0, 0.25, 0.0])
    assert np.linalg.norm(one.motion(math.pi).apply(beside) - one.origin) == pytest.approx(0.25)
    assert one.motion(math.pi).apply(beside) == pytest.approx(one.origin - [0.0, 0.25, 0.0])


def test_a_drawer_moves_along_its_axis() -> None:
    one = joint(JointKind.PRISMATIC)
    moved = PLACED.inverse() @ one.at(0.5)
    assert moved.translation_m == pytest.approx([0.3, 0.0, 0.4])
    assert one.share(0.75) == 0.5


@pytest.mark.parametrize("position", [2.0, 4.0, 6.0])
def test_turns_beyond_half_a_circle_are_distinguished_within_the_range(position: float) -> None:
    one = joint(JointKind.REVOLUTE, 1.0, 6.5)
    assert one.position(one.at(position)) == pytest.approx(position)


def test_parts_are_measured_wherever_their_body_stands() -> None:
    box = (Shape(ShapeKind.BOX, np.ones(3), Pose.identity()),)
    part = joint(JointKind.REVOLUTE)
    objects = {
        "cabinet": WorldObject("cabinet", box, is_static=True),
        "door": WorldObject("door", box, mass_kg=1.0, articulation=part),
        "elsewhere": WorldObject("elsewhere", box, mass_kg=1.0, articulation=part),
    }
    body = Pose.of((2.0, 0.0, 0.0), Rotation.from_rpy(0.0, 0.0, 2.0))
    poses = {"cabinet": body, "door": body @ part.at(0.8)}
    states = {name: ObjectState(pose, np.zeros(3), np.zeros(3), 7.0) for name, pose in poses.items()}
    joints = with_parts(JointState(5.0, {"arm": 0.1}, {"arm": 0.2}), objects, states)
    assert joints.position == pytest.approx({"door": 0.8, "arm": 0.1})
    assert joints.velocity == {"arm": 0.2}
    assert joints.stamp_s == 5.0
    assert with_parts(JointState(0.0, {}), objects, states).stamp_s == 7.0
    assert with_parts(JointState(5.0, {"door": 0.1}), objects, states).position == {"door": 0.1}
