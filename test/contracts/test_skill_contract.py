"""The worked example of docs/how-to/add-a-skill.md keeps the contract, which finds a push that names no object."""

from __future__ import annotations

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from handiwork import Pose, Shape, ShapeKind, WorldObject, run_skill
from handiwork.testing import Cell, Fakes, SkillContract, fakes
from handiwork_core.testing.gantry import gantry_pose
from support.paths import ROOT

PAGE = (ROOT / "docs/how-to/add-a-skill.md").read_text(encoding="utf-8")
(CODE,) = [text for text in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "class Push(" in text]
EDGE_M = 0.045
START_X_M = 0.4


def module_of(code: str, folder: Path, name: str) -> ModuleType:
    """Import code as a module of its own."""
    file = folder / f"{name}.py"
    file.write_text(code, encoding="utf-8")
    spec = spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pushed(seed: int = 0) -> Fakes:
    """Return a cell whose cube moves with the hand, once the hand has reached it."""
    cube = WorldObject("cube", (Shape(ShapeKind.BOX, np.full(3, EDGE_M), Pose.identity()),))
    made = fakes(Cell({"cube": cube}, {"cube": Pose.of((START_X_M, 0.1, 0.3))}, {"cube": EDGE_M}), seed)

    def follow(_time_s: float) -> None:
        hand = gantry_pose(made.cell.q).translation_m
        x, y, z = made.cell.poses["cube"].translation_m
        if abs(hand[1] - y) < EDGE_M / 2.0 and abs(hand[2] - z) < EDGE_M / 2.0 and 0.0 < hand[0] - x < EDGE_M:
            made.cell.poses["cube"] = Pose.of((hand[0], y, z))

    made.arm.on_tick = follow
    return made


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The code of the page."""
    return module_of(CODE, tmp_path_factory.mktemp("example"), "example_of_a_push")


class TestPushContract(SkillContract[Any]):
    """Runs every test of the contract."""

    run = staticmethod(run_skill)

    @pytest.fixture(autouse=True)
    def _take(self, example: ModuleType) -> None:
        self._example = example

    def skill(self) -> Any:
        return self._example.Push()

    def params(self) -> Any:
        return self._example.PushParams(object="cube")

    def unknown(self) -> Any:
        return self._example.PushParams(object="cub")

    def fakes(self, seed: int = 0) -> Fakes:
        return pushed(seed)


def test_a_push_that_does_not_name_its_object_breaks_the_contract(tmp_path: Path) -> None:
    assert "touching=touched" in CODE
    broken = module_of(CODE.replace("touching=touched", "touching=frozenset()"), tmp_path, "push_of_nothing")

    class Contract(TestPushContract):
        def skill(self) -> Any:
            return broken.Push()

        def params(self) -> Any:
            return broken.PushParams(object="cube")

    with pytest.raises(AssertionError, match=r"'cube'; name it in Command\.touching"):
        Contract().test_no_motion_touches_what_its_scene_does_not_allow()
