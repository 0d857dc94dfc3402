"""Pick and place with the arm's base away from the world's origin, so that world and base frame differ."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import yaml

from handiwork_core.contracts.skill import Context, Token
from handiwork_core.model.geometry import Pose, Rotation
from handiwork_core.robot_files.loader import load_robot
from handiwork_planning.cpu_engine import CpuEngine
from skill_server.execution.run import run_skill
from skill_server.skills.pick_place.pick import Pick, PickParams
from skill_server.skills.pick_place.place import Place, PlaceParams
from support.cells.simulated_cell import UNSUPERVISED, SimulatedCell
from support.paths import ROOT

YAW = 0.8
WORLD_T_BASE = Pose.of((0.2, -0.1, 0.3), Rotation.from_rpy(0.0, 0.0, YAW))


def moved_scene(folder: Path) -> str:
    """Write the tabletop scene, moved by ``WORLD_T_BASE`` with its robot; return its name in the scenes' folder."""
    scenes = ROOT / "config/scenes"
    scene = yaml.safe_load((scenes / "tabletop.yaml").read_text())
    scene["robot_base"] = {"position": WORLD_T_BASE.translation_m.tolist(), "yaw": YAW}
    for item in scene["objects"].values():
        pose = item["pose"]
        pose["position"] = WORLD_T_BASE.apply(pose["position"]).tolist()
        pose["yaw"] = pose.get("yaw", 0.0) + YAW
        item.pop("randomize", None)
    (folder / "moved.yaml").write_text(yaml.safe_dump(scene))
    return os.path.relpath(folder / "moved", scenes)


def test_pick_from_a_side_of_the_base_and_place(tmp_path: Path) -> None:
    robot = load_robot(ROOT / "src/robot_description/robots/fr3")
    engine = CpuEngine(robot, WORLD_T_BASE, lambda _part, _what: None)
    try:
        cell = SimulatedCell(robot, engine, moved_scene(tmp_path), 0)
        ports = (cell, cell, cell, cell, cell)
        context = Context(robot, cell.spec, *ports, Token(), np.random.default_rng(0), 0, {})
        context.supervision = UNSUPERVISED
        run = run_skill(Pick(), PickParams(object="cube", direction_to_obj="left"), context)
        assert run.outcome.ok, run
        run = run_skill(Place(), PlaceParams(container="bin"), context)
        assert run.outcome.ok, run
    finally:
        engine.close()
