"""The table of the messages that the codec reads and writes: their fields in the order of the bytes.

A test compares each entry with the definition of its message.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from handiwork_msgs.msg import Contacts, ObjectStates
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from tf2_msgs.msg import TFMessage


@dataclass(frozen=True, slots=True)
class FieldType:
    """A type of fields.

    Args:
        name: Name in the definitions of messages.
        alignment: The offset of a field in the body is a multiple of this, bytes.
        size: Bytes of one field; 0 for a text, which is a count and so many bytes, the last one zero.
    """

    name: str
    alignment: int
    size: int


TEXT = FieldType("string", 4, 0)
TIME = FieldType("builtin_interfaces/Time", 4, 8)
UINT64 = FieldType("uint64", 8, 8)
FLOAT64 = FieldType("double", 8, 8)
FLOATS = FieldType("sequence<double>", 4, 4)
"""A list of numbers: its count, and the numbers. Lists are read; they are written empty."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field.

    Args:
        name: Path of the attribute in the message or in the entry of an array; empty: the entry is the field.
        type: Its type.
    """

    name: str
    type: FieldType


@dataclass(frozen=True)
class Block:
    """Fields that follow one another. Fields of one type have no other type between them; ``FLOATS`` come alone.

    Args:
        fields: The fields.
        array: Name of the array whose entries have these fields; empty: the message itself has them, once.
    """

    fields: tuple[Field, ...]
    array: str = ""

    @cached_property
    def runs(self) -> tuple[tuple[FieldType, int], ...]:
        """The types in order, each with the number of its fields."""
        return tuple((of, len(list(some))) for of, some in groupby(field.type for field in self.fields))

    @cached_property
    def numbers(self) -> int:
        """The number of fields of type ``FLOAT64``."""
        return dict(self.runs).get(FLOAT64, 0)


@dataclass(frozen=True)
class MessageFormat:
    """A message.

    Args:
        message: Class of the message.
        blocks: All its fields.
    """

    message: type
    blocks: tuple[Block, ...]

    @property
    def rows(self) -> Block:
        """The last block: the array of a message that has a single one."""
        return self.blocks[-1]


def _floats(name: str, parts: str) -> tuple[Field, ...]:
    return tuple(Field(f"{name}.{part}", FLOAT64) for part in parts)


_HEADER = (Field("header.stamp", TIME), Field("header.frame_id", TEXT))

OBJECT_STATES = MessageFormat(
    ObjectStates,
    (
        Block((*_HEADER, Field("version", UINT64))),
        Block(
            (
                Field("name", TEXT),
                *_floats("pose.position", "xyz"),
                *_floats("pose.orientation", "xyzw"),
                *_floats("twist.linear", "xyz"),
                *_floats("twist.angular", "xyz"),
                Field("age", FLOAT64),
                Field("pose_covariance", FLOATS),
            ),
            "states",
        ),
    ),
)
CONTACTS = MessageFormat(
    Contacts,
    (
        Block(_HEADER),
        Block(
            (Field("a", TEXT), Field("b", TEXT), *_floats("force", "xyz"), *_floats("point", "xyz")),
            "contacts",
        ),
    ),
)
TRANSFORMS = MessageFormat(
    TFMessage,
    (
        Block(
            (
                *_HEADER,
                Field("child_frame_id", TEXT),
                *_floats("transform.translation", "xyz"),
                *_floats("transform.rotation", "xyzw"),
            ),
            "transforms",
        ),
    ),
)
JOINT_ARRAYS = ("position", "velocity", "effort")
JOINT_STATE = MessageFormat(
    JointState,
    (
        Block(_HEADER),
        Block((Field("", TEXT),), "name"),
        *(Block((Field("", FLOAT64),), array) for array in JOINT_ARRAYS),
    ),
)
STRING = MessageFormat(String, (Block((Field("data", TEXT),)),))

FORMATS = (OBJECT_STATES, CONTACTS, TRANSFORMS, JOINT_STATE, STRING)
