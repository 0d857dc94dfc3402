"""A backend in this process, and ``handiwork check-backend`` against it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from rclpy.parameter import Parameter

from handiwork_cli.cli import main
from handiwork_ros.node.managed_node import ManagedNode
from support.nodes.ros_stage import Stage, stage, wait_for
from support.paths import ROBOTS, ROOT

ROBOT, SCENE = ROBOTS / "fr3", ROOT / "config/scenes/tabletop.yaml"


def files() -> list[Parameter]:
    """Return the parameters that every node of a backend has."""
    return [Parameter("robot_dir", value=str(ROBOT)), Parameter("scene_file", value=str(SCENE))]


def number(name: str, value: float | str) -> Parameter:
    """Return one more parameter."""
    return Parameter(name, value=value)


@dataclass(frozen=True)
class Backend:
    """Active nodes, in which faults can be planted."""

    on: Stage
    nodes: Sequence[ManagedNode]

    def check(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
        """Return the exit code, and the findings other than a pass, by their checks."""
        capsys.readouterr()
        code = main(["check-backend", "--json", *words])
        report = json.loads(capsys.readouterr().out)
        assert report["good"] is (code == 0)
        assert report["findings"]
        return code, {row["check"]: row for row in report["findings"] if row["verdict"] != "pass"}


@contextmanager
def running(make: Callable[[Stage], Sequence[ManagedNode]]) -> Iterator[Backend]:
    """Yield active nodes until the block ends."""
    with stage() as on:
        nodes = make(on)
        for node in nodes:
            on.add(node)
        try:
            wait_for(lambda: all(node.is_active for node in nodes), 60.0)
            yield Backend(on, nodes)
        finally:
            on.end(*nodes)
