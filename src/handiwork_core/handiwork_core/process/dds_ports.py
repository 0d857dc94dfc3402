"""A check whether a process can join its DDS domain, by the UDP port of the participants' discovery. No ROS.

RTPS fixes that port for each domain; participants share it. If a program holds it without sharing, Fast DDS still
creates the participant: such a process discovers no others, no others discover it, and it reports nothing. Taken ports
of single participants do no harm, since Fast DDS then takes others and announces them.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping

PORT_BASE, DOMAIN_GAIN = 7400, 250
LARGEST_DOMAIN = 232


def domain_of(environment: Mapping[str, str]) -> int:
    """Return the domain that ROS 2 will use.

    Args:
        environment: Environment variables.

    Raises:
        ValueError: ROS_DOMAIN_ID is no number, or one without ports.
    """
    text = environment.get("ROS_DOMAIN_ID") or "0"
    if not text.isdigit() or int(text) > LARGEST_DOMAIN:
        raise ValueError(f"ROS_DOMAIN_ID is {text!r}; give a whole number from 0 to {LARGEST_DOMAIN}")
    return int(text)


def discovery_port(domain: int) -> int:
    """Return the UDP port on which all participants of a domain discover each other: PB + DG * domain (DDSI-RTPS).

    Args:
        domain: The domain, 0 to ``LARGEST_DOMAIN``.
    """
    return PORT_BASE + DOMAIN_GAIN * domain


def fault_of(environment: Mapping[str, str]) -> str:
    """Return the reason why a process cannot join its domain.

    Args:
        environment: Environment variables.

    Returns:
        One sentence; empty if the process can join.
    """
    try:
        domain = domain_of(environment)
    except ValueError as error:
        return str(error)
    uses_port = "zenoh" not in environment.get("RMW_IMPLEMENTATION", "")
    if not uses_port or environment.get("ROS_DISCOVERY_SERVER") or _can_share(discovery_port(domain)):
        return ""
    return (
        f"UDP port {discovery_port(domain)}, on which nodes of ROS_DOMAIN_ID {domain} find each other, is taken by a"
        " program that does not share it; end that program (`ss -ulpn` names it), or set another ROS_DOMAIN_ID"
    )


def _can_share(port: int) -> bool:
    """Check whether a socket can be bound as DDS binds it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("", port))
        except OSError:
            return False
    return True
