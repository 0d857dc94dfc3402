"""Environment of the nodes: quick discovery on this machine alone, unless the user sets something else."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from handiwork_cli.launch_files.package_paths import share_of
from handiwork_core.config.dataclass_loader import ConfigError
from handiwork_core.process.dds_ports import fault_of
from handiwork_core.process.dds_profiles import has_own_profile, profile_file, profile_variable
from handiwork_core.process.writable_folders import choose_log_folder

LOCAL_PROFILE, OPEN_PROFILE = "localhost", "fast"
"""The Fast DDS profiles in ``config/dds``: with sockets on the loopback address alone, and on all addresses."""

RANGE, PEERS = "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS"
FAST_DDS = "rmw_fastrtps"


def with_ros_defaults(environment: Mapping[str, str]) -> dict[str, str]:
    """Add the variables that the user has not set; the rules are those of ``discovery.launch.xml``.

    Fast DDS finds peers within half a second, and detects dead ones within four, by the profiles in ``config/dds``.
    Logs get another folder when ROS 2 cannot write to its own.

    Args:
        environment: The user's environment.

    Returns:
        The environment for the nodes.

    Raises:
        ConfigError: No process can join the domain; the message gives the reason.
    """
    if fault := fault_of(environment):
        raise ConfigError("environment", [fault])
    folder, text = choose_log_folder(environment)
    if text:
        sys.stderr.write(f"{text}\n")
    logs = {"ROS_LOG_DIR": str(folder)} if text and folder is not None else {}
    return {"PYTHONUNBUFFERED": "1", **environment, **_discovery(environment), **logs}


def _discovery(environment: Mapping[str, str]) -> dict[str, str]:
    """Return range, transport and profile: on this machine alone, unless the environment names more.

    The range LOCALHOST of ROS 2 would add shared memory with Fast DDS. That is left behind when a process is killed,
    and a process that is suspended in it stops its peers; so the profile alone confines Fast DDS.
    """
    reach = environment.get(RANGE, "LOCALHOST")
    is_local = reach == "LOCALHOST" and not environment.get(PEERS)
    if (
        is_local
        and environment.get("RMW_IMPLEMENTATION", FAST_DDS).startswith(FAST_DDS)
        and not has_own_profile(environment)
    ):
        reach = "SYSTEM_DEFAULT"
    made = {
        RANGE: reach,
        "FASTDDS_BUILTIN_TRANSPORTS": environment.get("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4"),
    }
    if not has_own_profile(environment):
        file = profile_file(LOCAL_PROFILE if is_local else OPEN_PROFILE, environment)
        made[profile_variable(environment)] = str(share_of("handiwork_bringup") / "config/dds" / file)
    return made
