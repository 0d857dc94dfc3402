"""Counts are read from serialized messages without deserializing them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import (
    AttachedObject,
    Contact,
    Contacts,
    ObjectState,
    ObjectStates,
    PlanningScene,
    Shape,
    WorldObject,
    WorldObjects,
)
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from handiwork_core.intake import limits
from handiwork_ros.intake.message_sizes import excess
from tf2_msgs.msg import TFMessage


def world(objects: int, shapes: int, frame: str = "world") -> WorldObjects:
    """Draw objects with names of any length and shapes of every kind."""
    chance = np.random.default_rng(objects + shapes)
    message = WorldObjects(version=7)
    message.header.frame_id = frame
    for _ in range(objects):
        made = [
            Shape(
                kind=1 + k % 6,
                size=[0.1] * (k % 4),
                vertices=[0.5] * (3 * (k % 5)),
                triangles=[1] * (3 * (k % 3)),
            )
            for k in range(shapes)
        ]
        item = WorldObject(name="x" * int(chance.integers(0, 9)), shapes=made)
        item.articulation.body = "y" * int(chance.integers(0, 9))
        message.objects.append(item)
    return message


@pytest.mark.parametrize("frame", ["", "w", "wo", "wor", "world"])
def test_geometry_within_the_limits_is_taken_and_counted_rightly(
    frame: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = serialize_message(world(20, 7, frame))
    assert excess(WorldObjects, data) == ""
    monkeypatch.setattr(limits, "SHAPES", 139)
    assert excess(WorldObjects, data) == "has more than 139 shapes; join or leave out some"
    monkeypatch.setattr(limits, "SHAPES", 140)
    assert excess(WorldObjects, data) == ""


def test_the_thing_its_count_and_the_limit_are_named() -> None:
    states = ObjectStates(states=[ObjectState()] * (limits.OBJECTS + 1))
    touches = Contacts(contacts=[Contact()] * (limits.CONTACTS + 1))
    joints = JointState(name=["a"] * (limits.JOINTS + 1))
    frames = TFMessage(transforms=[TransformStamped()] * (limits.FRAMES + 1))
    many = WorldObjects(objects=[WorldObject()] * (limits.OBJECTS + 1))
    deep = WorldObjects(objects=[WorldObject(shapes=[Shape()] * (limits.SHAPES_PER_OBJECT + 1))])
    glued = PlanningScene(attached=[AttachedObject(object="a" * 300)] * 6000)
    for message, words in (
        (glued, f"has {len(serialize_message(glued))} bytes; at most 2000000 are read"),
        (states, "has 2001 states; at most 2000 are read"),
        (touches, "has 10001 contacts; at most 10000 are read"),
        (joints, "has 501 joints; at most 500 are read"),
        (frames, "has 5001 transforms; at most 5000 are read"),
        (many, "has 2001 objects; at most 2000 are read"),
        (deep, "has 257 shapes in object 0; at most 256 are read"),
    ):
        assert excess(type(message), serialize_message(message)) == words


def test_a_huge_message_is_refused_at_once() -> None:
    data = serialize_message(WorldObjects(objects=[WorldObject(name="a" * 30)] * 200_000))
    begin = time.process_time()
    assert excess(WorldObjects, data)
    assert time.process_time() - begin < 0.1


def test_broken_bytes_are_left_to_the_deserializer() -> None:
    data = serialize_message(world(3, 3))
    for end in range(len(data)):
        excess(WorldObjects, data[:end])
    chance = np.random.default_rng(1)
    for _ in range(2_000):
        broken = bytearray(data)
        for at in chance.integers(0, len(data), 3):
            broken[at] = int(chance.integers(0, 256))
        excess(WorldObjects, bytes(broken))
