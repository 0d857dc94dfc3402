"""Time to read and write serialized messages: our codec beside rclpy's own conversion.

``new names``: the objects and joints of every message differ from those of the message before.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Quaternion, TransformStamped, Vector3
from geometry_msgs.msg import Pose as PoseMsg
from handiwork_msgs.msg import Contact, Contacts, ObjectState, ObjectStates
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from benchmarks.mbm.rows import markdown
from handiwork_core.model.geometry import Array
from handiwork_ros.cdr.formats import CONTACTS, OBJECT_STATES
from handiwork_ros.cdr.message_reader import FrameReader, JointReader, text_from_bytes
from handiwork_ros.cdr.row_reader import ContactsDecoder, StatesDecoder
from handiwork_ros.cdr.row_writer import JointWriter, RowWriter
from handiwork_ros.conversions import contacts_from_msg, object_states_from_msg
from tf2_msgs.msg import TFMessage

from .clocked import HEADS, clocked, words

BATCH = 100
"""Messages that are timed together, since one takes less than the clock resolves."""
TURNED = Quaternion(x=0.0, y=0.6, z=0.0, w=0.8)


def states(rng: np.random.Generator, count: int, prefix: str = "object") -> ObjectStates:
    """Return the states of objects at random places.

    Args:
        rng: Random numbers.
        count: Number of objects.
        prefix: Beginning of their names.
    """
    message = ObjectStates(version=3)
    message.header.frame_id = "world"
    for index in range(count):
        pose = PoseMsg(position=Point(x=rng.normal(), y=rng.normal(), z=rng.normal()), orientation=TURNED)
        message.states.append(ObjectState(name=f"{prefix}_{index}", pose=pose))
    return message


def measured(rng: np.random.Generator, count: int, prefix: str = "object") -> ObjectStates:
    """Return the states of objects at random places with covariances that all differ.

    Args:
        rng: Random numbers.
        count: Number of objects.
        prefix: Beginning of their names.
    """
    message = states(rng, count, prefix)
    for state in message.states:
        factor = 0.01 * rng.normal(size=(6, 6))
        state.pose_covariance = (factor @ factor.T).ravel().tolist()
    return message


def contacts(rng: np.random.Generator, count: int, prefix: str = "object") -> Contacts:
    """Return contacts of objects with a table.

    Args:
        rng: Random numbers.
        count: Number of contacts.
        prefix: Beginning of the names of the objects.
    """
    message = Contacts()
    message.header.frame_id = "world"
    for index in range(count):
        message.contacts.append(
            Contact(
                a=f"{prefix}_{index}", b="table", force=Vector3(z=rng.normal()), point=Point(x=rng.normal())
            )
        )
    return message


def joints(rng: np.random.Generator, count: int, prefix: str = "fr3_joint") -> JointState:
    """Return measured joints.

    Args:
        rng: Random numbers.
        count: Number of joints.
        prefix: Beginning of their names.
    """
    message = JointState(name=[f"{prefix}{index}" for index in range(count)])
    message.position, message.velocity, message.effort = rng.normal(size=(3, count)).tolist()
    return message


def transforms(rng: np.random.Generator, count: int, prefix: str = "object") -> TFMessage:
    """Return transforms of objects in the world.

    Args:
        rng: Random numbers.
        count: Number of transforms.
        prefix: Beginning of the names of the objects.
    """
    message = TFMessage()
    for index in range(count):
        item = TransformStamped(child_frame_id=f"{prefix}_{index}")
        item.header.frame_id, item.transform.translation.x, item.transform.rotation = (
            "world",
            rng.normal(),
            TURNED,
        )
        message.transforms.append(item)
    return message


def moving(make: Callable[..., Any], count: int, *, is_renamed: bool) -> list[bytes]:
    """Return a batch of serialized messages whose numbers all differ.

    Args:
        make: Makes one message from random numbers, a count and the beginning of names.
        count: Number of rows of each message.
        is_renamed: The names differ as well.
    """
    rng = np.random.default_rng(0)
    prefixes = [f"{index:03d}" if is_renamed else "name" for index in range(BATCH)]
    return [serialize_message(make(rng, count, prefix)) for prefix in prefixes]


def partly_moving(count: int) -> list[bytes]:
    """Return a batch of serialized object states of which one object moves.

    Args:
        count: Number of objects.
    """
    message, batch = states(np.random.default_rng(0), count), []
    for index in range(BATCH):
        message.states[0].pose.position.x = float(index)
        batch.append(serialize_message(message))
    return batch


def row(name: str, work: Callable[[Any], object], batch: Sequence[Any], runs: int) -> list[str]:
    """Return a row of the table.

    Args:
        name: Name of the row.
        work: Handles one item.
        batch: The items, handled one after the other.
        runs: Number of times that the batch is handled and timed.
    """

    def all_of(items: Sequence[Any]) -> None:
        for item in items:
            work(item)

    all_of(batch)
    _, spent = clocked(all_of, [batch] * runs)
    return [name, *words(spent / len(batch), 1e-6), f"{1e6 * spent.min() / len(batch):.3g}"]


def reading(count: int, joint_count: int) -> list[tuple[str, Callable[[Any], object], Sequence[bytes]]]:
    """Return the rows of reading: name, work, batch.

    Args:
        count: Number of objects, contacts and transforms.
        joint_count: Number of joints.
    """
    found = list[tuple[str, Callable[[Any], object], Sequence[bytes]]]()
    made = {
        "ObjectStates": (states, count, StatesDecoder()),
        "ObjectStates, covariances": (measured, count, StatesDecoder()),
        "Contacts": (contacts, count, ContactsDecoder()),
        "JointState": (joints, joint_count, JointReader().read),
        "TFMessage": (transforms, count, FrameReader().read),
    }
    for name, (make, rows, work) in made.items():
        for suffix, is_renamed in (("", False), (", new names", True)):
            found.append((f"read {name}{suffix}", work, moving(make, rows, is_renamed=is_renamed)))
    found.append(("read ObjectStates, one moves", StatesDecoder(), partly_moving(count)))
    found.append(("read String", text_from_bytes, [serialize_message(String(data="x" * 200))] * BATCH))
    plain = (
        ("ObjectStates", states, ObjectStates, object_states_from_msg),
        ("ObjectStates, covariances", measured, ObjectStates, object_states_from_msg),
        ("Contacts", contacts, Contacts, contacts_from_msg),
    )
    for name, make, kind, convert in plain:
        batch = moving(make, count, is_renamed=False)
        found.append(
            (f"rclpy: {name}", lambda data, k=kind, c=convert: c(deserialize_message(data, k)), batch)
        )
    for name, kind, batch in (
        ("JointState", JointState, moving(joints, joint_count, is_renamed=False)),
        ("TFMessage", TFMessage, moving(transforms, count, is_renamed=False)),
    ):
        found.append((f"rclpy: {name}", lambda data, k=kind: deserialize_message(data, k), batch))
    return found


def writing(count: int, joint_count: int) -> list[tuple[str, Callable[[Any], object], Sequence[Array]]]:
    """Return the rows of writing: name, work, batch.

    Args:
        count: Number of objects and contacts.
        joint_count: Number of joints.
    """
    names = tuple((f"object_{index}",) for index in range(count))
    pairs = tuple((f"object_{index}", "table") for index in range(count))
    of_states, of_contacts = RowWriter(OBJECT_STATES), RowWriter(CONTACTS)
    of_joints = JointWriter([f"fr3_joint{index}" for index in range(joint_count)])
    none, rng = np.empty(0), np.random.default_rng(0)
    return [
        ("write ObjectStates", lambda x: of_states.write(1.5, names, x, 3), list(rng.normal(size=(BATCH, count, 14)))),
        ("write Contacts", lambda x: of_contacts.write(1.5, pairs, x), list(rng.normal(size=(BATCH, count, 6)))),
        ("write JointState", lambda x: of_joints.write(1.5, x, x, none), list(rng.normal(size=(BATCH, joint_count)))),
    ]  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--objects", type=int, default=50)
    parser.add_argument("--joints", type=int, default=9)
    options = parser.parse_args()
    cases = [*reading(options.objects, options.joints), *writing(options.objects, options.joints)]
    lines = [row(name, work, batch, options.runs) for name, work, batch in cases]
    print(markdown((f"{options.objects} objects", *(f"us {head}" for head in HEADS), "us least"), lines))


if __name__ == "__main__":
    main()
