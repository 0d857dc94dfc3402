"""Frame algebra by name: in ``a_T_b @ c_T_d`` inner frames must agree, and an assignment keeps the outer ones."""

from __future__ import annotations

import ast
import re

import pytest

from support.paths import ROOT

SRC = ROOT / "src"
FRAME = r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*"
NAME = re.compile(rf"_*({FRAME})_[TR]_({FRAME})")
ANY_FRAMES = {"link", "object", "frame", "target"}
"""Fields such as ``Attachment.link_T_object`` name a role: whichever link holds whichever object."""
Ends = tuple[str, str]


def fit(a: str, b: str) -> bool:
    """Check whether two frame names can mean the same."""
    return a == b or bool(ANY_FRAMES & {a, b})


def ends(node: ast.expr, faults: list[str]) -> Ends | None:
    """Return the outer and the inner frame of an expression; None if its names do not define them."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "inverse":
        known = ends(node.func.value, faults)
        return (known[1], known[0]) if known else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        left, right = ends(node.left, faults), ends(node.right, faults)
        if left is None or right is None:
            return None
        if not fit(left[1], right[0]):
            faults.append(f"line {node.lineno}: {left[1]} meets {right[0]} in {ast.unparse(node)}")
        return left[0], right[1]
    name = getattr(node, "id", None) or getattr(node, "attr", None)
    found = NAME.fullmatch(name) if isinstance(name, str) else None
    return (found[1], found[2]) if found else None


def frame_faults(source: str) -> list[str]:
    """Return all faults of one module."""
    faults: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            wanted, given = ends(node.targets[0], faults), ends(node.value, faults)
            if wanted and given and not (fit(wanted[0], given[0]) and fit(wanted[1], given[1])):
                faults.append(f"line {node.lineno}: {ast.unparse(node)} is {given[0]}_T_{given[1]}")
        elif isinstance(node, ast.BinOp):
            ends(node, faults)
    return sorted(set(faults))


def test_all_modules_multiply_matching_frames() -> None:
    modules = sorted(SRC.rglob("*.py"))
    assert len(modules) > 20
    found = {str(p.relative_to(SRC)): frame_faults(p.read_text(encoding="utf-8")) for p in modules}
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("world_T_ee = world_T_base @ base_T_ee", 0),
        ("world_T_ee = world_T_base @ ee_T_base.inverse()", 0),
        ("x = self._world_T_hand @ hand_T_cube @ cube_T_grasp", 0),
        ("world_T_ee = world_T_base @ ee_T_base", 2),
        ("ee_T_world = world_T_base @ base_T_ee", 1),
        ("base_T_world = world_T_base", 1),
        ("x = a_R_b @ b_R_c @ d_R_e", 1),
        ("ee_T_cube = held.link_T_cube", 0),
        ("ee_T_cube = held.link_T_bin", 1),
    ],
)
def test_the_checker_finds_planted_faults(line: str, count: int) -> None:
    assert len(frame_faults(line)) == count
