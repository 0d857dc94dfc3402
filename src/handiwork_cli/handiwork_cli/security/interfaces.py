"""The table of ``config/interfaces.yaml``: topics, services and actions of each node. No ROS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from handiwork_core.config.dataclass_loader import load
from handiwork_core.robot.robot import Robot

ACTION_HOST = "_actions"
"""The suffix of the node that serves a process's actions."""


@dataclass(frozen=True, slots=True)
class Interfaces:
    """Names of one node's interfaces, as in the table: relative, ``~`` for the node, with placeholders."""

    publishes: tuple[str, ...] = ()
    subscribes: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    executes: tuple[str, ...] = ()
    sends_goals: tuple[str, ...] = ()
    executes_on_host: tuple[str, ...] = ()
    """The actions of the process's second node."""
    subscribes_on_demand: tuple[str, ...] = ()
    """Topics that it subscribes to while a goal needs them."""

    def joined(self, other: Interfaces) -> Interfaces:
        """Return the interfaces of both.

        Args:
            other: The other interfaces.
        """
        return Interfaces(*((*getattr(self, f.name), *getattr(other, f.name)) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class InterfaceTable:
    """The whole file."""

    every_node: Interfaces
    action_host: Interfaces
    client: Interfaces
    nodes: dict[str, Interfaces] = field(default_factory=dict)
    programs: dict[str, Interfaces] = field(default_factory=dict)
    """Programs without a lifecycle, whose names are those of their enclaves."""


EVENTS = ("send_goal", "get_result")
"""The services of an action whose events its server publishes for recorders."""


@dataclass(frozen=True, slots=True)
class NodeInterfaces:
    """Interfaces of one ROS node of a process with its full names, each of which begins with a slash."""

    process: str
    node: str
    interfaces: Interfaces


def load_table(path: Path) -> InterfaceTable:
    """Read the table.

    Args:
        path: The file.

    Raises:
        ConfigError: The file is faulty; the message has every fault with its key.
    """
    return load(InterfaceTable, path)


def nodes_of(table: InterfaceTable, robot: Robot) -> tuple[NodeInterfaces, ...]:
    """Return the nodes of a stack for a robot, with full names.

    Args:
        table: The table of interfaces.
        robot: The robot, whose arms, grippers and suction cups fill the placeholders.
    """
    found = []
    names = _placeholders(robot)
    for process, own in table.nodes.items():
        hosted = own.executes_on_host
        main = replace(own.joined(table.every_node), executes_on_host=())
        found.append(_full(process, process, main, names))
        if hosted:
            host = replace(table.action_host, executes=hosted)
            found.append(_full(process, process + ACTION_HOST, host, names))
    found.append(_full("client", "client", table.client, names))
    found += (_full(name, name, own, names) for name, own in table.programs.items())
    return tuple(found)


def _placeholders(robot: Robot) -> Mapping[str, tuple[str, ...]]:
    tools = [arm.gripper for arm in robot.arms.values() if arm.gripper is not None]
    base = () if robot.base is None else (robot.base.name,)
    server = robot.navigation
    return {
        "{arm}": (*robot.arms, *base),
        "{navigation}": () if server is None else (server.action.removeprefix("/"),),
        "{admittance}": tuple(f"{name}_admittance" for name in robot.arms),
        "{sensor}": tuple(f"{name}_force_torque_sensor" for name in robot.arms),
        "{gripper}": tuple(tool.name for tool in tools if tool.suction is None),
        "{suction}": tuple(tool.name for tool in tools if tool.suction is not None),
    }


def _full(process: str, node: str, own: Interfaces, names: Mapping[str, tuple[str, ...]]) -> NodeInterfaces:
    events = (f"{action}/_action/{service}/_service_event" for action in own.executes for service in EVENTS)
    own = replace(own, publishes=(*own.publishes, *events))
    lists = (tuple(sorted(set(_expanded(getattr(own, f.name), node, names)))) for f in fields(own))
    return NodeInterfaces(process, node, Interfaces(*lists))


def _expanded(templates: Iterable[str], node: str, names: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
    for template in templates:
        word = next((word for word in names if word in template), "")
        plain = [template.replace(word, name) for name in names[word]] if word else [template]
        for text in plain:
            named = text.replace("{node}", node)
            yield f"/{node}{named[1:]}" if named.startswith("~") else f"/{named}"
