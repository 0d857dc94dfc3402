"""The written bytes equal the serialized message."""

from __future__ import annotations

import numpy as np
import pytest
from handiwork_msgs.msg import Contacts, ObjectStates
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from handiwork_core.model.geometry import Pose, Rotation, frozen
from handiwork_core.model.world import Contact, ObjectState
from handiwork_ros.cdr.formats import CONTACTS, OBJECT_STATES
from handiwork_ros.cdr.row_writer import JointWriter, RowWriter
from handiwork_ros.conversions import contacts_to_msg, object_states_to_msg, time_to_msg

NAMES = [[], ["a"], ["joint1", "joint_22", "j"], ["ab", "abc", "abcd", "abcde", "é"]]


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("given", [(1, 1, 1), (1, 1, 0), (1, 0, 0)])
def test_joint_states(names: list[str], given: tuple[int, ...]) -> None:
    writer = JointWriter(names)
    for turn in range(2):
        arrays = [np.arange(share * len(names)) + 10.0 * turn + 0.5 * i for i, share in enumerate(given)]
        message = JointState(name=names)
        message.header.stamp = time_to_msg(3.25 + turn)
        message.position, message.velocity, message.effort = (each.tolist() for each in arrays)
        assert deserialize_message(writer.write(3.25 + turn, *arrays), JointState) == message


@pytest.mark.parametrize("names", NAMES)
def test_object_states(names: list[str]) -> None:
    writer = RowWriter(OBJECT_STATES)
    for turn in range(2):
        turned, shift = Rotation.from_rpy(0.1, 0.2 * turn, 0.3), frozen((turn, 2.0, 3.0))
        states = {name: ObjectState(Pose(turned, shift), shift, 2.0 * shift, 0.0) for name in names}
        rows = [[*shift, *np.roll(turned.wxyz, -1), *shift, *(2.0 * shift), 1.5 * turn] for _ in names]
        texts = tuple((name,) for name in names)
        data = writer.write(1.5 * turn, texts, np.array(rows).reshape(-1, 14), version=2**40 + turn)
        message = object_states_to_msg(states, 2**40 + turn, 1.5 * turn)
        assert deserialize_message(data, ObjectStates) == message


def test_contacts_that_come_and_go() -> None:
    writer = RowWriter(CONTACTS)
    one = Contact("cube", "fr3/fr3_leftfinger", frozen((1.0, 2.0, 3.0)), frozen((4.0, 5.0, 6.0)))
    other = Contact("can", "table", frozen((0.0, 0.0, 9.0)), frozen((0.1, 0.2, 0.3)))
    for stamp_s, contacts in ((0.01, (one, other)), (0.02, (one,)), (0.03, ()), (0.04, (other, one))):
        rows = np.array([[*item.force_on_a_n, *item.point_m] for item in contacts]).reshape(-1, 6)
        data = writer.write(stamp_s, tuple((item.a, item.b) for item in contacts), rows)
        assert deserialize_message(data, Contacts) == contacts_to_msg(contacts, stamp_s)
