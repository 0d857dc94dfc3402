"""Joints of an articulation in our order, and the faults of messages that cannot be used."""

from __future__ import annotations

import math

import numpy as np
import pytest

from handiwork_core.control.joint_groups import JointArrays
from handiwork_core.isaac_wire import BadWire
from isaac_bridge.adapter.joint_order import JointOrder

ORDER = JointOrder(("a", "b", "c"))


def read(order: JointOrder, names: list[str], *arrays: list[float], stamp_s: float = 0.0) -> JointArrays:
    """Read one message.

    Args:
        order: The reader.
        names: Names of the joints.
        arrays: Positions, velocities and efforts.
        stamp_s: Time of the measurement, s.
    """
    position, velocity, effort = arrays
    counts = len(position), len(velocity), len(effort)
    return order.read(names, counts, np.array([*position, *velocity, *effort]), stamp_s)


def test_numbers_come_in_our_order() -> None:
    found = read(ORDER, ["c", "x", "a", "b"], [3.0, 9.0, 1.0, 2.0], [6.0, 9.0, 4.0, 5.0], [], stamp_s=1.5)
    assert found.position.tolist() == [1.0, 2.0, 3.0]
    assert found.velocity.tolist() == [4.0, 5.0, 6.0]
    assert found.effort.tolist() == []
    assert found.stamp_s == 1.5


def test_the_order_may_change_between_messages() -> None:
    order = JointOrder(("a", "b"))
    assert read(order, ["a", "b"], [1.0, 2.0], [0.0, 0.0], [7.0, 8.0]).position.tolist() == [1.0, 2.0]
    found = read(order, ["b", "a"], [1.0, 2.0], [0.0, 0.0], [7.0, 8.0])
    assert found.position.tolist() == [2.0, 1.0]
    assert found.effort.tolist() == [8.0, 7.0]
    assert read(order, ["b", "a"], [1.0, 2.0], [0.0, 0.0], []).effort.tolist() == []


def test_joints_that_are_not_ours_are_listed() -> None:
    assert ORDER.unknown(["c", "wheel", "a"]) == ["wheel"]


@pytest.mark.parametrize(
    ("names", "position", "velocity", "words"),
    [
        (["a", "b"], [0.0] * 2, [0.0] * 2, "joint 'c' is not there"),
        (["a", "b", "c", "c"], [0.0] * 4, [0.0] * 4, "joint 'c' is there twice"),
        (["a", "b", "c"], [0.0] * 2, [0.0] * 3, "2 numbers of position for 3"),
        (["a", "b", "c"], [0.0] * 3, [], "0 numbers of velocity for 3"),
        (["a", "b", "c"], [0.0, math.nan, 0.0], [0.0] * 3, "position of joint 'b' is not finite"),
        (["a", "b", "c"], [0.0] * 3, [0.0, 0.0, math.inf], "velocity of joint 'c' is not finite"),
    ],
)
def test_a_message_that_cannot_be_used_is_named(
    names: list[str], position: list[float], velocity: list[float], words: str
) -> None:
    with pytest.raises(BadWire, match=words):
        read(JointOrder(("a", "b", "c")), names, position, velocity, [])
