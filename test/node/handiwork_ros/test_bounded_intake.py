"""Messages that are too large are refused unread: the earlier value is kept, and the next message is taken."""

from __future__ import annotations

import time

from geometry_msgs.msg import TransformStamped
from handiwork_msgs.msg import ObjectState, ObjectStates, Shape, WorldObject, WorldObjects
from rclpy.node import Node
from rclpy.serialization import serialize_message

from handiwork_core.intake.limits import FRAMES
from handiwork_core.robot_files.loader import load_robot
from handiwork_ros.ports.frames import FrameBuffer
from handiwork_ros.ports.world import RosWorldSource
from handiwork_ros.ports.world_topics import Subscriptions
from handiwork_ros.rclpy_support.qos import LATCHED, LATEST, TF
from support.nodes.ros_stage import stage, wait_for
from support.paths import ROBOTS
from tf2_msgs.msg import TFMessage

ROBOT = load_robot(ROBOTS / "fr3")


def geometry(count: int, version: int) -> bytes:
    box = Shape(kind=Shape.BOX, size=[0.1, 0.1, 0.1])
    box.pose.orientation.w = 1.0
    objects = [WorldObject(name=f"o{i}", shapes=[box]) for i in range(count)]
    return bytes(serialize_message(WorldObjects(version=version, objects=objects)))


def states(count: int) -> bytes:
    made = []
    for i in range(count):
        state = ObjectState(name=f"o{i}")
        state.pose.orientation.w = 1.0
        made.append(state)
    return bytes(serialize_message(ObjectStates(version=1, states=made)))


def test_ten_thousand_objects_are_refused(nothing_left_over: None) -> None:
    with stage() as made:
        node, other = Node("listener", context=made.context), Node("sender", context=made.context)
        sources = [RosWorldSource(node, ROBOT, Subscriptions(on_demand=demand)) for demand in (False, True)]
        objects = other.create_publisher(WorldObjects, "world/objects", LATCHED)
        moving = other.create_publisher(ObjectStates, "world/object_states", LATEST)
        made.add(node)
        made.add(other)
        wait_for(lambda: objects.get_subscription_count() == moving.get_subscription_count() == 2)
        beats: list[float] = []
        node.create_timer(0.05, lambda: beats.append(time.monotonic()))

        def sees(count: int, version: int) -> bool:
            worlds = [source.snapshot() for source in sources]
            return all((len(w.objects), len(w.states), w.version) == (count, count, version) for w in worlds)

        objects.publish(geometry(3, 1))
        moving.publish(states(3))
        wait_for(lambda: sees(3, 1), 30.0)
        large, many = geometry(10_000, 2), states(10_000)
        begin_s = time.monotonic()
        for _ in range(5):
            objects.publish(large)
            moving.publish(many)
        wait_for(lambda: len(beats) > 3 and beats[-1] > begin_s + 1.0, 30.0)
        assert sees(3, 1)
        objects.publish(geometry(4, 3))
        moving.publish(states(4))
        wait_for(lambda: sees(4, 3), 30.0)


def test_frames_are_bounded_and_others_still_known(nothing_left_over: None) -> None:
    def message(names: list[str]) -> bytes:
        transforms = []
        for name in names:
            one = TransformStamped(child_frame_id=name)
            one.header.frame_id, one.transform.rotation.w = "world", 1.0
            transforms.append(one)
        return bytes(serialize_message(TFMessage(transforms=transforms)))

    with stage() as made:
        node, other = Node("listener", context=made.context), Node("sender", context=made.context)
        frames = FrameBuffer(node)
        sender = other.create_publisher(TFMessage, "/tf", TF)
        made.add(node)
        made.add(other)
        wait_for(lambda: sender.get_subscription_count() == 1)
        sender.publish(message(["hand"]))
        wait_for(lambda: "hand" in frames.known(), 30.0)
        for k in range(6):
            sender.publish(message([f"n{k}_{i}" for i in range(1_000)]))
        wait_for(lambda: frames.refused > 0, 30.0)
        sender.publish(message([f"m{i}" for i in range(FRAMES + 1)]))
        sender.publish(message(["hand"]))
        assert len(frames.known()) <= FRAMES + 1
        assert frames.lookup("world", "hand").translation_m.tolist() == [0.0, 0.0, 0.0]
