"""Every message is counted, and the last good value is kept with its age."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import pytest
from handiwork_msgs.msg import Contact, Contacts, ObjectStates, SuctionState, WorldObjects
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState as JointStateMsg

from handiwork_core.model.geometry import Pose, frozen
from handiwork_core.model.world import ObjectState
from handiwork_ros.cdr.row_reader import ContactsDecoder, StatesDecoder
from handiwork_ros.conversions import (
    object_states_to_msg,
    suction_state_from_msg,
    world_objects_from_msg,
)
from handiwork_ros.intake.topic_intake import JointIntake, TopicIntake

ZERO = frozen((0.0, 0.0, 0.0))
NAMES = ["j1", "j2", "j3"]


def joints(*position: float, names: list[str] = NAMES, velocity: tuple[float, ...] = ()) -> bytes:
    message = JointStateMsg(name=list(names), position=list(position), velocity=list(velocity))
    return serialize_message(message)


def states(change: Callable[[ObjectStates], None] = lambda _: None, version: int = 3) -> bytes:
    here = {name: ObjectState(Pose.of((1.0, 2.0, 3.0)), ZERO, ZERO, 0.0) for name in ("cup", "tray")}
    message = object_states_to_msg(here, version, 1.5)
    change(message)
    return serialize_message(message)


def of_joints() -> tuple[JointIntake, list[str]]:
    said: list[str] = []
    return JointIntake(NAMES, threading.Lock(), said.append), said


def of(read: Any, empty: Any) -> tuple[TopicIntake[Any], list[str]]:
    said: list[str] = []
    return TopicIntake("topic", read, empty, threading.Lock(), said.append), said


BAD_JOINTS = {
    "nan": (joints(0.0, math.nan, 0.0), "nan"),
    "infinite": (joints(0.0, math.inf, -math.inf), "inf"),
    "nan velocity": (joints(0.0, 0.0, 0.0, velocity=(0.0, math.nan, 0.0)), "velocity"),
    "too few": (joints(0.0, 0.0), "2 numbers for 3 names"),
    "too many velocities": (joints(0.0, 0.0, 0.0, velocity=(1.0,) * 4), "4 numbers"),
    "a name twice": (joints(0.0, 0.0, names=["j1", "j1"]), "'j1' twice"),
    "no names": (joints(names=[]), "empty"),
    "an unfilled message": (serialize_message(JointStateMsg()), "empty"),
    "cut short": (joints(0.0, 0.0, 0.0)[:20], ""),
    "nothing": (b"", ""),
}


@pytest.mark.parametrize("case", BAD_JOINTS)
def test_bad_joints_are_dropped_and_the_last_good_ones_stay(case: str) -> None:
    bad, words = BAD_JOINTS[case]
    intake, said = of_joints()
    intake.offer([(joints(1.0, 2.0, 3.0), 1, 10.0)])
    for k in range(5):
        intake.offer([(bad, 2 + k, 11.0 + k)])
    assert intake.value().position == {"j1": 1.0, "j2": 2.0, "j3": 3.0}
    assert intake.heard_s() == 10.0
    assert (intake.counter.received, intake.counter.dropped) == (6, 5)
    assert words in intake.counter.last_fault and intake.counter.last_fault
    assert len(said) == 1 and "joint_states" in said[0]
    intake.offer([(joints(4.0, 5.0, 6.0), 99, 20.0)])
    assert intake.value().position["j1"] == 4.0 and intake.heard_s() == 20.0


def test_efforts_that_were_not_measured_are_no_fault() -> None:
    intake, _ = of_joints()
    message = JointStateMsg(name=NAMES, position=[1.0] * 3, velocity=[0.0] * 3, effort=[math.nan] * 3)
    intake.offer([(serialize_message(message), 1, 10.0)])
    assert intake.value().position["j3"] == 1.0 and intake.counter.dropped == 0


def test_two_publishers_of_joints_of_one_length_are_read_each_by_its_layout() -> None:
    intake, _ = of_joints()
    for k in range(4):
        intake.offer([(joints(0.1 * k, 0.0, 0.0), 10 + k, 1.0 + k)])
        intake.offer([(joints(7.0, 8.0, 9.0, names=["k1", "k2", "k3"]), 1 + k, 1.5 + k)])
    assert intake.value().position == pytest.approx(
        {"j1": 0.3, "j2": 0.0, "j3": 0.0, "k1": 7.0, "k2": 8.0, "k3": 9.0}
    )
    assert intake.contested(5.0) == ()


def put(value: float) -> Callable[[ObjectStates], None]:
    return lambda message: setattr(message.states[1].pose.position, "x", value)


def turned(message: ObjectStates) -> None:
    message.states[0].pose.orientation.w = 0.5


def twice(message: ObjectStates) -> None:
    message.states[1].name = "cup"


BAD_STATES = {
    "nan": (states(put(math.nan)), "nan"),
    "no unit quaternion": (states(turned), "norm 0.5"),
    "a name twice": (states(twice), "'cup' twice"),
    "version zero": (states(version=0), "version is 0"),
    "an unfilled message": (serialize_message(ObjectStates()), "version is 0"),
    "cut short": (states()[:40], ""),
    "nothing": (b"", ""),
}


@pytest.mark.parametrize("case", BAD_STATES)
def test_bad_states_are_dropped_and_the_last_good_ones_stay(case: str) -> None:
    bad, words = BAD_STATES[case]
    intake, said = of(StatesDecoder(), {})
    intake.offer([(states(), 1, 10.0)])
    for k in range(3):
        intake.offer([(bad, 2 + k, 11.0 + k)])
        assert set(intake.value()) == {"cup", "tray"} and intake.heard_s() == 10.0
    assert intake.counter.dropped == 3 and words in intake.counter.last_fault
    assert len(said) == 1
    intake.offer([(states(put(5.0)), 9, 20.0)])
    assert intake.value()["tray"].world_T_object.translation_m[0] == 5.0


def test_the_newest_good_message_of_several_is_kept() -> None:
    intake, _ = of(StatesDecoder(), {})
    found = [(states(put(x)), k + 1, 10.0 + k) for k, x in enumerate((1.0, 2.0, math.nan, math.nan))]
    intake.offer(found)
    assert intake.value()["tray"].world_T_object.translation_m[0] == 2.0
    assert intake.heard_s() == 11.0
    assert (intake.counter.received, intake.counter.dropped) == (3, 2)


def test_bad_contacts_geometry_and_cups_are_dropped() -> None:
    touch = Contact(a="cup", b="tray")
    touch.point.z = math.inf
    contacts, _ = of(ContactsDecoder(), None)
    contacts.offer([(serialize_message(Contacts(contacts=[touch])), 1, 1.0)])
    assert contacts.value() is None and "point" in contacts.counter.last_fault
    geometry, _ = of(world_objects_from_msg, {})
    geometry.offer([(WorldObjects(), 1, 1.0)])
    assert geometry.message is None and "version" in geometry.counter.last_fault
    cup, _ = of(suction_state_from_msg, None)
    cup.offer([(SuctionState(force=math.nan), 1, 1.0)])
    assert cup.value() is not None  # nan: not measured
    cup.offer([(SuctionState(force=math.inf, sealed=True), 2, 2.0)])
    assert not cup.value().sealed and "force" in cup.counter.last_fault


def test_the_callback_of_a_subscription_never_raises() -> None:
    intake, _ = of(StatesDecoder(), {})
    intake.take(b"\x00\x01nonsense", {"publication_sequence_number": 1})
    intake.take(b"", {})
    assert intake.counter.dropped == 2
