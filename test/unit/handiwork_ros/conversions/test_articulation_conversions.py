"""Conversions of joints of parts to messages and back, and the refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from handiwork_core.model.articulation import Articulation, Handle
from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.joint_kind import JointKind
from handiwork_core.model.world import Shape, ShapeKind, WorldObject
from handiwork_ros.conversions import BadMessage, world_objects_from_msg, world_objects_to_msg

HANDLE = Handle(frozen((0.0, -0.1, 0.0)), frozen((0.0, 0.1, 0.0)), frozen((1.0, 0.0, 0.0)), 0.02)
PLACED = Pose.of((0.1, 0.2, 0.3), Rotation.from_rpy(0.1, 0.2, 0.3))


def drawer(handle: Handle | None = HANDLE) -> WorldObject:
    joint = Articulation(
        "cabinet", JointKind.PRISMATIC, PLACED, frozen((-1, 0, 0)), frozen((0, 0, 1)), 0.1, 0.4, handle
    )
    return WorldObject("drawer", (Shape(ShapeKind.BOX, np.ones(3), Pose.identity()),), False, 1.0, joint)


@pytest.mark.parametrize("handle", [HANDLE, None])
def test_there_and_back(handle: Handle | None) -> None:
    given = drawer(handle).articulation
    read = world_objects_from_msg(world_objects_to_msg([drawer(handle)], 1, 0.0))["drawer"].articulation
    assert given is not None
    assert read is not None
    assert (read.body, read.kind, read.lower, read.upper) == ("cabinet", JointKind.PRISMATIC, 0.1, 0.4)
    assert read.body_T_part.almost_equal(PLACED, within_m=1e-12, within_rad=1e-7)
    assert np.array_equal(read.axis, given.axis)
    assert np.array_equal(read.origin, given.origin)
    if handle is None:
        assert read.handle is None
    else:
        assert read.handle is not None
        assert read.handle.width_m == 0.02
        for key in ("head", "tail", "approach"):
            assert np.array_equal(getattr(read.handle, key), getattr(handle, key))


def test_an_object_alone_has_no_joint() -> None:
    alone = WorldObject("cube", drawer().shapes)
    assert world_objects_from_msg(world_objects_to_msg([alone], 1, 0.0))["cube"].articulation is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", 7),
        ("body", ""),
        ("upper", 0.1),
        ("lower", float("nan")),
        ("axis.x", 0.0),
        ("handle_width", -0.1),
        ("handle_tail.y", -0.1),
        ("handle_approach.x", 0.0),
        ("origin.x", float("inf")),
    ],
)
def test_what_cannot_be_is_refused_by_its_field(field: str, value: Any) -> None:
    message = world_objects_to_msg([drawer()], 1, 0.0)
    *way, last = field.split(".")
    holder = message.objects[0].articulation
    for step in way:
        holder = getattr(holder, step)
    setattr(holder, last, value)
    with pytest.raises(BadMessage) as refused:
        world_objects_from_msg(message)
    assert "objects[0].articulation." in refused.value.outcome.field_name
