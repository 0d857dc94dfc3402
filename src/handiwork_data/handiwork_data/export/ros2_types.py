"""Definitions of the messages of an exported recording, in the format ros2msg; a test compares them with ROS."""

from __future__ import annotations

LINE = "=" * 80

PARTS = {
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id\n",
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec\n",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z\n",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z\n",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w\n",
    "geometry_msgs/Pose": "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation\n",
    "geometry_msgs/Twist": "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular\n",
    "geometry_msgs/Transform": "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation\n",
    "geometry_msgs/TransformStamped": (
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform\n"
    ),
    "handiwork_msgs/ObjectState": (
        "string name\ngeometry_msgs/Pose pose\ngeometry_msgs/Twist twist\nfloat64 age\nfloat64[] pose_covariance\n"
    ),
}
"""Fields of the types inside messages."""

MESSAGES = {
    "sensor_msgs/msg/JointState": (
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n"
    ),
    "handiwork_msgs/msg/ObjectStates": (
        "std_msgs/Header header\nuint64 version\nhandiwork_msgs/ObjectState[] states\n"
    ),
    "tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms\n",
    "sensor_msgs/msg/CompressedImage": "std_msgs/Header header\nstring format\nuint8[] data\n",
    "std_msgs/msg/String": "string data\n",
}
"""Fields of the messages."""


def definition_of(name: str) -> str:
    """Return the definition of a message, followed by those of the types in it.

    Args:
        name: Name such as ``sensor_msgs/msg/JointState``.
    """
    text, todo, done = MESSAGES[name], _inner(MESSAGES[name]), set[str]()
    while todo:
        part = todo.pop(0)
        if part in done:
            continue
        done.add(part)
        text += f"{LINE}\nMSG: {part}\n{PARTS[part]}"
        todo += _inner(PARTS[part])
    return text


def _inner(fields: str) -> list[str]:
    kinds = (line.split()[0].removesuffix("[]") for line in fields.splitlines())
    return [kind for kind in kinds if kind in PARTS]
