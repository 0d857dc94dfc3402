"""Environment of the nodes: discovery that is quick and stays on this machine, unless the user says otherwise."""

from __future__ import annotations

from collections.abc import Mapping

from .package_paths import share_of


def with_ros_defaults(environment: Mapping[str, str]) -> dict[str, str]:
    """Add what the user has not set.

    Fast DDS finds peers within half a second, and notices dead ones within four, by the profile in ``config/dds``; UDP
    alone leaves no shared memory behind when a process is killed.
    """
    defaults = {
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4",
        "FASTRTPS_DEFAULT_PROFILES_FILE": str(share_of("handiwork_bringup") / "config/dds/fast.xml"),
        "PYTHONUNBUFFERED": "1",
    }
    return {**defaults, **environment}
