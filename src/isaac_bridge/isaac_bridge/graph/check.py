"""Compares a graph with the documentation of its nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from handiwork_core.config.dataclass_loader import nearest

from .model import Graph, Link, Node, Targets, Value
from .ogn_schema import Pins

FITS: Mapping[str, type | tuple[type, ...]] = {
    "bool": bool,
    "string": str,
    "target": Targets,
    "double": float,
    "uint": int,
    "uint64": int,
    "uchar": int,
}
"""The Python types of the values that an input type takes; inputs of other types need links."""


def graph_faults(graph: Graph, documented: Mapping[str, Pins]) -> list[str]:
    """Return every fault of a graph: unknown types and pins, unequal types, inputs without or with two sources, cycles.

    Args:
        graph: The graph.
        documented: Type of the node -> its inputs and outputs.

    Returns:
        One sentence for each fault.
    """
    faults = [f"node {name!r} is there twice" for name in _twice(node.name for node in graph.nodes)]
    known = {}
    for node in graph.nodes:
        if node.type not in documented:
            hint = nearest(node.type, list(documented))
            faults.append(f"node {node.name}: type {node.type!r} is not documented; {hint}")
        else:
            known[node.name] = documented[node.type]
            faults += _value_faults(node, documented[node.type])
    for link in graph.links:
        faults += _link_faults(link, known)
    ends = [f"{link.sink}.{link.input}" for link in graph.links if not _is_exec(link, known)]
    ends += [f"{node.name}.{name}" for node in graph.nodes for name, _ in node.values]
    faults += [f"input {end} has two sources" for end in _twice(ends)]
    given = {*ends, *(f"{link.sink}.{link.input}" for link in graph.links)}
    for name, pins in known.items():
        faults += [
            f"input {name}.{pin} has no source" for pin in pins.required if f"{name}.{pin}" not in given
        ]
    return faults + _cycles(graph)


def _twice(names: object) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]  # type: ignore[call-overload]


def _is_exec(link: Link, known: Mapping[str, Pins]) -> bool:
    return link.source in known and known[link.source].outputs.get(link.output) == "execution"


def _value_faults(node: Node, pins: Pins) -> list[str]:
    faults = []
    for name, value in node.values:
        kind = pins.inputs.get(name)
        if kind is None:
            faults.append(f"node {node.name}: has no input {name!r}; {nearest(name, list(pins.inputs))}")
        elif not _fits(kind, value):
            faults.append(f"input {node.name}.{name} is {value!r}, which is no {kind}")
    return faults


def _fits(kind: str, value: Value) -> bool:
    if kind not in FITS or (isinstance(value, bool) and kind != "bool"):
        return False
    return isinstance(value, FITS[kind]) and not (isinstance(value, int) and value < 0)


def _link_faults(link: Link, known: Mapping[str, Pins]) -> list[str]:
    ends = []
    for node, pin, side in ((link.source, link.output, "output"), (link.sink, link.input, "input")):
        if node not in known:
            return [f"link {link.source}.{link.output} to {link.sink}.{link.input}: no node {node!r}"]
        pins = known[node].outputs if side == "output" else known[node].inputs
        if pin not in pins:
            return [f"node {node}: has no {side} {pin!r}; {nearest(pin, list(pins))}"]
        ends.append(pins[pin])
    if ends[0] == ends[1]:
        return []
    return [
        f"link {link.source}.{link.output} ({ends[0]}) to {link.sink}.{link.input} ({ends[1]}): types differ"
    ]


def _cycles(graph: Graph) -> list[str]:
    before = {
        node.name: {link.source for link in graph.links if link.sink == node.name} for node in graph.nodes
    }
    while ready := [name for name, sources in before.items() if not sources & set(before)]:
        for name in ready:
            del before[name]
    return [f"nodes {sorted(before)} wait for each other"] if before else []
