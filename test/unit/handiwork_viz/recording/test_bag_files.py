"""Recordings: split files, a cut file, a full disk; read by this package, by mcap-ros2-support and by rosbags."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rclpy.serialization import serialize_message
from rosbags.highlevel import AnyReader
from sensor_msgs.msg import JointState

from handiwork_viz.recording import bag_writer
from handiwork_viz.recording.bag_reader import Cut, RecordingError, files_of, read_messages
from handiwork_viz.recording.bag_writer import BagWriter, DiskFullError, Limits, Topic
from handiwork_viz.recording.ros.definitions import class_of, definition_of

EVENT = "handiwork_msgs/action/Pick_GetResult_Event"


def joints(number: int) -> bytes:
    two = [float(number), 0.5]
    message = JointState(name=["a", "b"], position=two, velocity=two, effort=two)
    return bytes(serialize_message(message))


def topic_of(name: str, kind: str) -> Topic:
    return Topic(name, kind, definition_of(class_of(kind)), bag_writer.qos_text("reliable", "volatile", 10))


def result_event() -> bytes:
    kind = class_of(EVENT)
    event = kind()
    response = kind.SLOT_TYPES and class_of("handiwork_msgs/action/Pick_GetResult_Response")()
    response.status, response.result.result.bundle = 6, "/tmp/a.bundle"
    response.result.result.outcome.message = "no grasp"
    event.response = [response]
    return bytes(serialize_message(event))


class Steady:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def written(
    folder: Path,
    count: int = 300,
) -> BagWriter:
    writer = BagWriter(folder, Limits(free_mb=0.0))
    writer.add_topic(topic_of("/joint_states", "sensor_msgs/msg/JointState"))
    writer.add_topic(topic_of("/pick/_action/get_result/_service_event", EVENT))
    for number in range(count):
        writer.write("/joint_states", joints(number), 10**9 * number, 10**9 * number)
    writer.write("/pick/_action/get_result/_service_event", result_event(), 10**12, 10**12)
    return writer


def numbers(path: Path, cut: Cut | None = None) -> list[float]:
    return [one.message.position[0] for one in read_messages(path, ["/joint_states"], cut)]


def test_three_readers_find_every_message(tmp_path: Path) -> None:
    writer = written(tmp_path / "bag")
    writer.close()
    path = writer.files[0]
    assert numbers(path) == [float(n) for n in range(300)]
    with path.open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        assert sum(1 for _ in reader.iter_messages()) == 301
        read = list(reader.iter_decoded_messages(["/joint_states"]))
    assert [one[3].position[0] for one in read] == [float(n) for n in range(300)]
    event = next(read_messages(path, ["/pick/_action/get_result/_service_event"])).message
    assert event.response[0].result.result.outcome.message == "no grasp"
    with AnyReader([path]) as bag:
        raw = list(bag.messages())
        assert len(raw) == 301
        found: Any = bag.deserialize(raw[3][2], raw[3][0].msgtype)
        assert found.position.tolist() == [3.0, 0.5]
        assert raw[-1][0].msgtype == EVENT


def test_a_new_file_begins_by_time_and_by_size(tmp_path: Path) -> None:
    steady = Steady()
    writer = BagWriter(tmp_path / "bag", Limits(size_mb=0.02, duration_s=5.0, free_mb=0.0), steady)
    writer.add_topic(topic_of("/joint_states", "sensor_msgs/msg/JointState"))
    for number in range(30):
        writer.write("/joint_states", joints(number), number, number)
        steady.now_s += 1.0
        writer.tend()
    writer.close()
    assert 3 <= len(writer.files) <= 8
    assert files_of(tmp_path / "bag") == writer.files
    assert numbers(tmp_path / "bag") == [float(n) for n in range(30)]


def test_a_cut_file_is_read_up_to_there(tmp_path: Path) -> None:
    steady = Steady()
    writer = BagWriter(tmp_path / "bag", Limits(free_mb=0.0), steady)
    writer.add_topic(topic_of("/joint_states", "sensor_msgs/msg/JointState"))
    for number in range(200):
        writer.write("/joint_states", joints(number), number, number)
        steady.now_s += 0.1
        writer.tend()
    # As after SIGKILL: what was flushed is there, the end of the file is not.
    path = tmp_path / "killed.mcap"
    path.write_bytes(writer.files[0].read_bytes()[:-37])
    writer.close()
    cut = Cut()
    found = numbers(path, cut)
    assert found == [float(n) for n in range(len(found))]
    assert len(found) > 140
    assert "killed.mcap was cut off after" in cut.text


def test_what_is_no_recording_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="is no recording"):
        files_of(tmp_path)
    (tmp_path / "a.mcap").write_bytes(b"nothing of the kind")
    with pytest.raises(RecordingError, match="is no MCAP file"):
        list(read_messages(tmp_path / "a.mcap"))


def test_a_nearly_full_disk_stops_with_a_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steady = Steady()
    writer = BagWriter(tmp_path / "bag", Limits(free_mb=200.0), steady)
    writer.add_topic(topic_of("/joint_states", "sensor_msgs/msg/JointState"))
    writer.write("/joint_states", joints(1), 1, 1)
    monkeypatch.setattr(bag_writer, "disk_usage", lambda _path: type("Usage", (), {"free": 5e6}))
    steady.now_s = 3.0
    with pytest.raises(DiskFullError, match="5 MB are free on the disk, and it keeps 200 MB free"):
        writer.tend()
    cut = Cut()
    assert numbers(writer.files[0], cut) == [1.0]
    assert not cut.text


def test_a_write_that_fails_stops_with_one_sentence(tmp_path: Path) -> None:
    writer = written(tmp_path / "bag", 1)

    def full(*_args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    writer._writer.add_message = full
    with pytest.raises(DiskFullError, match="cannot be written: No space left on device"):
        writer.write("/joint_states", joints(2), 2, 2)


def test_a_type_that_is_not_installed_is_named() -> None:
    with pytest.raises(LookupError, match="nobody_msgs/msg/Thing is not installed"):
        class_of("nobody_msgs/msg/Thing")


def test_a_folder_that_cannot_be_made_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DiskFullError, match=r"file/run of the recording cannot be made: .*; name another"):
        BagWriter(tmp_path / "file" / "run", Limits())
