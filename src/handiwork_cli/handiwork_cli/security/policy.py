"""A policy of SROS2 (``ros2 security generate_artifacts -p``): one enclave for each process. No ROS."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from .interfaces import NodeInterfaces

VERSION = "0.2.0"
ENCLAVES = "/handiwork"
"""Path of the enclaves; a process's own one is below it."""

LISTS = (
    ("topics", "topic", "publish", "publishes"),
    ("topics", "topic", "subscribe", "subscribes"),
    ("topics", "topic", "subscribe", "subscribes_on_demand"),
    ("services", "service", "reply", "serves"),
    ("services", "service", "request", "calls"),
    ("actions", "action", "execute", "executes"),
    ("actions", "action", "call", "sends_goals"),
)
"""Elements and attribute of the policy's format, and the field of ``Interfaces``."""


def policy_text(nodes: Sequence[NodeInterfaces]) -> str:
    """Return the policy as XML.

    Args:
        nodes: Nodes of the whole stack; those of one process share its enclave.
    """
    root = Xml.Element("policy", {"version": VERSION})
    enclaves = Xml.SubElement(root, "enclaves")
    for process in dict.fromkeys(node.process for node in nodes):
        enclave = Xml.SubElement(enclaves, "enclave", {"path": f"{ENCLAVES}/{process}"})
        profiles = Xml.SubElement(enclave, "profiles")
        for node in (one for one in nodes if one.process == process):
            _add_profile(profiles, node)
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _add_profile(profiles: Xml.Element, node: NodeInterfaces) -> None:
    profile = Xml.SubElement(profiles, "profile", {"ns": "/", "node": node.node})
    for group, item, right, name in LISTS:
        allowed: tuple[str, ...] = getattr(node.interfaces, name)
        if allowed:
            listed = Xml.SubElement(profile, group, {right: "ALLOW"})
            for one in allowed:
                Xml.SubElement(listed, item).text = one
