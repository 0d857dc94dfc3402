"""The Fast DDS profile of a process: which variable names its file, and which files this version of Fast DDS reads."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

OLD_VARIABLE, NEW_VARIABLE = "FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"
"""The variables of Fast DDS 2, and of 3, whose ROS warns of the old one."""
JAZZY, KILTED = "jazzy", "kilted"
RCLPY_OF_KILTED = 9
"""The first part of the version of its rclpy; Jazzy has 7."""


def ros_distro(environment: Mapping[str, str]) -> str:
    """Return the name of the ROS distribution.

    Args:
        environment: Its ``ROS_DISTRO`` decides; the wheels set none, and tell by the version of their rclpy.
    """
    if distro := environment.get("ROS_DISTRO"):
        return distro
    try:
        return KILTED if int(version("ros-rclpy").split(".")[0]) >= RCLPY_OF_KILTED else JAZZY
    except (PackageNotFoundError, ValueError):
        return JAZZY


def has_fast_dds_3(environment: Mapping[str, str]) -> bool:
    """Check whether the ROS of an environment has Fast DDS 3, as all have from Kilted on.

    Args:
        environment: See ``ros_distro``.
    """
    return ros_distro(environment) != JAZZY


def profile_variable(environment: Mapping[str, str]) -> str:
    """Return the name of the variable that names the file of the profile.

    Args:
        environment: See ``ros_distro``.
    """
    return NEW_VARIABLE if has_fast_dds_3(environment) else OLD_VARIABLE


def has_own_profile(environment: Mapping[str, str]) -> bool:
    """Check whether the user has chosen a profile, by a variable that this version reads: Fast DDS 2 has no new one.

    Args:
        environment: The user's environment.
    """
    return OLD_VARIABLE in environment or (NEW_VARIABLE in environment and has_fast_dds_3(environment))


def profile_file(name: str, environment: Mapping[str, str]) -> str:
    """Return the path of a profile below ``config/dds``.

    Fast DDS 3 has other names for the periods of a writer, and drops a file with one that it does not know.

    Args:
        name: ``localhost``, ``fast`` or ``lossy``.
        environment: See ``ros_distro``.
    """
    folder = "fast_dds_3/" if name != "localhost" and has_fast_dds_3(environment) else ""
    return f"{folder}{name}.xml"
