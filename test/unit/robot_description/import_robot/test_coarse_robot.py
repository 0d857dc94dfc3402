"""A robot is usable with coarse spheres before its finer ones are fitted, and stays so if those are not awaited."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from handiwork_cli.cli import main
from handiwork_cli.processes.interrupts import INTERRUPTED
from handiwork_core.contracts.planning import PlanRequest, PoseGoals, SceneQuery
from handiwork_core.model.geometry import Pose
from handiwork_core.model.outcome import Code
from handiwork_core.robot.kinematics import forward
from handiwork_core.robot_files.loader import load_robot
from planner_node.engines import CpuEngine
from robot_description.import_robot.output_files.robot_text import COARSE_LINE
from support.paths import DATA

pytestmark = pytest.mark.slow

URDF = DATA / "robots" / "bench_arm" / "bench_arm.urdf"
HAND = {"palm", "left_finger", "right_finger"}


class InterruptedTerminal(io.StringIO):
    """A terminal whose user presses Ctrl-C as soon as the robot can be used."""

    def write(self, text: str, /) -> int:
        if "use it now" in text:
            raise KeyboardInterrupt
        return super().write(text)


def test_an_interrupted_refinement_leaves_a_robot_that_plans_and_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "bench_arm"
    command = ["new-robot", str(URDF), "--out", str(out), "--samples", "500"]
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", InterruptedTerminal())
        assert main(command) == INTERRUPTED
    assert [path.name for path in tmp_path.iterdir()] == ["bench_arm"]
    coarse = load_robot(out)
    assert COARSE_LINE in (out / "spheres.yaml").read_text(encoding="utf-8")
    engine = CpuEngine(coarse, Pose.identity(), lambda _share, _text: None)
    home = np.array(coarse.arm("").home_q)
    goal = forward(coarse, "", home + (0.8, -0.3, 0.4, 0.2, -0.2, 0.3))
    planned = engine.plan(PlanRequest("", home, PoseGoals((goal,)), SceneQuery()), lambda: False)
    engine.close()
    assert planned.code is Code.OK, planned.message

    assert main(command) == 2
    assert "--refine for coarse spheres" in capsys.readouterr().err
    assert main([*command, "--refine"]) == 0
    fine = load_robot(out)
    assert COARSE_LINE not in (out / "spheres.yaml").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["bench_arm"]
    before, after = ({item.link: item for item in robot.spheres} for robot in (coarse, fine))
    assert before.keys() == after.keys()
    arm = before.keys() - HAND
    assert sum(len(before[link].radii) for link in arm) < 0.7 * sum(len(after[link].radii) for link in arm)
    assert all(np.array_equal(before[link].radii, after[link].radii) for link in HAND)

    capsys.readouterr()
    assert main([*command, "--refine"]) == 2
    assert "has no coarse spheres; nothing is left to do" in capsys.readouterr().err
    assert main([*command[:3], str(tmp_path / "away"), "--refine"]) == 2
    assert "is no folder of this command" in capsys.readouterr().err
