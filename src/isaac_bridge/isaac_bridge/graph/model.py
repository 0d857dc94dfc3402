"""A graph as a table: nodes by their types, values of their inputs, connections."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Targets:
    """Prims as the value of an input.

    Attributes:
        paths: Paths of the prims.
    """

    paths: tuple[str, ...]


Value = bool | int | float | str | Targets


@dataclass(frozen=True, slots=True)
class Node:
    """A node with values of its inputs.

    Attributes:
        name: Name of the node.
        type: Its type.
        values: Name of the input and its value.
    """

    name: str
    type: str
    values: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A connection from an output of a node to an input of another.

    Attributes:
        source: Name of the node that writes.
        output: Its output.
        sink: Name of the node that reads.
        input: Its input.
    """

    source: str
    output: str
    sink: str
    input: str


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph on demand, which runs once in each physics step.

    Attributes:
        path: Path of the graph on the stage.
        nodes: Its nodes.
        links: Its connections.
    """

    path: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
