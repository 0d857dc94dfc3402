"""Writes a task as a tree of BehaviorTree.CPP, version 4 (https://www.behaviortree.dev/docs/learn-the-basics/xml_format)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

from handiwork_core.config.dataclass_loader import ConfigError, shown
from handiwork_core.robot.robot import Robot

from .model import (
    Barrier,
    Block,
    Check,
    Condition,
    Entry,
    ForEach,
    If,
    Node,
    Repeat,
    Retry,
    Task,
    TaskStep,
    Try,
)

Element = ElementTree.Element
CONDITION = "condition"
"""ID of the Condition nodes; their ports are ``expression`` and ``within_s``."""
FORBIDDEN = re.compile(r"[\s<>&\"'/\\:*?|.]")
"""Characters that no name of a tree, a node or a port may have."""
RESERVED = ("name", "ID")
TYPES = {bool: "bool", int: "int", float: "double", str: "std::string"}


def behavior_tree_xml(task: Task, source: str, robot: Robot) -> str:
    """Write a task as XML with the model of its nodes.

    Steps are Sequence and Parallel, ``try`` is Fallback, ``repeat`` Repeat, ``retry`` RetryUntilSuccessful, ``if``
    IfThenElse; skills are Action nodes whose ID is the skill's name, conditions are Condition nodes.

    Args:
        task: The task.
        source: Name of the file in error messages.
        robot: Robot without the changes of the task's robot file.

    Returns:
        The text of the XML file.

    Raises:
        ConfigError: Lists every part that a tree cannot express, with its path.
    """
    export = _Export()
    if task.robot is not None and task.robot is not robot:
        export.fault("robots", "changes the robot, which a tree cannot; start the stack with such a robot")
    name = FORBIDDEN.sub("_", task.name) or "task"
    name = f"{name}_task" if name.lower() == "root" else name
    nodes = [export.node(node, label) for node, label in zip(task.steps, task.labels, strict=True)]
    if export.faults:
        raise ConfigError(source, export.faults)
    root = Element("root", BTCPP_format="4", main_tree_to_execute=name)
    tree = ElementTree.SubElement(root, "BehaviorTree", ID=name)
    tree.append(_in_order(nodes))
    root.append(export.model())
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _in_order(nodes: Sequence[Element]) -> Element:
    """Return a Sequence of nodes; a single node as it is."""
    if len(nodes) == 1:
        return nodes[0]
    made = Element("Sequence" if nodes else "AlwaysSuccess")
    made.extend(nodes)
    return made


def _with(tag: str, children: Sequence[Element], **attributes: str) -> Element:
    made = Element(tag, attributes)
    made.extend(children)
    return made


@dataclass
class _Export:
    """The nodes that were used, by their ID with the types of their ports; and the faults."""

    ports: dict[str, dict[str, str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def fault(self, path: str, text: str) -> None:
        self.faults.append(f"{path}: {text}")

    def block(self, block: Block, label: str) -> Element:
        return _in_order([self.node(node, f"{label}.{i + 1}") for i, node in enumerate(block)])

    def node(self, node: Node, label: str) -> Element:
        match node:
            case Entry():
                return self._action(node, label)
            case TaskStep():
                return self._step(node, label)
            case Check():
                return self._condition(node.condition, label)
            case Repeat():
                return self._repeat(node, label)
            case Retry():
                body = self.block(node.body, f"{label}[n]")
                return _with("RetryUntilSuccessful", [body], num_attempts=str(node.times))
            case If():
                parts = [self.block(node.then, f"{label}.then"), self.block(node.otherwise, f"{label}.else")]
                return _with("IfThenElse", [self._condition(node.condition, label), *parts])
            case Try():
                blocks = [self.block(one, f"{label}.try{i + 1}") for i, one in enumerate(node.alternatives)]
                return _with("Fallback", blocks)
            case ForEach():
                return self._for_each(node, label)
            case Barrier():
                text = f"barrier {node.name!r} has no node; let every arm of the step have it, in one order"
                self.fault(node.path, text)
                return Element("AlwaysSuccess")

    def _step(self, step: TaskStep, label: str) -> Element:
        """Return a Parallel of the arms; barriers that all arms have divide it into several, one after the other."""
        names = [[one.name for one in block if isinstance(one, Barrier)] for block in step.arms.values()]
        if len(step.arms) == 1 or any(one != names[0] for one in names):
            return self._parallel([(block, 0) for block in step.arms.values()], label)
        lists = [_divided(block) for block in step.arms.values()]
        return _in_order([self._parallel(parts, label) for parts in zip(*lists, strict=True)])

    def _parallel(self, parts: Sequence[tuple[Block, int]], label: str) -> Element:
        made = [
            _in_order([self.node(node, f"{label}.{first + i + 1}") for i, node in enumerate(block)])
            for block, first in parts
            if block
        ]
        if len(made) < 2:
            return _in_order(made)
        return _with("Parallel", made, success_count="-1", failure_count="1")

    def _repeat(self, node: Repeat, label: str) -> Element:
        body = self.block(node.body, f"{label}[n]")
        if node.until is None:
            return _with("Repeat", [body], num_cycles=str(node.times))
        turn = _with("Fallback", [self._condition(node.until, label), body])
        loop = _with("Repeat", [turn], num_cycles=str(node.times))
        return _with("Sequence", [loop, self._condition(node.until, label)])

    def _for_each(self, node: ForEach, label: str) -> Element:
        if node.where is not None:
            text = "object_where selects objects while the task runs, which a tree cannot"
            self.fault(node.path, f"{text}; list the objects in among, without object_where")
            return Element("AlwaysSuccess")
        return _in_order([self.block(node.bind(name), f"{label}[{name}]") for name in node.among])

    def _condition(self, condition: Condition, label: str) -> Element:
        values: dict[str, Any] = {"expression": condition.text, "within_s": condition.within_s}
        return self._leaf("Condition", CONDITION, label, values, condition.path)

    def _action(self, entry: Entry, label: str) -> Element:
        given = {key: value for key, value in entry.given.items() if key != "arm"}
        return self._leaf("Action", entry.skill.name, label, {"arm": entry.arm, **given}, entry.path)

    def _leaf(self, tag: str, name: str, label: str, values: Mapping[str, Any], path: str) -> Element:
        types = self.ports.setdefault(f"{tag} {name}", {})
        made = Element(tag, {"ID": name, "name": label})
        for key, value in values.items():
            if key in RESERVED or not key[:1].isalpha() or FORBIDDEN.search(key):
                self.fault(f"{path}.{key}", "cannot be the name of a port; leave it out")
                continue
            kind, text = _port(value)
            if text.strip().startswith("{") and text.strip().endswith("}"):
                self.fault(
                    f"{path}.{key}", f"is {shown(value)}, which a tree reads as a blackboard entry; change it"
                )
            made.set(key, text)
            types[key] = kind if types.get(key, kind) == kind else _common(types[key], kind)
        return made

    def model(self) -> Element:
        """Return the model of all nodes that are not built in."""
        made = Element("TreeNodesModel")
        for name, ports in sorted(self.ports.items()):
            tag, _, node = name.partition(" ")
            one = ElementTree.SubElement(made, tag, ID=node)
            for port, kind in ports.items():
                ElementTree.SubElement(one, "input_port", name=port, type=kind)
        return made


def _divided(block: Block) -> list[tuple[Block, int]]:
    """Return the parts of a list between its barriers, each with the index of its first node."""
    cuts = [-1, *(i for i, one in enumerate(block) if isinstance(one, Barrier)), len(block)]
    return [(block[a + 1 : b], a + 1) for a, b in pairwise(cuts)]


def _port(value: Any) -> tuple[str, str]:  # noqa: ANN401 - any YAML value
    """Return type and text of a value: plain values and lists of one kind as the library reads them, others as JSON."""
    if type(value) in TYPES:
        return TYPES[type(value)], str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, list) and value:
        kinds = {type(one) for one in value}
        if kinds == {int, float}:
            kinds = {float}
        kind = next(iter(kinds))
        texts = [str(one) for one in value]
        if len(kinds) == 1 and kind in (int, float, str) and not any(";" in one for one in texts):
            return f"std::vector<{TYPES[kind]}>", ";".join(texts)
    return TYPES[str], f"json:{json.dumps(value)}"


def _common(a: str, b: str) -> str:
    """Return the type of a port that has values of two types."""
    numbers = {"int": "double", "double": "double", "std::vector<int>": "std::vector<double>"}
    numbers["std::vector<double>"] = "std::vector<double>"
    return numbers[a] if a in numbers and numbers.get(a) == numbers.get(b) else "std::string"
