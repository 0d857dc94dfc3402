"""A graph as a table: nodes by their types, values of their inputs, connections."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Targets:
    """Prims by their paths, as the value of an input."""

    paths: tuple[str, ...]


Value = bool | int | float | str | Targets


@dataclass(frozen=True, slots=True)
class Node:
    """``values`` by the names of inputs."""

    name: str
    type: str
    values: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """From an output of a node to an input of another."""

    source: str
    output: str
    sink: str
    input: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Runs once in each physics step, on demand."""

    path: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
