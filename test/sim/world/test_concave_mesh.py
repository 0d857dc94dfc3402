"""A concave mesh is refused by name rather than filled."""

from __future__ import annotations

from pathlib import Path

import pytest

from handiwork_core.robot_files.loader import load_robot
from handiwork_core.scene.loader import load_scene
from sim_bridge.mujoco.simulation import Simulation
from support.paths import ROBOTS

ROBOT = ROBOTS / "fr3"
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
SCENE = """
name: one
objects:
  tray:
    mass: 0.2
    pose: {position: [0.5, 0.0, 0.1]}
    shapes: [{type: mesh, file: tray.obj, size: [0.1], concave: CONCAVE}]
"""


def test_a_concave_mesh_is_refused_with_its_remedy_and_its_hull_is_taken(tmp_path: Path) -> None:
    (tmp_path / "tray.obj").write_text(TETRAHEDRON)
    path, robot = tmp_path / "scene.yaml", load_robot(ROBOT)
    path.write_text(SCENE.replace("CONCAVE", "true"))
    with pytest.raises(ValueError, match=r"'tray' has a concave mesh.*convex parts"):
        Simulation(robot, load_scene(path))
    path.write_text(SCENE.replace("CONCAVE", "false"))
    Simulation(robot, load_scene(path))
