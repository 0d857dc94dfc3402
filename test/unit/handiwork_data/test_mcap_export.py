"""Episodes as recordings: what other readers of MCAP and ROS 2 see, and definitions that are those of ROS."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from handiwork_data.episodes.episode import EpisodeError
from handiwork_data.export.mcap_file import export_mcap
from handiwork_data.export.ros2_types import MESSAGES, PARTS
from handiwork_data.export.source import source_of
from handiwork_viz.recording.bag_reader import read_messages
from support.records.episodes import SAMPLES, tiny_episode, tiny_folder, tiny_images


@pytest.mark.parametrize("name", [*MESSAGES, *PARTS])
def test_the_definitions_are_those_of_ros(name: str) -> None:
    package, kind = name.split("/")[0], name.split("/")[-1]
    fields = getattr(import_module(f"{package}.msg"), kind).get_fields_and_field_types()
    names = {"sequence<": "", ">": "[]", "double": "float64"}
    wanted = []
    for field, text in fields.items():
        for old, new in names.items():
            text = text.replace(old, new)
        wanted.append(f"{text} {field}")
    assert {**MESSAGES, **PARTS}[name].splitlines() == wanted


def test_an_episode_is_a_recording_with_the_topics_of_a_stack(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "set", tiny_episode(1), tiny_episode(2))
    out = tmp_path / "out"
    source = source_of(folder, [1, 2], tiny_images(folder))
    assert export_mcap(source, out) == 2 * (1 + 1 + SAMPLES * 5)
    read = list(read_messages(out / "episode_000000001"))
    assert {one.topic for one in read} == {
        "episode/about", "episode/stage", "joint_states", "joint_commands", "world/object_states", "tf",
        "cameras/head/color/image_raw/compressed",
    }  # fmt: skip
    states = [one for one in read if one.topic == "joint_states"]
    assert [one.message.position[0] for one in states] == [0.0, 1.0, 2.0, 3.0]
    assert np.allclose([one.at_s for one in states], [0.0, 0.04, 0.08, 0.12])
    commands = [one.message for one in read if one.topic == "joint_commands"]
    assert (list(commands[2].name), list(commands[2].position)) == (["one"], [12.0])
    about = json.loads(read[0].message.data)
    assert (about["episode"], about["instruction"], about["success"]) == (1, "Put it away.", True)
    assert about["handiwork/scene_digest"] == "c" * 64
    (pose,) = {one.message.states[0].pose.position.z for one in read if one.topic == "world/object_states"}
    assert pose == 0.3


def test_another_reader_of_ros_2_decodes_every_message(tmp_path: Path) -> None:
    from rosbags.highlevel import AnyReader

    folder = tiny_folder(tmp_path / "set", tiny_episode(1))
    export_mcap(source_of(folder, [1]), tmp_path / "out")
    store, own = get_typestore(Stores.ROS2_JAZZY), "handiwork_msgs/msg"
    for kind in ("ObjectState", "ObjectStates"):
        fields = {**MESSAGES, **PARTS}.get(f"{own}/{kind}") or PARTS[f"handiwork_msgs/{kind}"]
        store.register(get_types_from_msg(fields, f"{own}/{kind}"))
    (file,) = (tmp_path / "out").glob("*/*.mcap")
    with AnyReader([file], default_typestore=store) as reader:
        found = [reader.deserialize(raw, one.msgtype) for one, _, raw in reader.messages()]
    assert len(found) == 2 + SAMPLES * 4


def test_a_folder_that_is_there_stays(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "set", tiny_episode(1))
    with pytest.raises(EpisodeError, match="exists; name a new folder"):
        export_mcap(source_of(folder, [1]), tmp_path)
