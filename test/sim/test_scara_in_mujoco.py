"""A SCARA arm, of four joints, picks and places with all defaults in the folder that ``new-robot`` writes for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from handiwork_cli.cli import main
from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.execution.run import run_skill
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from support.cells.simulated_cell import SimulatedCell
from support.paths import DATA

PATIENCE_S = 60.0
"""Steady time for one plan, s: long, so that a busy machine does not change the result."""


@pytest.mark.slow
def test_a_scara_from_its_urdf_picks_and_places(tmp_path: Path) -> None:
    folder = tmp_path / "scara"
    urdf = DATA / "robots" / "scara" / "scara.urdf"
    assert main(["new-robot", str(urdf), "--out", str(folder), "--samples", "500"]) == 0
    robot, scene = load_robot(folder), folder / "scene.yaml"
    assert robot.arm("").joint_names == ("shoulder", "elbow", "lift", "roll")
    engine = CpuEngine(robot, load_scene(scene).world_T_base, lambda _part, _what: None)
    for seed in range(3):
        context = SimulatedCell(robot, engine, scene, seed, "").context(seed)
        run = run_skill(Pick(), PickParams(object="cube", allowed_planning_time=PATIENCE_S), context)
        assert run.outcome.ok, run
        place = PlaceParams(container="bin", allowed_planning_time=PATIENCE_S)
        run = run_skill(Place(), place, replace(context, planning_time_s=0.0, refused=[]))
        assert run.outcome.ok, run
    engine.close()
