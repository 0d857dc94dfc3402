"""No node takes a private name of ``ManagedNode``: an override of its timers would end its status silently."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from support.paths import ROOT

SRC = ROOT / "src"
BASE = SRC / "handiwork_ros/handiwork_ros/node/managed_node.py"


def classes(path: Path) -> list[ast.ClassDef]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)]


def private_names(of: ast.ClassDef) -> set[str]:
    """Return the private methods and attributes that a class defines."""
    methods = {node.name for node in of.body if isinstance(node, ast.FunctionDef)}
    stored = {
        node.attr
        for node in ast.walk(of)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
    return {name for name in methods | stored if name.startswith("_") and not name.startswith("__")}


def is_managed(of: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and base.id == "ManagedNode" for base in of.bases)


NODES = {
    found.name: found
    for path in sorted(SRC.rglob("*.py"))
    if "ManagedNode" in path.read_text()
    for found in classes(path)
    if is_managed(found)
}


@pytest.mark.parametrize("name", NODES)
def test_a_node_keeps_to_names_of_its_own(name: str) -> None:
    base = next(found for found in classes(BASE) if found.name == "ManagedNode")
    assert not private_names(base) & private_names(NODES[name])


def test_the_nodes_were_found() -> None:
    assert {"ConditionalsNode", "SkillServer", "SimBridge", "PlannerNode"} <= set(NODES)
