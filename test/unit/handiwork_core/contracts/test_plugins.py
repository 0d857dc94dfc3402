"""One loader of plug-ins, with the policy for broken ones as an argument."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from handiwork_core.contracts.plugins import collect
from handiwork_planning.cpu_engine import CpuEngine

ENGINE = "handiwork_planning.cpu_engine:CpuEngine"


def points(*values: str) -> list[EntryPoint]:
    return [EntryPoint(f"point{i}", value, "handiwork.engines") for i, value in enumerate(values)]


def test_a_broken_entry_point_is_raised_by_default() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        collect((), "handiwork.engines", points=points("no_such_package:X", ENGINE))
    with pytest.raises(ValueError, match=f"the name '{CpuEngine.name}' .* is taken by .*; rename one"):
        collect((CpuEngine,), "handiwork.engines", points=points(ENGINE))


def test_a_policy_may_leave_broken_entry_points_out() -> None:
    left_out: dict[str, Exception] = {}
    found = collect(
        (),
        "handiwork.engines",
        on_failure=lambda point, error: left_out.update({point.name: error}),
        points=points("no_such_package:X", ENGINE, ENGINE),
    )
    assert found == {CpuEngine.name: CpuEngine}
    assert {name: type(error) for name, error in left_out.items()} == {
        "point0": ModuleNotFoundError,
        "point2": ValueError,
    }


def test_objects_may_be_made_of_what_an_entry_point_loads() -> None:
    found = collect((), "handiwork.engines", make=_named, points=points(ENGINE))
    assert isinstance(found[CpuEngine.name], _Named)


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name


def _named(kind: type[CpuEngine]) -> _Named:
    return _Named(kind.name)
