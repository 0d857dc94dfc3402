"""Conversions of joints, objects, object states and contacts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from geometry_msgs.msg import Point, Twist
from handiwork_msgs.msg import Contact as ContactMsg
from handiwork_msgs.msg import Contacts, ObjectStates, WorldObjects
from handiwork_msgs.msg import ObjectState as ObjectStateMsg
from handiwork_msgs.msg import WorldObject as WorldObjectMsg
from sensor_msgs.msg import JointState as JointStateMsg
from std_msgs.msg import Header

from handiwork_core.intake.counters import duplicate_name
from handiwork_core.intake.limits import (
    CONTACTS,
    JOINTS,
    NAME_CHARACTERS,
    OBJECTS,
    SHAPES_PER_OBJECT,
)
from handiwork_core.model.geometry import Array
from handiwork_core.model.outcome import Code
from handiwork_core.model.world import (
    Contact,
    JointState,
    ObjectState,
    WorldObject,
)
from handiwork_core.scene.covariance import read_covariance

from .articulation import articulation_from_msg, articulation_to_msg
from .pose import (
    BadMessage,
    at_most,
    finite,
    pose_from_msg,
    pose_to_msg,
    time_from_msg,
    time_to_msg,
    vector_from_msg,
    vector_to_msg,
)
from .shape import shape_from_msg, shape_to_msg

WORLD = "world"
"""The frame of all messages of the world."""


def joint_state_from_msg(msg: JointStateMsg, field: str = "joint_state") -> JointState:
    """Read positions and, if given, velocities by joint name.

    Args:
        msg: The message.
        field: Name of the message in error texts.

    Raises:
        BadMessage: Lengths differ, a number is not finite, a name occurs twice, or there are too many joints.
    """
    _check_names(msg.name, f"{field}.name")
    at_most(f"{field}.name", len(msg.name), JOINTS, "names")
    position = _by_name(msg.name, msg.position, f"{field}.position")
    velocity = _by_name(msg.name, msg.velocity, f"{field}.velocity") if msg.velocity else {}
    return JointState(time_from_msg(msg.header.stamp), position, velocity)


def joint_state_to_msg(joints: JointState) -> JointStateMsg:
    """Write joints; velocities only when every joint has one.

    Args:
        joints: The joints.
    """
    msg = JointStateMsg(header=Header(stamp=time_to_msg(joints.stamp_s)), name=list(joints.position))
    msg.position = [float(v) for v in joints.position.values()]
    if all(name in joints.velocity for name in joints.position):
        msg.velocity = [float(joints.velocity[name]) for name in joints.position]
    return msg


def world_object_from_msg(msg: WorldObjectMsg, field: str = "object") -> WorldObject:
    """Read one object.

    Args:
        msg: The message.
        field: Name of the message in error texts.

    Raises:
        BadMessage: The name is empty or too long, or a shape is missing or malformed, or the mass or the joint is
            malformed.
    """
    if not msg.name:
        raise BadMessage(f"{field}.name", "is empty; name the object", Code.BAD_GOAL)
    at_most(f"{field}.name", len(msg.name), NAME_CHARACTERS, "characters")
    at_most(f"{field}.shapes", len(msg.shapes), SHAPES_PER_OBJECT, "shapes")
    if not msg.shapes:
        raise BadMessage(
            f"{field}.shapes", f"of {msg.name!r} is empty; give it at least one shape", Code.BAD_GOAL
        )
    shapes = tuple(shape_from_msg(s, f"{field}.shapes[{i}]") for i, s in enumerate(msg.shapes))
    mass = float(finite((msg.mass,), f"{field}.mass")[0])
    joint = articulation_from_msg(msg.articulation, f"{field}.articulation")
    return WorldObject(msg.name, shapes, bool(msg.is_static), mass, joint)


def world_object_to_msg(item: WorldObject) -> WorldObjectMsg:
    """Write one object.

    Args:
        item: The object.
    """
    shapes = [shape_to_msg(s) for s in item.shapes]
    msg = WorldObjectMsg(name=item.name, shapes=shapes, is_static=item.is_static, mass=float(item.mass_kg))
    msg.articulation = articulation_to_msg(item.articulation)
    return msg


def world_objects_from_msg(msg: WorldObjects) -> dict[str, WorldObject]:
    """Read the geometry of the world; its version is ``msg.version``.

    Args:
        msg: The message.

    Returns:
        The objects by name.

    Raises:
        BadMessage: The version is zero, an object is malformed, a name occurs twice, or there are too many objects.
    """
    _check_version(msg.version)
    _check_names([item.name for item in msg.objects], "objects")
    at_most("objects", len(msg.objects), OBJECTS, "objects")
    items = (world_object_from_msg(o, f"objects[{i}]") for i, o in enumerate(msg.objects))
    return {item.name: item for item in items}


def world_objects_to_msg(objects: Iterable[WorldObject], version: int, stamp_s: float) -> WorldObjects:
    """Write the geometry of the world.

    Args:
        objects: The objects.
        version: Version of the geometry, counted from 1.
        stamp_s: Time of the message, s.
    """
    return WorldObjects(
        header=_header(stamp_s), version=version, objects=[world_object_to_msg(o) for o in objects]
    )


def object_states_from_msg(msg: ObjectStates) -> dict[str, ObjectState]:
    """Read poses and twists of objects.

    Args:
        msg: The message.

    Returns:
        The states by object name.

    Raises:
        BadMessage: The version is zero, a number is not finite, a quaternion is no unit quaternion, an age is
            negative, a covariance is none, a name occurs twice, or there are too many states.
    """
    _check_version(msg.version)
    _check_names([item.name for item in msg.states], "states")
    at_most("states", len(msg.states), OBJECTS, "states")
    stamp_s = time_from_msg(msg.header.stamp)
    states = {}
    for i, s in enumerate(msg.states):
        field = f"states[{i}]"
        states[s.name] = ObjectState(
            pose_from_msg(s.pose, f"{field}.pose"),
            vector_from_msg(s.twist.linear, f"{field}.twist.linear"),
            vector_from_msg(s.twist.angular, f"{field}.twist.angular"),
            stamp_s - _age(s, field),
            _covariance(s, field),
        )
    return states


def object_states_to_msg(states: Mapping[str, ObjectState], version: int, stamp_s: float) -> ObjectStates:
    """Write poses and twists of objects.

    Args:
        states: The states by object name.
        version: Version of the world's geometry, counted from 1.
        stamp_s: Time of the message, s; states that were measured before have an age.
    """
    msg = ObjectStates(header=_header(stamp_s), version=version)
    for name, state in states.items():
        twist = Twist(linear=vector_to_msg(state.world_v_object), angular=vector_to_msg(state.world_w_object))
        one = ObjectStateMsg(name=name, pose=pose_to_msg(state.world_T_object), twist=twist)
        if state.stamp_s < stamp_s:
            one.age = stamp_s - state.stamp_s
        if state.pose_covariance is not None:
            one.pose_covariance = state.pose_covariance.ravel().tolist()
        msg.states.append(one)
    return msg


def contacts_from_msg(msg: Contacts) -> tuple[Contact, ...]:
    """Read contacts; their time is the header's stamp.

    Args:
        msg: The message.

    Raises:
        BadMessage: There are too many contacts or a number is not finite.
    """
    at_most("contacts", len(msg.contacts), CONTACTS, "contacts")
    return tuple(
        Contact(
            c.a,
            c.b,
            vector_from_msg(c.force, f"contacts[{i}].force"),
            vector_from_msg(c.point, f"contacts[{i}].point"),
        )
        for i, c in enumerate(msg.contacts)
    )


def contacts_to_msg(contacts: Iterable[Contact], stamp_s: float) -> Contacts:
    """Write contacts.

    Args:
        contacts: The contacts.
        stamp_s: Time of the contacts, s.
    """
    msg = Contacts(header=_header(stamp_s))
    for c in contacts:
        x, y, z = (float(v) for v in c.point_m)
        force = vector_to_msg(c.force_on_a_n)
        msg.contacts.append(ContactMsg(a=c.a, b=c.b, force=force, point=Point(x=x, y=y, z=z)))
    return msg


def _age(msg: ObjectStateMsg, field: str) -> float:
    (age,) = finite((msg.age,), f"{field}.age").tolist()
    if age < 0.0:
        text = f"of {msg.name!r} is {age:g}; send the time from the measurement to the stamp, 0 or more [s]"
        raise BadMessage(f"{field}.age", text)
    return float(age)


def _covariance(msg: ObjectStateMsg, field: str) -> Array | None:
    if not msg.pose_covariance:
        return None
    try:
        return read_covariance(msg.pose_covariance)
    except ValueError as error:
        raise BadMessage(f"{field}.pose_covariance", f"of {msg.name!r} {error}") from error


def _by_name(names: list[str], values: object, field: str) -> dict[str, float]:
    array = finite(values, field)
    if len(names) != array.size:
        raise BadMessage(
            field, f"has {array.size} numbers for {len(names)} names; send one each", Code.BAD_GOAL
        )
    return dict(zip(names, array.tolist(), strict=True))


def _check_names(names: Sequence[str], field: str) -> None:
    if double := duplicate_name(names):
        raise BadMessage(field, f"has {double!r} twice; send each once", Code.BAD_GOAL)


def _check_version(version: int) -> None:
    if not version:
        raise BadMessage("version", "is 0, as in a message that was never filled; count versions from 1")


def _header(stamp_s: float) -> Header:
    return Header(stamp=time_to_msg(stamp_s), frame_id=WORLD)
