"""Values read from bytes equal those of the message, for all names, sizes and stamps."""

from __future__ import annotations

import struct

import pytest
from geometry_msgs.msg import TransformStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from handiwork_ros.cdr.message_reader import FrameReader, JointReader, text_from_bytes
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
    for turn in range(3):  # the first is read in the ordinary way, the others at its positions
        message = joints(names, 1.5 * turn, stamp=turn, frame=frame, effort=effort)
        found = reader.read(serialize_message(message))
        assert found.stamp_s == pytest.approx(turn + 0.25)
        assert found.names == names
        wanted = message.position, message.velocity, message.effort
        assert found.counts == tuple(map(len, wanted))
        assert found.numbers.tolist() == [value for values in wanted for value in values]


def test_names_of_equal_length_are_distinguished() -> None:
    reader = JointReader()
    for names in (["left", "rght"], ["rght", "left"], ["left", "rght"]):
        for _ in range(2):
            assert reader.read(serialize_message(joints(names, 1.0))).names == names


def test_counts_that_differ_are_read_as_they_are() -> None:
    reader, message = JointReader(), joints(["a", "b"], 1.0)
    reader.read(serialize_message(message))
    message.position, message.velocity = [1.0, 2.0, 3.0], [4.0]
    found = reader.read(serialize_message(message))
    assert found.counts == (3, 1, 2)
    assert found.numbers.tolist() == [1.0, 2.0, 3.0, 4.0, 2.0, 4.0]


def frames(edges: list[tuple[str, str]], first: float) -> TFMessage:
    message = TFMessage()
    for index, (parent, child) in enumerate(edges):
        frame = TransformStamped(child_frame_id=child)
        frame.header.frame_id, frame.header.stamp.sec = parent, index
        frame.header.stamp.nanosec = 500_000_000
        frame.transform.translation.x, frame.transform.translation.z = first + index, -2.0
        frame.transform.rotation.y, frame.transform.rotation.w = 0.6, 0.8
        message.transforms.append(frame)
    return message


def big_endian(data: bytes, message: TFMessage) -> bytes:
    """Serialize a message of one frame, named by a letter each, in the other endianness."""
    (frame,) = message.transforms
    at, turn = frame.transform.translation, frame.transform.rotation
    parts = struct.pack(">IiI", 1, frame.header.stamp.sec, frame.header.stamp.nanosec)
    parts += struct.pack(">I2s2xI2s", 2, b"w\0", 2, b"c\0")
    parts += bytes(-len(parts) % 8) + struct.pack(">7d", at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w)
    assert len(parts) == len(data) - 4
    return b"\0\0\0\0" + parts


def test_frames_are_read_as_written() -> None:
    reader = FrameReader()
    edges = [("world", "cube"), ("world", "a"), ("fr3/fr3_link0", "fr3/x")]
    for first in (
        1.0,
        1.5,
    ):  # the numbers of the first are searched, the second has them at the same positions
        found = reader.read(serialize_message(frames(edges, first)))
        assert found.edges == edges
        assert found.stamps_s.tolist() == [0.5, 1.5, 2.5]
        assert found.numbers[1].tolist() == [first + 1.0, 0.0, -2.0, 0.0, 0.6, 0.0, 0.8]
    assert reader.read(serialize_message(TFMessage())).edges == []
    assert reader.read(serialize_message(frames(edges[:1], 3.0))).numbers[0, 0] == 3.0


def test_frames_with_names_of_equal_length_are_distinguished() -> None:
    reader = FrameReader()
    for child in ("cube", "ball", "cube"):
        assert reader.read(serialize_message(frames([("world", child)], 0.0))).edges == [("world", child)]


def test_frames_of_the_other_endianness_are_read_as_well() -> None:
    reader, message = FrameReader(), frames([("w", "c")], 7.0)
    data = serialize_message(message)
    for _ in range(2):
        for each in (data, big_endian(data, message)):
            found = reader.read(each)
            assert found.edges == [("w", "c")]
            assert found.stamps_s.tolist() == [0.5]
            assert found.numbers.tolist() == [[7.0, 0.0, -2.0, 0.0, 0.6, 0.0, 0.8]]


@pytest.mark.parametrize("text", ["", "a", "abc", '{"stamp": 1.5}', "Größe"])
def test_texts_are_read_as_written(text: str) -> None:
    assert text_from_bytes(serialize_message(String(data=text))) == text


def test_a_text_of_the_other_endianness_is_read_as_well() -> None:
    assert text_from_bytes(b"\0\0\0\0" + struct.pack(">I3s", 3, b"ab\0")) == "ab"


def test_a_text_that_is_not_utf_8_ends_nothing() -> None:
    assert text_from_bytes(b"\0\1\0\0" + struct.pack("<I3s", 3, b"a\xff\0")) == "a\ufffd"
