"""What is read from bytes equals what the message says, whatever its names, sizes and stamps."""

from __future__ import annotations

import pytest
from geometry_msgs.msg import TransformStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from handiwork_ros.wire_bytes import JointReader, frames_from_bytes
from tf2_msgs.msg import TFMessage


def joints(
    names: list[str], first: float, *, stamp: int = 3, frame: str = "", effort: bool = True
) -> JointState:
    message = JointState(name=names)
    message.header.stamp.sec, message.header.stamp.nanosec = stamp, 250_000_000
    message.header.frame_id = frame
    numbers = [first + i for i in range(len(names))]
    message.position, message.velocity = numbers, [-v for v in numbers]
    message.effort = [2.0 * v for v in numbers] if effort else []
    return message


@pytest.mark.parametrize("frame", ["", "world", "base"])
@pytest.mark.parametrize("names", [[], ["a"], ["joint1", "joint_22", "j"], ["ab", "abc", "abcd", "abcde"]])
@pytest.mark.parametrize("effort", [True, False])
def test_joint_states_are_read_as_written(names: list[str], frame: str, effort: bool) -> None:
    reader = JointReader()
    for turn in range(3):  # the first goes the ordinary way, the others by the places that it had
        message = joints(names, 1.5 * turn, stamp=turn, frame=frame, effort=effort)
        found = reader.read(serialize_message(message))
        assert found.stamp_s == pytest.approx(turn + 0.25)
        assert found.names == names
        for values, wanted in (
            (found.position, message.position),
            (found.velocity, message.velocity),
            (found.effort, message.effort),
        ):
            assert values.tolist() == list(wanted)


def test_names_of_equal_length_are_told_apart() -> None:
    reader = JointReader()
    for names in (["left", "rght"], ["rght", "left"], ["left", "rght"]):
        for _ in range(2):
            assert reader.read(serialize_message(joints(names, 1.0))).names == names


def test_frames_are_read_as_written() -> None:
    message = TFMessage()
    for index, (parent, child) in enumerate([("world", "cube"), ("world", "a"), ("fr3/fr3_link0", "fr3/x")]):
        frame = TransformStamped(child_frame_id=child)
        frame.header.frame_id, frame.header.stamp.sec = parent, index
        frame.header.stamp.nanosec = 500_000_000
        frame.transform.translation.x, frame.transform.translation.z = 1.0 + index, -2.0
        frame.transform.rotation.y, frame.transform.rotation.w = 0.6, 0.8
        message.transforms.append(frame)
    found = frames_from_bytes(serialize_message(message))
    assert [(item.parent, item.child) for item in found] == [
        ("world", "cube"),
        ("world", "a"),
        ("fr3/fr3_link0", "fr3/x"),
    ]
    assert [item.stamp_s for item in found] == [0.5, 1.5, 2.5]
    assert found[1].numbers == (2.0, 0.0, -2.0, 0.0, 0.6, 0.0, 0.8)
    assert frames_from_bytes(serialize_message(TFMessage())) == []
